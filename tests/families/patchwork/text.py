"""Patchwork's reading of a prompt: byte by byte, at most 40 of them, the rest is cut off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Session
from engine import result_checks
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorInfo
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.embeddings.embedding import Embedding
from engine.embeddings.library import NO_EMBEDDINGS
from engine.embeddings.library import Embeddings as Known
from engine.families.architecture import Conditioning, Texts, texts_of
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.running import EncoderRunner
from engine.families.shared.component_network import component_network, config_of
from engine.text.counting import TokenCount
from engine.text.tags import NetworkTag
from tests.families.patchwork.networks import TextConfig, text_encoder

# Padding is 0.
VOCABULARY = 257


def token_ids(text: str, tokens: int) -> NDArray[np.int64]:
    """The bytes of a text, each plus 1, padded with 0: int64 [1, tokens]."""
    ids = np.zeros((1, tokens), np.int64)
    found = list(text.encode())[:tokens]
    ids[0, : len(found)] = np.array(found, np.int64) + 1
    return ids


def count_bytes(text: str, tokens: int) -> TokenCount:
    """The bytes of a text, and the first character that is not read whole in so many tokens."""
    found = text.encode()
    cut_at = len(found[:tokens].decode(errors="ignore")) if len(found) > tokens else None
    return TokenCount(len(found), tokens, cut_at)


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """A `Conditioning` of one prompt that stays the same in the whole run."""

    context: Mapping[str, Array]
    weights: tuple[float, ...] = (1.0,)

    def inputs(
        self, evaluation: int, request: ResolvedRequest, *, guided: bool
    ) -> Mapping[str, Array]:
        """The embeddings, float32 [1, tokens, width]."""
        return self.context


@dataclass(frozen=True, slots=True, eq=False)
class TextPlan:
    """Prompts as token ids."""

    network: Network
    tokens: int
    prompts: Mapping[Texts, NDArray[np.int64]]
    tags: tuple[NetworkTag, ...] = ()
    warnings: tuple[ErrorInfo, ...] = ()

    def embeddings(self, texts: Texts) -> Mapping[str, Embedding]:
        """No embedding: bytes have no room for other vectors."""
        return {}

    @property
    def networks(self) -> tuple[Network, ...]:
        """The one text encoder."""
        return (self.network,)

    def shape(self, texts: Texts, *, guided: bool) -> tuple[int, int]:
        """One context of all tokens."""
        return 1, self.tokens

    def encode(self, runner: EncoderRunner) -> dict[Texts, Conditioning]:
        """Each prompt through the text encoder."""

        def work(session: Session) -> dict[Texts, Array]:
            return {
                texts: runner.call(
                    session, {"tokens": ids, "attention_mask": (ids > 0).astype(np.float32)}
                )["embeddings"]
                for texts, ids in self.prompts.items()
            }

        found = runner.encode(self.network, work, _problem)
        return {texts: Embeddings({"context": states}) for texts, states in found.items()}


@dataclass(frozen=True, slots=True, eq=False)
class ByteText:
    """A `TextEncoding` of bytes."""

    checkpoint: IdentifiedCheckpoint
    _network: list[Network] = field(default_factory=list[Network], init=False)

    @property
    def components(self) -> tuple[Component, ...]:
        """The one text encoder."""
        return (Component.TEXT_ENCODER,)

    def read(
        self,
        requests: Sequence[ResolvedRequest],
        embeddings: Known = NO_EMBEDDINGS,
        drawn: int | None = None,
    ) -> TextPlan:
        """Tokenize the prompts; there is nothing to refuse."""
        config = config_of(self.checkpoint, Component.TEXT_ENCODER, TextConfig)
        texts = dict.fromkeys(map(texts_of, requests))
        prompts = {text: token_ids(text[0], config.tokens) for text in texts}
        return TextPlan(self._encoder(config), config.tokens, prompts)

    def _encoder(self, config: TextConfig) -> Network:
        # The same object each time, so that what is loaded is known again.
        if not self._network:
            self._network.append(
                component_network(
                    self.checkpoint,
                    Component.TEXT_ENCODER,
                    "text_encoder",
                    lambda g: text_encoder(g, config),
                    {"batch": offered(1, 1, 1)},
                )
            )
        return self._network[0]


def _problem(found: dict[Texts, Array]) -> str | None:
    return next(filter(None, map(result_checks.numbers, found.values())), None)
