"""Counting of a prompt for T5, with CLIP's pooled text beside it, while it is being written."""

import msgspec

from engine.api.prompts import EncoderCount, PromptQuestion
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.errors import EngineError
from engine.text.checking import count_clip_tokens
from engine.text.chunks import CHUNK_TOKENS
from engine.text.counting import COUNTED_CHARACTERS, TokenCount, cut_in
from engine.text.prompt import Break, PromptPart, WeightedText
from engine.text.reading import read_prompt
from engine.text.t5_tokenizer import T5Tokenizer
from engine.text.whole_rows import (
    LEAST_POSITIONS,
    MAX_POSITIONS,
    cuts_rows,
    phrases_of,
    t5_tokenizer_of,
    tokens_of,
    whole_texts,
)

_BREAK = "BREAK"


def count_t5_tokens(
    text: str,
    question: PromptQuestion,
    embeddings: Embeddings = NO_EMBEDDINGS,
    *,
    positions: int = 512,
) -> TokenCount:
    """Count the tokens of T5, by which a text is cut, and CLIP's where its chunk is exceeded.

    `positions` is the number of positions that the denoiser was trained with. Takes any text; the
    vectors of `embeddings` count as tokens of CLIP.
    """
    question = msgspec.structs.replace(question, convention=whole_texts(question.convention))
    beginning = text[:COUNTED_CHARACTERS]
    used, room, cut_at = _counted(beginning, question, positions, LEAST_POSITIONS)
    clip = count_clip_tokens(beginning, question, embeddings)
    encoders = (
        EncoderCount(key="clip_l", used=clip.used, capacity=CHUNK_TOKENS),
        EncoderCount(key="t5xxl", used=used, capacity=room),
    )
    return TokenCount(
        used,
        room,
        cut_at,
        len(beginning) == len(text),
        embedding_remarks=clip.embedding_remarks,
        encoders=encoders if clip.used > CHUNK_TOKENS else (),
    )


def count_lone_t5_tokens(text: str, question: PromptQuestion, *, positions: int) -> TokenCount:
    """Count the tokens of T5 for a denoiser that takes nothing else; as `count_t5_tokens`."""
    question = msgspec.structs.replace(question, convention=whole_texts(question.convention))
    beginning = text[:COUNTED_CHARACTERS]
    used, room, cut_at = _counted(beginning, question, positions, positions)
    return TokenCount(used, room, cut_at, len(beginning) == len(text))


def _counted(
    text: str, question: PromptQuestion, positions: int, shown: int
) -> tuple[int, int, int | None]:
    """Return a text's tokens, the room for them, and the place where it is cut, if it is.

    Where nothing is cut the room is that of `shown` positions, or as much as the text needs.
    """
    tokenizer = t5_tokenizer_of(question.convention)
    phrases = _phrases(text, question)
    used = max(len(tokens_of(tokenizer, phrase)) for phrase in phrases)
    if cuts_rows(question.convention):
        room = positions - 1
    else:
        room = min(max(shown - 1, used), MAX_POSITIONS - 1)
    cut_at = min(_cut_at(text, phrase, tokenizer, room) for phrase in phrases)
    return used, room, cut_at if cut_at < len(text) else None


def _phrases(text: str, question: PromptQuestion) -> set[tuple[PromptPart, ...]]:
    """Return the phrases of a prompt; one that the grammar refuses is plain text."""
    try:
        reading = read_prompt(text, question.convention, question.steps, negative=question.negative)
    except EngineError:
        return {(WeightedText(text, 1.0),)}
    return phrases_of(reading)


def _cut_at(text: str, phrase: tuple[PromptPart, ...], tokenizer: T5Tokenizer, room: int) -> int:
    """Return the character from which on a phrase has no effect; the text's length if all has."""
    fits = len(tokens_of(tokenizer, phrase)) <= room
    place = len(text) if fits else cut_in(text, phrase, tokenizer, room)
    if not any(isinstance(part, Break) for part in phrase):
        return place
    # Words after the first BREAK are in a row that nothing reads.
    before = 0
    for part in phrase:
        if isinstance(part, Break):
            found = text.find(_BREAK, before)
            return min(place, found) if found >= 0 else place
        before = max(before, text.find(part.text, before)) + len(part.text)
    return place
