"""Prompts for a denoiser that attends to T5's states alone, with padding masked.

In ComfyUI (`comfy/text_encoders/pixart_t5.py`) and Forge (`backend/diffusion_engine/chroma.py`)
rows have no padding, and prompts of unequal length are run one by one. Here they are run together:
the shorter one is padded, and no token attends to its padding. diffusers
(`pipelines/chroma/pipeline_chroma.py`) pads to 512 positions, which T5 masks. Its mask for the
transformer keeps one position of padding and is a number that is added to the scores: 1 between
positions that it keeps, 0 elsewhere. So padding is attended to less, not left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Session
from engine.api.methods import SAMPLER_FACTS
from engine.api.prompt_rules import Emphasis
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorInfo
from engine.compile.network import Network
from engine.embeddings.embedding import Embedding
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.architecture import Conditioning, Texts, distinct_texts
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.running import EncoderRunner
from engine.families.shared.component_network import config_of
from engine.families.shared.prompts.prompt_embeddings import (
    EncoderOutput,
    PromptEmbeddings,
    RunEncoder,
    encode,
    first_problem,
    same_arrays,
)
from engine.families.shared.prompts.prompt_tokens import (
    AttentionMask,
    Insertions,
    PromptTokens,
    TokenIds,
    plan_rows,
)
from engine.families.shared.t5.network import t5_network
from engine.graphs.t5 import T5Config, position_buckets
from engine.text.reading import PromptReading, read_prompts
from engine.text.tags import NetworkTag
from engine.text.whole_rows import cuts_rows, rows_for, whole_texts

# Added to the score of a position that nothing attends to; finite also in float16.
_MASKED = -3e4
# What diffusers' mask of 1 and 0 adds, less 1: the softmax of a query is the same.
_MASKED_BY_DIFFUSERS = -1.0
_END = 1
# Texts are padded to a multiple of so many positions, so that few lengths are compiled.
_STEP = 64
# Pixels along the side of a token.
_SIDE = 16


@dataclass(frozen=True, slots=True, eq=False)
class MaskedT5Text:
    """A `TextEncoding` of T5; `positions` is the number that the denoiser was trained with."""

    checkpoint: IdentifiedCheckpoint
    positions: int
    # Networks are kept, so that a loaded network is recognised by identity.
    _networks: list[Network] = field(default_factory=list[Network], init=False)

    @property
    def components(self) -> tuple[Component, ...]:
        """The checkpoint's text encoder."""
        component = Component.TEXT_ENCODER
        return (component,) if component in self.checkpoint.components else ()

    @property
    def network(self) -> Network:
        """The encoder's network."""
        if not self._networks:
            network = t5_network(
                self.checkpoint, Component.TEXT_ENCODER, self.positions, least=1, masked=True
            )
            self._networks.append(network)
        return self._networks[0]

    def read(
        self,
        requests: Sequence[ResolvedRequest],
        embeddings: Embeddings = NO_EMBEDDINGS,
        drawn: int | None = None,
    ) -> "MaskedT5Plan":
        """Tokenize the prompts of requests, each side in rows of its own length.

        Raises EngineError(REQUEST_INVALID).
        """
        first = requests[0]
        request = msgspec.structs.replace(first, convention=whole_texts(first.convention))
        convention, guided = request.convention, request.guidance != 1
        times = request.steps * SAMPLER_FACTS[request.sampler].evaluations
        prompts = {
            texts: tuple(
                self._laid_out(reading, request)
                for reading in read_prompts(texts, convention, times, guided=guided, drawn=drawn)
                if reading is not None
            )
            for texts in distinct_texts(requests)
        }
        return MaskedT5Plan(self, prompts, cuts_rows(request.convention))

    def _laid_out(self, reading: PromptReading, request: ResolvedRequest) -> PromptTokens:
        rows = rows_for([reading], request.convention, self.positions, least=1)
        # PixArt's empty prompt, by which ComfyUI reads Chroma's, is padding alone.
        layout = msgspec.structs.replace(rows, ends_empty=False)
        return plan_rows(reading, None, layout, request.convention, wants_empty=False)


class MaskedT5Plan(msgspec.Struct, frozen=True, eq=False):
    """A `TextPlan`: the tokens of each pair's prompt and, where one acts, negative prompt.

    `keeps_padding` is True for diffusers' mask.
    """

    encoding: MaskedT5Text
    prompts: Mapping[Texts, tuple[PromptTokens, ...]]
    keeps_padding: bool

    @property
    def tags(self) -> tuple[NetworkTag, ...]:
        """The extra networks, such as LoRAs, that the prompts name, without duplicates."""
        return tuple(dict.fromkeys(tag for sides in self.prompts.values() for tag in sides[0].tags))

    @property
    def warnings(self) -> tuple[ErrorInfo, ...]:
        """No warning: T5 knows no embeddings."""
        return ()

    def embeddings(self, texts: Texts) -> Mapping[str, Embedding]:
        """Return no embeddings."""
        return {}

    @property
    def networks(self) -> tuple[Network, ...]:
        """The network of the encoder."""
        return (self.encoding.network,)

    def shape(self, texts: Texts, *, guided: bool) -> tuple[int, int]:
        """Return the number of contexts of a pair of prompts, and the positions of each."""
        sides = self.prompts[texts]
        return len(sides[0].positives) + guided, _padded(side.rows.shape[1] for side in sides)

    def encode(self, runner: EncoderRunner) -> dict[Texts, Conditioning]:
        """Encode each pair of prompts. Raises EngineError as `EncoderRunner.encode` does."""
        checkpoint = self.encoding.checkpoint
        buckets = config_of(checkpoint, Component.TEXT_ENCODER, T5Config).buckets

        def work(session: Session) -> dict[tuple[str, str, int], PromptEmbeddings]:
            def run_encoder(
                ids: TokenIds, _mask: AttentionMask | None, _places: Insertions | None
            ) -> EncoderOutput:
                bias = np.where(_attention_mask(ids), np.float32(0), np.float32(_MASKED))
                feeds = {
                    "tokens": ids,
                    "buckets": position_buckets(ids.shape[1], buckets),
                    "key_bias": bias[:, np.newaxis, np.newaxis],
                }
                return EncoderOutput(runner.call(session, feeds)["last_hidden_state"])

            return {
                (*texts, number): encode(side, run_encoder, rows_at_once=1, weighs_apart=True)
                for texts, sides in self.prompts.items()
                for number, side in enumerate(sides)
            }

        states = runner.encode(self.encoding.network, work, first_problem)
        return {
            texts: MaskedContext(
                tuple(
                    _Side(states[(*texts, number)], self._mask(side))
                    for number, side in enumerate(sides)
                ),
                self.keeps_padding,
            )
            for texts, sides in self.prompts.items()
        }

    def _mask(self, side: PromptTokens) -> PromptEmbeddings:
        """Return the attention mask of a prompt: embeddings of one number, 1 or 0, a position."""
        more = int(self.keeps_padding)

        def run(ids: TokenIds, _m: AttentionMask | None, _p: Insertions | None) -> EncoderOutput:
            mask = _attention_mask(ids, more)
            return EncoderOutput(mask[..., np.newaxis].astype(np.float32))

        plain = msgspec.structs.replace(side.convention, emphasis=Emphasis.NONE)
        encoder: RunEncoder = run
        return encode(msgspec.structs.replace(side, convention=plain), encoder)


class _Side(msgspec.Struct, frozen=True, eq=False):
    """The states of a prompt, and their attention mask."""

    states: PromptEmbeddings
    mask: PromptEmbeddings


@dataclass(slots=True, eq=False)
class MaskedContext:
    """A `Conditioning` of T5's states, with what is added to the scores of attention."""

    sides: tuple[_Side, ...]
    keeps_padding: bool
    # What the last inputs were made of, by identity: held, so that no other array takes its place.
    _made_of: tuple[int, Sequence[Array]] = field(default=(0, ()), init=False)
    _inputs: Mapping[str, Array] = field(default_factory=dict[str, Array], init=False)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each positive prompt."""
        return self.sides[0].states.weights

    def inputs(
        self, evaluation: int, request: ResolvedRequest, *, guided: bool
    ) -> Mapping[str, Array]:
        """Return `context` [contexts, positions, width], `key_bias` and `query_share`, float32.

        `engine.graphs.chroma` has their shapes.
        """
        sides = (self.sides[0], self.sides[-1]) if guided else self.sides[:1]
        states = [side.states.at(evaluation, guided=False) for side in sides]
        patches = (request.height // _SIDE) * (request.width // _SIDE)
        if self._made_of[0] != patches or not same_arrays(self._made_of[1], states):
            masks = [side.mask.at(evaluation, guided=False)[..., 0] for side in sides]
            self._inputs = self._made(states, masks, patches)
            self._made_of = patches, states
        return self._inputs

    def _made(
        self, states: Sequence[Array], masks: Sequence[Array], patches: int
    ) -> Mapping[str, Array]:
        total = _padded(rows.shape[1] for rows in states)
        shares = np.concatenate([_filled(mask, total) for mask in masks])
        picture = np.ones((len(shares), patches), np.float32)
        whole = np.concatenate([shares, picture], axis=1)
        keys = np.where(whole > 0, 0, _MASKED_BY_DIFFUSERS if self.keeps_padding else _MASKED)
        queries = whole if self.keeps_padding else np.ones_like(whole)
        return {
            "context": np.concatenate([_filled(rows, total) for rows in states]),
            "key_bias": keys.astype(np.float32)[:, np.newaxis, np.newaxis],
            "query_share": queries[:, np.newaxis, :, np.newaxis],
        }


def _filled(rows: Array, total: int) -> Array:
    """Return rows [n, positions, ...] with zeros up to `total` positions."""
    padding = [(0, 0), (0, total - rows.shape[1]), *[(0, 0)] * (rows.ndim - 2)]
    return np.pad(rows, padding)


def _padded(lengths: Iterable[int]) -> int:
    """Return the positions to which rows of these lengths are padded."""
    return -(-max(lengths) // _STEP) * _STEP


def _attention_mask(ids: TokenIds, more: int = 0) -> NDArray[np.bool_]:
    """Return True up to a row's end, and for `more` positions; everywhere in a row without one.

    A text may name the token of the end, so that the last one counts.
    """
    is_end = ids == _END
    places = np.arange(ids.shape[1], dtype=np.int64)
    ends: NDArray[np.int64] = np.where(is_end, places, 0).max(axis=1)
    ends[~is_end.any(axis=1)] = ids.shape[1]
    return np.less_equal(places, ends[:, np.newaxis] + more)
