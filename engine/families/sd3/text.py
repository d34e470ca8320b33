"""Prompts for a denoiser that attends to the states of two CLIP encoders and of T5.

CLIP's states stand side by side, filled with zeros to the width of T5's, which follow as further
tokens. Without T5, diffusers (`pipeline_stable_diffusion_3.py`), InvokeAI and Forge have zeros in
their place, ComfyUI (`comfy/text_encoders/sd3_clip.py`) nothing. ComfyUI and Forge pool CLIP
ViT-L's states as they are; the others project them where the file has a projection.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from backends.base import Array
from engine.api.conventions import Convention
from engine.api.prompt_rules import LengthMatching
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName
from engine.compile.network import Network
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.architecture import Conditioning, Texts
from engine.families.checkpoint import TEXT_ENCODERS, Component, IdentifiedCheckpoint
from engine.families.running import EncoderRunner
from engine.families.shared.clip.text_encoding import ClipText
from engine.families.shared.clip.text_use import TextUse
from engine.families.shared.prompts.conditioning import PromptConditioning
from engine.families.shared.prompts.prompt_embeddings import PromptEmbeddings, same_arrays
from engine.families.shared.t5.clip_and_t5 import ClipNames
from engine.families.shared.t5.text_encoding import T5Text, T5TextPlan
from engine.graphs.clip_text import ClipTextConfig
from engine.text.whole_rows import LEAST_POSITIONS, cuts_rows, whole_texts

# The positions of T5 that the denoiser was trained with, and the least of a row in ComfyUI.
POSITIONS, _COMFY_LEAST = 256, 77
CLIP_SKIP = 2
_L, _G, _T5 = TEXT_ENCODERS


def _clip_use(*pooling: Component) -> TextUse:
    return TextUse(
        clip_skip=CLIP_SKIP,
        final_norm=False,
        pools_states=frozenset(pooling),
        zero_padded=frozenset({_G}),
        zeroes_empty=frozenset({ConventionName.A1111}),
    )


class Sd3Text:
    """A `TextEncoding` of two CLIP encoders and, where the checkpoint has it, T5.

    Prompts of unequal length, which ComfyUI runs one by one, are filled to one length as each tool
    fills shorter ones: CLIP's with chunks of the empty prompt, T5's with its padding.
    """

    def __init__(self, checkpoint: IdentifiedCheckpoint, context_width: int) -> None:
        """Create the encoding; `context_width` is the width of the denoiser's context."""
        self._checkpoint = checkpoint
        self._width = context_width
        self._plain, self._projecting = (
            ClipText(checkpoint, _clip_use(*pooling)) for pooling in ((_L,), ())
        )
        first = checkpoint.components.get(_L)
        config = first.config if first else None
        self._projects = isinstance(config, ClipTextConfig) and config.projection is not None
        self._t5 = T5Text(checkpoint, _T5, POSITIONS)

    @property
    def components(self) -> tuple[Component, ...]:
        """The checkpoint's text encoders, in the order they run."""
        return tuple(
            component for component in TEXT_ENCODERS if component in self._checkpoint.components
        )

    def read(
        self,
        requests: Sequence[ResolvedRequest],
        embeddings: Embeddings = NO_EMBEDDINGS,
        drawn: int | None = None,
    ) -> "Sd3TextPlan":
        """Tokenize the prompts, and read the embeddings that they name, which are CLIP's.

        Raises EngineError(REQUEST_INVALID).
        """
        own = [
            msgspec.structs.replace(request, convention=_convention(request.convention))
            for request in requests
        ]
        convention = own[0].convention
        projects = self._projects and cuts_rows(convention)
        clip = self._projecting if projects else self._plain
        least = _COMFY_LEAST if convention.name is ConventionName.COMFY else LEAST_POSITIONS
        has_t5 = _T5 in self._checkpoint.components
        return Sd3TextPlan(
            clip.read(own, embeddings, drawn),
            self._t5.read(own, drawn, least=least) if has_t5 else None,
            0 if convention.name is ConventionName.COMFY else POSITIONS,
            self._width,
        )


def _convention(convention: Convention) -> Convention:
    return msgspec.structs.replace(
        whole_texts(convention), length_matching=LengthMatching.EMPTY_CHUNKS
    )


class Sd3TextPlan(ClipNames, frozen=True, eq=False):
    """A `TextPlan`; `blank` is the number of zeros in place of T5's states where `t5` is None."""

    t5: T5TextPlan | None
    blank: int
    width: int

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks of the text encoders that `encode` runs, in that order."""
        return (*self.clip.networks, *([self.t5.network] if self.t5 else ()))

    def shape(self, texts: Texts, *, guided: bool) -> tuple[int, int]:
        """Return the number of contexts of a pair of prompts, and the positions of each."""
        contexts, tokens = self.clip.shape(texts, guided=guided)
        more = self.t5.prompts[texts].shape(guided=guided)[1] if self.t5 else self.blank
        return contexts, tokens + more

    def encode(self, runner: EncoderRunner) -> dict[Texts, Conditioning]:
        """Encode each pair of prompts with each encoder."""
        clip = self.clip.encode_each(runner)
        t5 = self.t5.encode(runner) if self.t5 else {}
        return {
            texts: Sd3Context(
                PromptConditioning(found),
                self._states(texts, t5[texts]) if self.t5 else None,
                self.blank,
                self.width,
            )
            for texts, found in clip.items()
        }

    def _states(self, texts: Texts, states: PromptEmbeddings) -> PromptEmbeddings:
        """Return T5's states, zeros for an empty negative prompt where CLIP's are."""
        return states.without_negative() if self.clip.zeroes_negative(texts) else states


@dataclass(slots=True, eq=False)
class Sd3Context:
    """A `Conditioning` of CLIP's states, T5's after them, and CLIP's pooled texts."""

    clip: PromptConditioning
    t5: PromptEmbeddings | None
    blank: int
    width: int
    # What the last inputs were made of, by identity: held, so that no other array takes its place.
    _made_of: Sequence[Array | None] = field(default=(), init=False)
    _inputs: Mapping[str, Array] = field(default_factory=dict[str, Array], init=False)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each positive prompt."""
        return self.clip.weights

    def inputs(
        self, evaluation: int, request: ResolvedRequest, *, guided: bool
    ) -> Mapping[str, Array]:
        """Return `context` [contexts, positions, width] and `pooled` [contexts, width], float32."""
        clip = self.clip.context(evaluation, guided=guided)
        states = self.t5.at(evaluation, guided=guided) if self.t5 else None
        made_of = clip, states
        pooled = [encoder.pooled_at(evaluation, guided=guided) for encoder in self.clip.encoders]
        whole = np.concatenate([array for array in pooled if array is not None], axis=1)
        if not same_arrays(self._made_of, made_of) or (self._inputs["pooled"] != whole).any():
            self._inputs = {"context": self._joined(clip, states), "pooled": whole}
            self._made_of = made_of
        return self._inputs

    def _joined(self, clip: Array, states: Array | None) -> Array:
        wide = np.pad(clip, ((0, 0), (0, 0), (0, self.width - clip.shape[2])))
        if states is None:
            states = np.zeros((len(clip), self.blank, self.width), np.float32)
        return np.concatenate([wide, states], axis=1)
