"""Prompts for a denoiser that attends to T5's states and takes CLIP's pooled text beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from backends.base import Array
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorInfo
from engine.compile.network import Network
from engine.embeddings.embedding import Embedding
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.architecture import Conditioning, Texts
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.running import EncoderRunner
from engine.families.shared.clip.text_encoding import ClipText, ClipTextPlan
from engine.families.shared.clip.text_use import TextUse
from engine.families.shared.prompts.conditioning import PromptConditioning
from engine.families.shared.prompts.prompt_embeddings import PromptEmbeddings
from engine.families.shared.t5.text_encoding import T5Text, T5TextPlan
from engine.text.tags import NetworkTag
from engine.text.whole_rows import whole_texts

_POOLED = TextUse(final_norm=True, pools_states=frozenset({Component.TEXT_ENCODER}))


class ClipAndT5Text:
    """A `TextEncoding` of CLIP, whose first chunk is pooled, and T5, whose states are the context.

    A convention's grammar is read for both; T5's lengths are in `engine.text.whole_rows`.
    """

    def __init__(
        self, checkpoint: IdentifiedCheckpoint, *, positions: int, embeds_guidance: bool
    ) -> None:
        """Create the encoding; `positions` and `embeds_guidance` are those of `T5Text`."""
        self._checkpoint = checkpoint
        self._clip = ClipText(checkpoint, _POOLED)
        self._t5 = T5Text(checkpoint, Component.TEXT_ENCODER_2, positions, embeds_guidance)

    @property
    def components(self) -> tuple[Component, ...]:
        """The checkpoint's text encoders, in the order they run."""
        both = (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2)
        return tuple(component for component in both if component in self._checkpoint.components)

    def read(
        self,
        requests: Sequence[ResolvedRequest],
        embeddings: Embeddings = NO_EMBEDDINGS,
        drawn: int | None = None,
    ) -> "ClipAndT5Plan":
        """Tokenize the prompts, and read the embeddings that they name, which are CLIP's.

        Raises EngineError(REQUEST_INVALID).
        """
        own = [
            msgspec.structs.replace(request, convention=whole_texts(request.convention))
            for request in requests
        ]
        return ClipAndT5Plan(self._clip.read(own, embeddings, drawn), self._t5.read(own, drawn))


class ClipNames(msgspec.Struct, frozen=True, eq=False):
    """The part of a `TextPlan` that names networks and embeddings, which CLIP alone reads."""

    clip: ClipTextPlan

    @property
    def tags(self) -> tuple[NetworkTag, ...]:
        """The extra networks, such as LoRAs, that the prompts name, without duplicates."""
        return self.clip.tags

    @property
    def warnings(self) -> tuple[ErrorInfo, ...]:
        """Warnings about embeddings that the prompts name, without duplicates."""
        return self.clip.warnings

    def embeddings(self, texts: Texts) -> Mapping[str, Embedding]:
        """Return the embeddings that a pair of prompts uses, by the names they are called."""
        return self.clip.embeddings(texts)


class ClipAndT5Plan(ClipNames, frozen=True, eq=False):
    """A `TextPlan` for CLIP and T5."""

    t5: T5TextPlan

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks of the text encoders that `encode` runs, in that order."""
        return (*self.clip.networks, self.t5.network)

    def shape(self, texts: Texts, *, guided: bool) -> tuple[int, int]:
        """Return the number of contexts of a pair of prompts, and T5's positions."""
        return self.t5.prompts[texts].shape(guided=guided)

    def encode(self, runner: EncoderRunner) -> dict[Texts, Conditioning]:
        """Encode each pair of prompts with CLIP, then with T5."""
        pooled = self.clip.encode_each(runner)
        states = self.t5.encode(runner)
        return {
            texts: PooledBesideContext(PromptConditioning((states[texts],)), pooled[texts][0])
            for texts in states
        }


@dataclass(slots=True, eq=False)
class PooledBesideContext:
    """A `Conditioning` from the states of one encoder and the pooled text of another."""

    states: PromptConditioning
    pooled: PromptEmbeddings
    _inputs: tuple[object, Mapping[str, Array]] | None = field(default=None, init=False)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each positive prompt."""
        return self.states.weights

    def inputs(
        self, evaluation: int, request: ResolvedRequest, *, guided: bool
    ) -> Mapping[str, Array]:
        """Return `context` [contexts, positions, width] and `pooled` [contexts, width], float32."""
        context = self.states.context(evaluation, guided=guided)
        pooled = self.pooled.pooled_at(evaluation, guided=guided)
        assert pooled is not None, "the encoder pools its states"
        known = self._inputs
        if known is None or known[0] is not context or (known[1]["pooled"] != pooled).any():
            known = self._inputs = (context, {"context": context, "pooled": pooled})
        return known[1]
