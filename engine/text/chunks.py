"""Chunks of 75 tokens: how a prompt of any length is laid out for CLIP's 77 positions.

By A1111's rule (`modules/sd_hijack_clip.py`) `BREAK` fills a chunk up, and a chunk that would end
within 20 tokens after a comma ends at the comma; by ComfyUI's (`comfy/sd1_clip.py`) a piece of
fewer than 8 tokens is not divided; by compel's (`compel/embeddings_provider.py`,
`SplitLongTextMode.SENTENCES`) a chunk ends behind the last period, else the last comma, colon or
semicolon, else the last word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.api.conventions import Chunking
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.text.prompt import Break, PromptPart
from engine.text.tokenizers import ClipTokenizer

# Tokens of a prompt in a chunk, and positions with the start and end tokens.
CHUNK_TOKENS = 75
CHUNK_LENGTH = CHUNK_TOKENS + 2
# Beyond this the attention to the text outgrows the picture's own.
MAX_CHUNKS = 64
# How far back the nearest comma may be for a full chunk to end there.
_COMMA_BACKTRACK = 20
# A piece of so many tokens is divided where the chunk ends.
_LONG_PIECE = 8

# The part of the prompt that a position belongs to where it belongs to none.
NO_PART = -1


@dataclass(frozen=True, slots=True, eq=False)
class TokenChunks:
    """A prompt as CLIP reads it.

    `ids` is int64 [chunks, 77], each row start, at most 75 tokens, end, padding; `weights` is
    float32 [chunks, 77], 1 where there is no word; `parts` is int32 [chunks, 77], the index of the
    part of the prompt that a token comes from, or `NO_PART`. `used` counts the tokens of the
    prompt, with what is left empty before the last chunk.
    """

    ids: NDArray[np.int64]
    weights: NDArray[np.float32]
    parts: NDArray[np.int32]
    used: int

    @property
    def count(self) -> int:
        """The number of chunks, at least one."""
        return self.ids.shape[0]

    @property
    def capacity(self) -> int:
        """How many tokens fit before another chunk is needed."""
        return self.count * CHUNK_TOKENS


@dataclass(frozen=True, slots=True)
class _Token:
    id: int
    weight: float
    part: int


# Chunks, and how many tokens they hold with what is left empty.
_Chunked = tuple[list[list[_Token]], int]


@dataclass(slots=True)
class _Filling:
    """Finished chunks and the one being filled; `comma` is where its last comma is, or -1."""

    chunks: list[list[_Token]] = field(default_factory=list[list[_Token]])
    current: list[_Token] = field(default_factory=list[_Token])
    comma: int = -1

    def end_chunk(self, length: int = CHUNK_TOKENS) -> None:
        """Finish the chunk after `length` tokens; the rest starts the next one."""
        self.chunks.append(self.current[:length])
        self.current = self.current[length:]
        self.comma = -1

    def add(self, token: _Token, comma_id: int | None) -> None:
        full = len(self.current) == CHUNK_TOKENS
        if token.id == comma_id:
            self.comma = len(self.current)
        elif full and self.comma >= 0 and CHUNK_TOKENS - self.comma <= _COMMA_BACKTRACK:
            self.end_chunk(self.comma + 1)
        if len(self.current) == CHUNK_TOKENS:
            self.end_chunk()
        self.current.append(token)

    def finish(self) -> _Chunked:
        used = CHUNK_TOKENS * len(self.chunks) + len(self.current)
        if self.current or not self.chunks:
            self.end_chunk()
        return self.chunks, used


def tokenize_prompt(
    tokenizer: ClipTokenizer, parts: Sequence[PromptPart], chunking: Chunking = Chunking.COMMA
) -> TokenChunks:
    """Tokenize the parts of a prompt and lay them out in chunks; an empty prompt takes one.

    `Chunking.CUT` keeps the first chunk; `used` counts what it drops too. Raises
    EngineError(REQUEST_INVALID) for a prompt of more than `MAX_CHUNKS`.
    """
    chunks, used = _chunked(tokenizer, parts, chunking)
    if chunking is Chunking.CUT:
        chunks = chunks[:1]
    if len(chunks) > MAX_CHUNKS:
        limit = MAX_CHUNKS * CHUNK_TOKENS
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            f"The prompt has {used:,} tokens or more; at most {limit:,} can be used.",
            "Shorten the prompt.",
        )
    # In A1111 even an end token that the text names ends it, where another one fills the rest.
    ends_early = chunking in {Chunking.COMMA, Chunking.PLAIN}
    return _laid_out(chunks, used, tokenizer, ends_early=ends_early)


def measure_prompt(
    tokenizer: ClipTokenizer, parts: Sequence[PromptPart], chunking: Chunking
) -> tuple[int, int]:
    """How many tokens a prompt has, as `TokenChunks.used`, and in how many chunks, or more."""
    chunks, used = _chunked(tokenizer, parts, chunking)
    return used, 1 if chunking is Chunking.CUT else len(chunks)


def _chunked(tokenizer: ClipTokenizer, parts: Sequence[PromptPart], chunking: Chunking) -> _Chunked:
    pieces = list(_pieces(tokenizer, parts))
    match chunking:
        case Chunking.COMMA:
            return _by_comma(pieces, tokenizer.comma_id)
        case Chunking.PLAIN | Chunking.CUT:
            return _by_comma(pieces, None)
        case Chunking.WORD:
            return _by_piece(pieces)
        case Chunking.SENTENCE:
            return _by_sentence(pieces, tokenizer)


def empty_chunks(tokenizer: ClipTokenizer, count: int = 1) -> TokenChunks:
    """So many chunks without a word."""
    return _laid_out([[] for _ in range(count)], 0, tokenizer, ends_early=False)


def extended(chunks: TokenChunks, tokenizer: ClipTokenizer, count: int) -> TokenChunks:
    """The chunks followed by empty ones, `count` in all; as they are if they are so many."""
    if chunks.count >= count:
        return chunks
    empty = empty_chunks(tokenizer, count - chunks.count)
    return TokenChunks(
        np.concatenate([chunks.ids, empty.ids]),
        np.concatenate([chunks.weights, empty.weights]),
        np.concatenate([chunks.parts, empty.parts]),
        chunks.used,
    )


def _pieces(tokenizer: ClipTokenizer, parts: Sequence[PromptPart]) -> Iterator[list[_Token] | None]:
    """The tokens of each part in turn, None for a BREAK; no more where that is far too many."""
    limit = CHUNK_TOKENS * MAX_CHUNKS
    seen = 0
    for index, part in enumerate(parts):
        if isinstance(part, Break):
            seen += CHUNK_TOKENS
            yield None
        else:
            ids = tokenizer.encode_up_to(part.text, limit)
            seen += len(ids)
            yield [_Token(token, part.weight, index) for token in ids]
        # Laying out what cannot be used would take time.
        if seen > 2 * limit:
            return


def _by_comma(pieces: Sequence[list[_Token] | None], comma_id: int | None) -> _Chunked:
    filling = _Filling()
    for piece in pieces:
        if piece is None:
            filling.end_chunk()
            continue
        for token in piece:
            filling.add(token, comma_id)
    return filling.finish()


def _by_piece(pieces: Sequence[list[_Token] | None]) -> _Chunked:
    filling = _Filling()
    for piece in pieces:
        room = CHUNK_TOKENS - len(filling.current)
        if piece is None or len(piece) <= room:
            filling.current.extend(piece or ())
        elif len(piece) < _LONG_PIECE:
            filling.end_chunk()
            filling.current = piece[:]
        else:
            filling.current.extend(piece)
            while len(filling.current) > CHUNK_TOKENS:
                filling.end_chunk()
    return filling.finish()


def _by_sentence(pieces: Sequence[list[_Token] | None], tokenizer: ClipTokenizer) -> _Chunked:
    rest = [token for piece in pieces for token in piece or ()]
    chunks: list[list[_Token]] = []
    while len(rest) > CHUNK_TOKENS:
        length = _sentence_length(rest[:CHUNK_TOKENS], tokenizer)
        chunks.append(rest[:length])
        rest = rest[length:]
    return [*chunks, rest], CHUNK_TOKENS * len(chunks) + len(rest)


def _sentence_length(tokens: Sequence[_Token], tokenizer: ClipTokenizer) -> int:
    """How many of these tokens end a sentence, else a phrase, else a word, else all."""
    for ends in (tokenizer.sentence_ends, tokenizer.phrase_ends, tokenizer.word_ends):
        for length in range(len(tokens), 0, -1):
            if tokens[length - 1].id in ends:
                return length
    return len(tokens)


def _laid_out(
    chunks: Sequence[Sequence[_Token]], used: int, tokenizer: ClipTokenizer, *, ends_early: bool
) -> TokenChunks:
    shape = (len(chunks), CHUNK_LENGTH)
    ids = np.full(shape, tokenizer.pad_id, dtype=np.int64)
    weights = np.ones(shape, dtype=np.float32)
    parts = np.full(shape, NO_PART, dtype=np.int32)
    for row, tokens in enumerate(chunks):
        end = 1 + len(tokens)
        ids[row, 0] = tokenizer.start_id
        ids[row, 1:end] = [token.id for token in tokens]
        ids[row, end] = tokenizer.end_id
        weights[row, 1:end] = [token.weight for token in tokens]
        parts[row, 1:end] = [token.part for token in tokens]
    if ends_early and tokenizer.pad_id != tokenizer.end_id:
        after = np.cumsum(ids == tokenizer.end_id, axis=1) > 0
        ids[:, 1:][after[:, :-1]] = tokenizer.pad_id
    return TokenChunks(ids, weights, parts, used)


def first_end(ids: NDArray[np.int64], end_id: int) -> NDArray[np.float32]:
    """1 at the token that ends each chunk [chunks, 77], else 0."""
    ends = np.argmax(ids == end_id, axis=1)
    return np.eye(ids.shape[1], dtype=np.float32)[ends]


def zero_filled(ids: NDArray[np.int64], end_id: int) -> NDArray[np.int64]:
    """Chunks [chunks, 77] with token 0 wherever something follows their end.

    So OpenCLIP's tokenizer fills up, and A1111 for its encoders (`sd_hijack_clip.py`, `id_pad`).
    """
    ends = np.argmax(ids == end_id, axis=1)
    filled = ids.copy()
    for row, end in zip(filled, ends, strict=True):
        row[end + 1 :] = 0
    return filled
