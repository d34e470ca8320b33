"""Chunks of 75 tokens: the layout of a prompt of any length for CLIP's 77 positions.

In A1111 (`modules/sd_hijack_clip.py`) `BREAK` fills a chunk up, and a full chunk ends at its last
comma if that is at most 20 tokens back. In ComfyUI (`comfy/sd1_clip.py`) a piece of fewer than 8
tokens is not split. In compel (`compel/embeddings_provider.py`, `SplitLongTextMode.SENTENCES`) a
chunk ends after the last period, else the last comma, colon or semicolon, else the last word.
An embedding's vectors take a position each. In A1111 they stay in one chunk; in ComfyUI they are a
piece of their own.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.api.prompt_rules import Chunking
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.text.embedded import NO_VECTOR, EmbeddingReader, Slot, plain_pieces
from engine.text.prompt import Break, PromptPart
from engine.text.tokenizers import ClipTokenizer

# The number of prompt tokens in a chunk; start and end token make it 77 positions.
CHUNK_TOKENS = 75
CHUNK_LENGTH = CHUNK_TOKENS + 2
# With more chunks the cross-attention would cost more than the picture's self-attention.
MAX_CHUNKS = 64
# A full chunk ends at a comma that is at most this many tokens back.
_COMMA_BACKTRACK = 20
# A piece of at least this many tokens is split at the end of a chunk.
_LONG_PIECE = 8

# The part index of positions that belong to no part of the prompt.
NO_PART = -1


class TokenChunks(msgspec.Struct, frozen=True, eq=False):
    """A tokenized prompt in CLIP's chunks.

    `ids` is int64 [chunks, 77], each row start, at most 75 tokens, end, padding; `weights` is
    float32 [chunks, 77], 1 for start, end and padding; `parts` is int32 [chunks, 77], the index of
    the prompt's part that a token comes from, or `NO_PART`. `used` counts the prompt's tokens and
    the positions left empty before the last chunk. `vectors` is int32 [chunks, 77], the index of
    the vector of an embedding at a position (`EmbeddingReader.vectors`) or `NO_VECTOR`; None if
    there is no vector.
    """

    ids: NDArray[np.int64]
    weights: NDArray[np.float32]
    parts: NDArray[np.int32]
    used: int
    vectors: NDArray[np.int32] | None = None

    @property
    def count(self) -> int:
        """The number of chunks, at least one."""
        return self.ids.shape[0]

    @property
    def capacity(self) -> int:
        """The number of tokens that fit before another chunk is needed."""
        return self.count * CHUNK_TOKENS


class _Token(msgspec.Struct, frozen=True):
    slot: Slot
    weight: float
    part: int

    @property
    def id(self) -> int:
        return self.slot.token


class _Chunk(list[_Token]):
    """The tokens of a chunk; `stray` are vectors at positions where it has no token."""

    stray: tuple[tuple[int, int], ...] = ()


# Chunks, and the number of their tokens including positions left empty.
_Chunked = tuple[list[_Chunk], int]


class _Filling(msgspec.Struct):
    """Finished chunks and the current one; `comma` is the place of its last comma, or -1.

    With `keeps_groups` the vectors of an embedding stay in one chunk.
    """

    keeps_groups: bool = True
    chunks: list[_Chunk] = msgspec.field(default_factory=list[_Chunk])
    current: list[_Token] = msgspec.field(default_factory=list[_Token])
    comma: int = -1

    def end_chunk(self, length: int = CHUNK_TOKENS) -> None:
        """Finish the chunk after `length` tokens; the rest starts the next one."""
        self.chunks.append(_Chunk(self.current[:length]))
        self.current = self.current[length:]
        self.comma = -1

    def add(self, token: _Token, comma_id: int | None) -> None:
        full = len(self.current) == CHUNK_TOKENS
        if token.id == comma_id and token.slot.vector == NO_VECTOR:
            self.comma = len(self.current)
        elif full and self.comma >= 0 and CHUNK_TOKENS - self.comma <= _COMMA_BACKTRACK:
            self.end_at_comma()
        needed = max(1, token.slot.group) if self.keeps_groups else 1
        if len(self.current) + needed > CHUNK_TOKENS:
            self.end_chunk()
        self.current.append(token)

    def end_at_comma(self) -> None:
        """Finish the chunk after its last comma.

        The words after it move to the next chunk, but their embeddings' vectors do not: A1111
        leaves them at their places, over the padding, and placeholders move in their stead.
        """
        length = self.comma + 1
        moved = self.current[length:]
        self.end_chunk(length)
        self.chunks[-1].stray = tuple(
            (place, token.slot.vector)
            for place, token in enumerate(moved, start=length)
            if token.slot.vector != NO_VECTOR
        )
        self.current = [_Token(Slot(token.id), token.weight, token.part) for token in moved]

    def finish(self) -> _Chunked:
        used = CHUNK_TOKENS * len(self.chunks) + len(self.current)
        if self.current or not self.chunks:
            self.end_chunk()
        return self.chunks, used


def tokenize_prompt(
    tokenizer: ClipTokenizer,
    parts: Sequence[PromptPart],
    chunking: Chunking = Chunking.COMMA,
    reader: EmbeddingReader | None = None,
) -> TokenChunks:
    """Tokenize the parts of a prompt and lay them out in chunks; an empty prompt takes one.

    `reader` finds the embeddings that the parts name; it must have the same tokenizer.
    `Chunking.CUT` keeps the first chunk only; `used` counts the dropped tokens too. Raises
    EngineError(REQUEST_INVALID) for a prompt of more than `MAX_CHUNKS`.
    """
    chunks, used = _chunked(tokenizer, parts, chunking, reader)
    if chunking is Chunking.CUT:
        chunks = chunks[:1]
    if len(chunks) > MAX_CHUNKS:
        limit = MAX_CHUNKS * CHUNK_TOKENS
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The prompt has {used:,} tokens or more; at most {limit:,} can be used.",
                used=used,
                limit=limit,
            ),
            sentence("Shorten the prompt."),
        )
    # In A1111 an end token written in the prompt also ends the chunk, if it is not the padding.
    ends_early = chunking in {Chunking.COMMA, Chunking.PLAIN}
    return _laid_out(chunks, used, tokenizer, ends_early=ends_early)


def measure_prompt(
    tokenizer: ClipTokenizer,
    parts: Sequence[PromptPart],
    chunking: Chunking,
    reader: EmbeddingReader | None = None,
) -> tuple[int, int]:
    """Return the numbers of a prompt's tokens (`TokenChunks.used`) and chunks.

    For a prompt that is too long they are only larger than the limits.
    """
    chunks, used = _chunked(tokenizer, parts, chunking, reader)
    return used, 1 if chunking is Chunking.CUT else len(chunks)


def chunk_starts(
    tokenizer: ClipTokenizer,
    parts: Sequence[PromptPart],
    chunking: Chunking,
    reader: EmbeddingReader | None = None,
) -> list[tuple[int, int]]:
    """Return the part and the number of the part's token with which each later chunk begins.

    Chunks without tokens, as after two BREAKs, are left out.
    """
    chunks, _ = _chunked(tokenizer, parts, chunking, reader)
    seen = [0] * len(parts)
    starts: list[tuple[int, int]] = []
    for number, chunk in enumerate(chunks):
        if chunk and number:
            starts.append((chunk[0].part, seen[chunk[0].part]))
        for token in chunk:
            seen[token.part] += 1
    return starts


def _chunked(
    tokenizer: ClipTokenizer,
    parts: Sequence[PromptPart],
    chunking: Chunking,
    reader: EmbeddingReader | None,
) -> _Chunked:
    pieces = list(_pieces(tokenizer, parts, reader))
    match chunking:
        case Chunking.COMMA:
            return _by_comma(pieces, tokenizer.comma_id)
        case Chunking.PLAIN:
            return _by_comma(pieces, None)
        case Chunking.CUT:
            return _by_comma(pieces, None, keeps_groups=False)
        case Chunking.WORD:
            return _by_piece(pieces)
        case Chunking.SENTENCE:
            return _by_sentence(pieces, tokenizer)


def empty_chunks(tokenizer: ClipTokenizer, count: int = 1) -> TokenChunks:
    """Return `count` chunks of the empty prompt."""
    return _laid_out([_Chunk() for _ in range(count)], 0, tokenizer, ends_early=False)


def extended(
    chunks: TokenChunks, empty_rows: Callable[[int], TokenChunks], count: int
) -> TokenChunks:
    """Append chunks of `empty_rows` up to `count`; return `chunks` itself if it has as many."""
    if chunks.count >= count:
        return chunks
    empty = empty_rows(count - chunks.count)
    return TokenChunks(
        np.concatenate([chunks.ids, empty.ids]),
        np.concatenate([chunks.weights, empty.weights]),
        np.concatenate([chunks.parts, empty.parts]),
        chunks.used,
        None
        if chunks.vectors is None
        else np.concatenate([chunks.vectors, np.full_like(empty.parts, NO_VECTOR)]),
    )


def _pieces(
    tokenizer: ClipTokenizer, parts: Sequence[PromptPart], reader: EmbeddingReader | None
) -> Iterator[list[_Token] | None]:
    """Yield the pieces of each part, None for a BREAK; stop at twice the usable number."""
    limit = CHUNK_TOKENS * MAX_CHUNKS
    seen = 0
    for index, part in enumerate(parts):
        if isinstance(part, Break):
            seen += CHUNK_TOKENS
            yield None
        else:
            pieces = (
                reader.pieces(part.text, limit)
                if reader
                else plain_pieces(tokenizer, part.text, limit)
            )
            for piece in pieces:
                seen += len(piece)
                yield [_Token(slot, part.weight, index) for slot in piece]
        # The prompt will be refused; more tokens would only take time.
        if seen > 2 * limit:
            return


def _by_comma(
    pieces: Sequence[list[_Token] | None], comma_id: int | None, *, keeps_groups: bool = True
) -> _Chunked:
    filling = _Filling(keeps_groups)
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
    chunks: list[_Chunk] = []
    while len(rest) > CHUNK_TOKENS:
        length = _sentence_length(rest[:CHUNK_TOKENS], tokenizer)
        chunks.append(_Chunk(rest[:length]))
        rest = rest[length:]
    return [*chunks, _Chunk(rest)], CHUNK_TOKENS * len(chunks) + len(rest)


def _sentence_length(tokens: Sequence[_Token], tokenizer: ClipTokenizer) -> int:
    """Return the length up to the last end of a sentence, else of a phrase, else of a word.

    Without any of them it is the number of tokens.
    """
    for ends in (tokenizer.sentence_ends, tokenizer.phrase_ends, tokenizer.word_ends):
        for length in range(len(tokens), 0, -1):
            last = tokens[length - 1]
            if last.id in ends and last.slot.vector == NO_VECTOR:
                return length
    return len(tokens)


def _laid_out(
    chunks: Sequence[_Chunk], used: int, tokenizer: ClipTokenizer, *, ends_early: bool
) -> TokenChunks:
    shape = (len(chunks), CHUNK_LENGTH)
    ids = np.full(shape, tokenizer.pad_id, dtype=np.int64)
    weights = np.ones(shape, dtype=np.float32)
    parts = np.full(shape, NO_PART, dtype=np.int32)
    vectors = np.full(shape, NO_VECTOR, dtype=np.int32)
    for row, tokens in enumerate(chunks):
        end = 1 + len(tokens)
        weights[row, 1:end] = [token.weight for token in tokens]
        parts[row, 1:end] = [token.part for token in tokens]
        # As in ComfyUI, what follows a dropped vector moves up, but the weights do not.
        slots = [token.slot for token in tokens if not token.slot.is_dropped]
        end = 1 + len(slots)
        ids[row, 0] = tokenizer.start_id
        ids[row, 1:end] = [slot.token for slot in slots]
        ids[row, end] = tokenizer.end_id
        vectors[row, 1:end] = [slot.vector for slot in slots]
        for place, vector in tokens.stray:
            vectors[row, 1 + place] = vector
    if ends_early and tokenizer.pad_id != tokenizer.end_id:
        after = np.cumsum(ids == tokenizer.end_id, axis=1) > 0
        ids[:, 1:][after[:, :-1]] = tokenizer.pad_id
    has_vectors = bool((vectors != NO_VECTOR).any())
    return TokenChunks(ids, weights, parts, used, vectors if has_vectors else None)


def first_end(ids: NDArray[np.int64], end_id: int) -> NDArray[np.float32]:
    """Return float32 [chunks, 77]: 1 at each chunk's end token, else 0."""
    ends = np.argmax(ids == end_id, axis=1)
    return np.eye(ids.shape[1], dtype=np.float32)[ends]


def zero_filled(ids: NDArray[np.int64], end_id: int) -> NDArray[np.int64]:
    """Replace the padding of chunks [chunks, 77] by token 0.

    OpenCLIP's tokenizer pads like this, and so does A1111 for its encoders (`sd_hijack_clip.py`,
    `id_pad`).
    """
    ends = np.argmax(ids == end_id, axis=1)
    filled = ids.copy()
    for row, end in zip(filled, ends, strict=True):
        row[end + 1 :] = 0
    return filled
