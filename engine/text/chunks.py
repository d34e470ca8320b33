"""Chunks of 75 tokens, as AUTOMATIC1111 cuts a prompt of any length for CLIP's 77 positions.

Follows `modules/sd_hijack_clip.py`: `BREAK` fills a chunk up, and a chunk that would end within 20
tokens after a comma ends at the comma.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.text.prompt import PromptPart, WeightedText
from engine.text.tokenizers import ClipTokenizer

# Tokens of a prompt in a chunk, and positions with the start and end tokens.
CHUNK_TOKENS = 75
CHUNK_LENGTH = CHUNK_TOKENS + 2
# How far back the nearest comma may be for a full chunk to end there.
_COMMA_BACKTRACK = 20


@dataclass(frozen=True, slots=True, eq=False)
class TokenChunks:
    """A prompt as CLIP reads it.

    `ids` is int64 [chunks, 77], each row start, 75 tokens and padding, end; `weights` is float32
    [chunks, 77], 1 where there is no word. `used` counts the tokens of the prompt, with what BREAK
    and commas left empty.
    """

    ids: NDArray[np.int64]
    weights: NDArray[np.float32]
    used: int

    @property
    def count(self) -> int:
        """The number of chunks, at least one."""
        return self.ids.shape[0]

    @property
    def capacity(self) -> int:
        """How many tokens fit before another chunk is needed."""
        return self.count * CHUNK_TOKENS


@dataclass(slots=True)
class _Filling:
    """Finished chunks and the one being filled; `comma` is where its last comma is, or -1."""

    chunks: list[tuple[list[int], list[float]]] = field(
        default_factory=list[tuple[list[int], list[float]]]
    )
    ids: list[int] = field(default_factory=list[int])
    weights: list[float] = field(default_factory=list[float])
    comma: int = -1

    def end_chunk(self, length: int = CHUNK_TOKENS) -> None:
        """Finish the chunk after `length` tokens; the rest starts the next one."""
        self.chunks.append((self.ids[:length], self.weights[:length]))
        self.ids = self.ids[length:]
        self.weights = self.weights[length:]
        self.comma = -1

    def add(self, token: int, weight: float, comma_id: int | None) -> None:
        full = len(self.ids) == CHUNK_TOKENS
        if token == comma_id:
            self.comma = len(self.ids)
        elif full and self.comma >= 0 and CHUNK_TOKENS - self.comma <= _COMMA_BACKTRACK:
            self.end_chunk(self.comma + 1)
        if len(self.ids) == CHUNK_TOKENS:
            self.end_chunk()
        self.ids.append(token)
        self.weights.append(weight)


def tokenize_prompt(tokenizer: ClipTokenizer, parts: Sequence[PromptPart]) -> TokenChunks:
    """Tokenize the parts of a prompt and lay them out in chunks; an empty prompt takes one."""
    filling = _Filling()
    for part in parts:
        if isinstance(part, WeightedText):
            for token in tokenizer.encode(part.text):
                filling.add(token, part.weight, tokenizer.comma_id)
        else:
            filling.end_chunk()
    used = CHUNK_TOKENS * len(filling.chunks) + len(filling.ids)
    if filling.ids or not filling.chunks:
        filling.end_chunk()

    count = len(filling.chunks)
    ids = _empty_ids(tokenizer, count)
    weights = np.ones((count, CHUNK_LENGTH), dtype=np.float32)
    for row, (chunk_ids, chunk_weights) in enumerate(filling.chunks):
        ids[row, 1 : 1 + len(chunk_ids)] = chunk_ids
        weights[row, 1 : 1 + len(chunk_weights)] = chunk_weights
    _pad_after_end(ids, tokenizer)
    return TokenChunks(ids, weights, used)


def match_chunk_counts(
    tokenizer: ClipTokenizer, first: TokenChunks, second: TokenChunks
) -> tuple[TokenChunks, TokenChunks]:
    """Append empty chunks to the shorter of the two, so that a guided step can run both at once."""
    count = max(first.count, second.count)
    return _extend(tokenizer, first, count), _extend(tokenizer, second, count)


def _extend(tokenizer: ClipTokenizer, chunks: TokenChunks, count: int) -> TokenChunks:
    missing = count - chunks.count
    if not missing:
        return chunks
    ids = _empty_ids(tokenizer, missing)
    _pad_after_end(ids, tokenizer)
    weights = np.ones((missing, CHUNK_LENGTH), dtype=np.float32)
    return TokenChunks(
        np.concatenate([chunks.ids, ids]), np.concatenate([chunks.weights, weights]), chunks.used
    )


def _empty_ids(tokenizer: ClipTokenizer, count: int) -> NDArray[np.int64]:
    ids = np.full((count, CHUNK_LENGTH), tokenizer.end_id, dtype=np.int64)
    ids[:, 0] = tokenizer.start_id
    return ids


def _pad_after_end(ids: NDArray[np.int64], tokenizer: ClipTokenizer) -> None:
    """Replace all that follows the first end token of each row by the padding token."""
    after = np.cumsum(ids == tokenizer.end_id, axis=1) > 0
    ids[:, 1:][after[:, :-1]] = tokenizer.pad_id
