"""Counts and checks a prompt while it is being written."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import msgspec

from engine.api.prompt_rules import EmbeddingSpelling
from engine.api.prompts import EncoderCount, Hint, HintKind, PromptCheck, PromptQuestion
from engine.api.sentences import Text
from engine.embeddings.embedding import Encoder
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.errors import EngineError
from engine.text.cleaning import cleaner
from engine.text.counting import TokenCount, count_held, count_tokens
from engine.text.embedded import EmbeddingReader, EmbeddingUse
from engine.text.foreign_syntax import foreign_marks
from engine.text.hints import bracket_hints
from engine.text.idle_tags import idle_tags
from engine.text.lora_strengths import RunLength
from engine.text.lora_tags import lora_tags
from engine.text.near_names import near_names
from engine.text.prompt_errors import NoListError, PromptError
from engine.text.reading import read_prompt
from engine.text.tags import NetworkTag, reads_tags, strip_tags
from engine.text.tokenizers import ClipTokenizer, load_clip_tokenizer, load_tokenizer
from engine.text.wildcards import expand_wildcards

_MOST_HINTS = 20
# A function that counts the tokens of any text, its wildcards expanded, for a question.
# It may name embeddings.
TokenCounter: TypeAlias = Callable[[str, PromptQuestion, Embeddings], TokenCount]


def count_clip_tokens(
    text: str, question: PromptQuestion, embeddings: Embeddings = NO_EMBEDDINGS
) -> TokenCount:
    """Count the tokens of a text in CLIP's chunks; the vectors of `embeddings` count as tokens."""
    convention = question.convention
    tokenizer = _clean_tokenizer(question)
    readers = _readers(question, tokenizer, embeddings)
    counted = count_tokens(
        text,
        tokenizer,
        convention,
        steps=question.steps,
        negative=question.negative,
        reader=readers[0] if readers else None,
    )
    if len(readers) < 2 or not counted.complete:
        return counted
    return msgspec.structs.replace(
        counted, encoders=_of_each(text, question, readers, counted.capacity)
    )


def _of_each(
    text: str, question: PromptQuestion, readers: Sequence[EmbeddingReader], capacity: int
) -> tuple[EncoderCount, ...]:
    """Return the tokens of each text encoder; empty where all have the same number."""
    held = [
        count_held(
            text,
            question.convention,
            reader,
            steps=question.steps,
            negative=question.negative,
        )
        for reader in readers
    ]
    if len(set(held)) == 1:
        return ()
    return tuple(
        EncoderCount(key=reader.use.encoder.key, used=used, capacity=capacity)
        for reader, used in zip(readers, held, strict=True)
    )


def _clean_tokenizer(question: PromptQuestion) -> ClipTokenizer:
    return _tokenizer(question.tokenizer).cleaning(cleaner(question.convention.text_cleaning))


def _readers(
    question: PromptQuestion, tokenizer: ClipTokenizer, embeddings: Embeddings
) -> tuple[EmbeddingReader, ...]:
    """Return a reader of embeddings for each text encoder that takes any."""
    encoders = tuple(
        Encoder(length.key, length.width) for length in question.lengths if length.width
    )
    spellings = question.convention.embedding_spellings
    if not spellings or embeddings is NO_EMBEDDINGS:
        return ()
    uses = (EmbeddingUse(encoder, encoders, spellings, embeddings) for encoder in encoders)
    return tuple(EmbeddingReader(tokenizer, use) for use in uses)


def check_prompt(
    question: PromptQuestion,
    wildcards: Path | None,
    count: TokenCounter = count_clip_tokens,
    embeddings: Embeddings = NO_EMBEDDINGS,
) -> PromptCheck:
    """Count the tokens of a text and look for probable mistakes. Takes any text.

    `wildcards` is the folder of word lists, `count` the family's token counter. The text may name
    `embeddings`. An error that a job would raise is one of the hints.
    """
    text = question.text
    meant, hints = _read(question, wildcards)
    counted = count(meant, question, embeddings)
    complete = counted.complete and question.complete
    hints += (*_unpaired(question), *_networks(question), *_foreign(question))
    hints += (_embedding_hint(text, *remark) for remark in counted.embedding_remarks)
    hints += _near(question, embeddings)
    cut_at = counted.cut_at
    cut_words = None if cut_at is None or not complete else len(meant[cut_at:].split())
    is_same = cut_at is None or meant[:cut_at] == text[:cut_at]
    return PromptCheck(
        text=text,
        used=counted.used,
        capacity=counted.capacity,
        complete=complete,
        drawn=meant != text,
        is_cut=cut_at is not None,
        cut_at=cut_at if is_same else None,
        cut_words=cut_words,
        chunk_starts=counted.chunk_starts if meant == text else (),
        hints=tuple(hints[:_MOST_HINTS]),
        encoders=counted.encoders,
    )


def _read(question: PromptQuestion, wildcards: Path | None) -> tuple[str, list[Hint]]:
    """Return the text with its wildcards expanded, and a hint at what refuses it."""
    text = meant = question.text
    try:
        if question.expand_wildcards:
            meant = expand_wildcards(text, question.seed, wildcards)
        read_prompt(meant, question.convention, question.steps, negative=question.negative)
    except NoListError as error:
        return meant, [_wildcard_hint(text, error)]
    except EngineError as error:
        # In an expanded text the position is a different one.
        position = error.position if isinstance(error, PromptError) and meant == text else 0
        return meant, [Hint(HintKind.REFUSED, position, error.text)]
    return meant, []


def _wildcard_hint(text: str, error: NoListError) -> Hint:
    named = f"__{error.name}__"
    # The name may be in another list, which the prompt names there.
    is_here = text.startswith(named, error.position)
    return Hint(HintKind.WILDCARD, error.position, error.name, len(named) if is_here else 1)


def _embedding_hint(text: str, name: str, reason: Text) -> Hint:
    found = re.search(re.escape(name), text, re.IGNORECASE)
    if found is None:
        # In an expanded text the name may come from a wildcard.
        return Hint(HintKind.EMBEDDING, 0, reason)
    return Hint(HintKind.EMBEDDING, found.start(), reason, len(found[0]))


def _unpaired(question: PromptQuestion) -> list[Hint]:
    found = bracket_hints(question.text, question.convention.grammar)
    return [
        Hint(HintKind.UNPAIRED, hint.position, question.text[hint.position])
        for hint in found
        # The counterpart may be in the rest of the text.
        if question.complete
    ]


def _networks(question: PromptQuestion) -> list[Hint]:
    text = question.text
    # In other conventions, and in a negative prompt, such a tag is plain text, also a LoRA's.
    tags = idle_tags(text, question.convention, negative=question.negative)
    if not question.negative and reads_tags(question.convention):
        tags = tuple(tag for tag in strip_tags(text)[1] if not _acts(tag, question))
    return [
        Hint(
            HintKind.NETWORK,
            tag.start,
            f"<{tag.kind}:{tag.name}>",
            text.index(">", tag.start) + 1 - tag.start,
        )
        for tag in tags[:_MOST_HINTS]
    ]


def _acts(tag: NetworkTag, question: PromptQuestion) -> bool:
    """Return True for a LoRA's tag that can be read; whether there is such a file is not known."""
    alone = f"<{tag.kind}:{':'.join(tag.arguments)}>"
    return bool(lora_tags(alone, question.convention, RunLength(question.steps)).uses)


def _near(question: PromptQuestion, embeddings: Embeddings) -> list[Hint]:
    # Other spellings are marked as names: one that is not found is told of by the reader.
    if EmbeddingSpelling.BARE not in question.convention.embedding_spellings:
        return []
    near = near_names(question.text, embeddings.names(), _clean_tokenizer(question))
    return [Hint(HintKind.NEAR_NAME, slip.position, slip.name, len(slip.word)) for slip in near]


def _foreign(question: PromptQuestion) -> list[Hint]:
    # If wildcards are not expanded, their syntax is plain text.
    if not question.expand_wildcards:
        return []
    marks = foreign_marks(question.text)
    return [Hint(HintKind.FOREIGN, place, sign, len(sign)) for place, sign in marks]


# Three entries: a user may switch between a few checkpoints.
@lru_cache(maxsize=3)
def _tokenizer(folder: str | None) -> ClipTokenizer:
    """Load a folder's tokenizer, or CLIP's if that is damaged: only a job reports the damage."""
    if folder is not None:
        try:
            return load_tokenizer(Path(folder))
        except EngineError:
            pass
    return load_clip_tokenizer()
