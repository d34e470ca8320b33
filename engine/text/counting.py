"""Token counting of a prompt while it is being written."""

from collections.abc import Collection, Sequence

import msgspec

from engine.api.conventions import Convention
from engine.api.prompt_rules import Chunking
from engine.api.prompts import EncoderCount
from engine.api.sentences import Text
from engine.errors import EngineError
from engine.text.chunks import CHUNK_TOKENS, MAX_CHUNKS, chunk_starts, measure_prompt
from engine.text.embedded import EmbeddingReader
from engine.text.prompt import Break, Mixture, PromptPart, WeightedText
from engine.text.reading import Passage, read_prompt
from engine.text.t5_tokenizer import T5Tokenizer
from engine.text.token_places import token_places
from engine.text.tokenizers import ClipTokenizer
from engine.text.written_places import written_places

# More characters than the longest usable prompt usually has.
COUNTED_CHARACTERS = 32_768


class TokenCount(msgspec.Struct, frozen=True):
    """The number of tokens `used`, and the `capacity` of the chunks they take.

    The text from character `cut_at` on has no effect; None if all of it has. `complete` is False
    for a text so long that only its beginning was counted. `chunk_starts` are the characters at
    which the second and each later chunk begins, of as many as a prompt may have; empty if unknown.
    `embedding_remarks` are names of embeddings in the text, each with the reason why it is not used
    as written.
    """

    used: int
    capacity: int
    cut_at: int | None = None
    complete: bool = True
    chunk_starts: tuple[int, ...] = ()
    embedding_remarks: tuple[tuple[str, Text], ...] = ()
    # The tokens of each text encoder, where they differ.
    encoders: tuple[EncoderCount, ...] = ()


def count_tokens(
    text: str,
    tokenizer: ClipTokenizer,
    convention: Convention,
    *,
    steps: int = 20,
    negative: bool = False,
    reader: EmbeddingReader | None = None,
) -> TokenCount:
    """Count a prompt's tokens by a convention's grammar. Takes any text, quickly.

    `reader` finds the embeddings that it names; each of their vectors counts as a token.

    A prompt that changes during the run or has several parts counts at its longest text. A prompt
    that the grammar refuses counts as plain text.
    """
    beginning = text[:COUNTED_CHARACTERS]
    complete = len(beginning) == len(text)
    try:
        reading = read_prompt(beginning, convention, steps, negative=negative)
        passages = {timed.passage for timeline in reading.timelines for timed in timeline.passages}
    except EngineError:
        passages = {(Mixture(((WeightedText(beginning, 1.0),),)),)}
    used, chunks = max(_measured(passage, tokenizer, convention, reader) for passage in passages)
    # Before beginnings of the text are read, whose last name may be cut short.
    remarks = tuple((name, message) for message, name in reader.named.items()) if reader else ()
    cut_at = None
    if convention.chunking is Chunking.CUT and used > CHUNK_TOKENS:
        cut_at = min(_cut_at(beginning, passage, tokenizer, reader) for passage in passages)
    starts = _chunk_starts(beginning, passages, tokenizer, convention, reader) if chunks > 1 else ()
    return TokenCount(used, chunks * CHUNK_TOKENS, cut_at, complete, starts, remarks)


def count_held(
    text: str, convention: Convention, reader: EmbeddingReader, *, steps: int, negative: bool
) -> int:
    """Return the tokens of a prompt that hold something for the text encoder of `reader`.

    Vectors that the encoder lacks take their places in the chunks, but hold nothing.
    """
    try:
        reading = read_prompt(text, convention, steps, negative=negative)
    except EngineError:
        return _held(text, reader)
    return max(
        sum(
            max(
                sum(_held(part.text, reader) for part in phrase if not isinstance(part, Break))
                for phrase in mixture.phrases
            )
            for mixture in timed.passage
        )
        for timeline in reading.timelines
        for timed in timeline.passages
    )


def _held(text: str, reader: EmbeddingReader) -> int:
    pieces = reader.pieces(text, COUNTED_CHARACTERS)
    return sum(not slot.is_dropped for piece in pieces for slot in piece)


def _measured(
    passage: Passage,
    tokenizer: ClipTokenizer,
    convention: Convention,
    reader: EmbeddingReader | None,
) -> tuple[int, int]:
    """Return the tokens and chunks of a passage; mixed phrases count as the longest of them."""
    used = chunks = 0
    for mixture in passage:
        sizes = (measure_prompt(tokenizer, p, convention.chunking, reader) for p in mixture.phrases)
        longest, taken = max(sizes)
        used = chunks * CHUNK_TOKENS + longest
        chunks += taken
    return used, chunks


def _chunk_starts(
    text: str,
    passages: Collection[Passage],
    tokenizer: ClipTokenizer,
    convention: Convention,
    reader: EmbeddingReader | None,
) -> tuple[int, ...]:
    """Return the characters at which chunks begin; none for a prompt that changes or is mixed."""
    phrases = [mixture.phrases for passage in passages for mixture in passage]
    if len(passages) != 1 or len(phrases) != 1 or len(phrases[0]) != 1:
        return ()
    parts = phrases[0][0]
    places = list(written_places(text, parts))
    starts = chunk_starts(tokenizer, parts, convention.chunking, reader)[: MAX_CHUNKS - 1]
    by_part: dict[int, list[int]] = {}
    for index, token in starts:
        by_part.setdefault(index, []).append(token)
    found: list[int] = []
    for index, tokens in by_part.items():
        part = parts[index]
        if isinstance(part, Break):
            continue
        for inside in _characters_of(part.text, tokens, tokenizer, reader):
            if inside is None:
                return ()
            found.append(places[index][inside])
    return tuple(found)


def _cut_at(
    text: str, passage: Passage, tokenizer: ClipTokenizer, reader: EmbeddingReader | None
) -> int:
    """Return the start of the first token that does not fit, or a little earlier near brackets."""
    return min(
        cut_in(text, phrase, tokenizer, CHUNK_TOKENS, reader)
        for mixture in passage
        for phrase in mixture.phrases
    )


def cut_in(
    text: str,
    phrase: tuple[PromptPart, ...],
    tokenizer: ClipTokenizer | T5Tokenizer,
    room: int,
    reader: EmbeddingReader | None = None,
) -> int:
    """Return the character with which the first token of a phrase begins that has no room."""
    end = 0
    for part, places in zip(phrase, written_places(text, phrase), strict=True):
        if isinstance(part, Break):
            break
        count = len(tokenizer.encode(part.text)) if reader is None else reader.count(part.text)
        if count > room:
            (beyond,) = _characters_of(part.text, (room,), tokenizer, reader)
            return places[beyond or 0]
        room -= count
        end = places[-1]
    return end if room <= 0 else len(text)


def _characters_of(
    text: str,
    indices: Sequence[int],
    tokenizer: ClipTokenizer | T5Tokenizer,
    reader: EmbeddingReader | None,
) -> list[int | None]:
    """Return the positions of the tokens at `indices`, or of the embeddings they belong to."""
    if reader is None or not reader.used:
        return tokenizer.characters_of(text, indices)
    return token_places(text, indices, reader.slots)
