"""Whole prompts in one row of tokens each, as T5 takes them.

In ComfyUI (`comfy/sd1_clip.py`, `comfy/text_encoders/flux.py`) and Forge
(`backend/text_processing/t5_engine.py`) a row has at least 256 positions and as many as the prompt
needs; in diffusers (`pipelines/flux/pipeline_flux.py`) and InvokeAI each row has the same length,
and longer prompts are cut. In Forge `BREAK` begins another row, which nothing reads: the words
after it have no effect.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

import msgspec
import numpy as np

from engine.api.conventions import Convention
from engine.api.prompt_rules import Chunking, Emphasis, NetworkTags, PromptGrammar, TextCleaning
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.text.chunks import NO_PART, TokenChunks
from engine.text.prompt import Break, PromptPart, WeightedText
from engine.text.reading import PromptReading
from engine.text.t5_tokenizer import T5Tokenizer, load_t5_tokenizer

# The least positions of a row that is not cut.
LEAST_POSITIONS = 256
# With more positions the scores between all of them would take gigabytes.
MAX_POSITIONS = 2048


class WholeRows(msgspec.Struct, frozen=True):
    """A `TokenLayout` of one row for each prompt: its tokens, the end, padding.

    Every row has `length` positions; a longer prompt is cut if `cuts`, else refused.
    """

    tokenizer: T5Tokenizer
    length: int
    cuts: bool
    # False where the empty prompt is padding alone.
    ends_empty: bool = True

    def laid_out(self, parts: Sequence[PromptPart]) -> TokenChunks:
        """Return a prompt as one row. Raises EngineError(REQUEST_INVALID) if it is too long."""
        found = tokens_of(self.tokenizer, parts)
        room = self.length - 1
        if len(found) > room and not self.cuts:
            raise too_long(len(found))
        return self._row(found[:room], len(found), 1, ends=True)

    def empty(self, count: int = 1) -> TokenChunks:
        """Return `count` rows of the empty prompt."""
        return self._row([], 0, count, ends=self.ends_empty)

    def _row(
        self, tokens: Sequence[tuple[int, float, int]], used: int, count: int, *, ends: bool
    ) -> TokenChunks:
        shape, end = (count, self.length), len(tokens)
        ids = np.full(shape, self.tokenizer.pad_id, np.int64)
        weights = np.ones(shape, np.float32)
        parts = np.full(shape, NO_PART, np.int32)
        if tokens:
            ids[0, :end], weights[0, :end], parts[0, :end] = zip(*tokens, strict=True)
        if ends:
            ids[:, end] = self.tokenizer.end_id
        return TokenChunks(ids, weights, parts, used)


def tokens_of(tokenizer: T5Tokenizer, parts: Sequence[PromptPart]) -> list[tuple[int, float, int]]:
    """Return a prompt's tokens up to the first BREAK: id, weight and the number of the part.

    Each part is tokenized by itself. Far beyond the most positions they may be wrong.
    """
    found: list[tuple[int, float, int]] = []
    for number, part in enumerate(takewhile(_is_text, parts)):
        if isinstance(part, WeightedText):
            ids = tokenizer.encode_up_to(part.text, MAX_POSITIONS)
            found += ((token, part.weight, number) for token in ids)
        if len(found) > 2 * MAX_POSITIONS:
            break
    return found


def _runs(phrase: tuple[PromptPart, ...]) -> Iterator[tuple[PromptPart, ...]]:
    """Yield the parts of a phrase up to the first BREAK, and those after each."""
    ends = [place for place, part in enumerate(phrase) if isinstance(part, Break)]
    for start, end in pairwise((-1, *ends, len(phrase))):
        yield phrase[start + 1 : end]


def _is_text(part: PromptPart) -> bool:
    return not isinstance(part, Break)


def whole_texts(convention: Convention) -> Convention:
    """Return a convention as its tool has it for encoders that take whole texts.

    InvokeAI leaves compel out for them: every character is text, also of tags, and what is too long
    is cut (`invokeai/app/invocations/flux_text_encoder.py`).
    """
    if convention.grammar is not PromptGrammar.COMPEL:
        return convention
    return msgspec.structs.replace(
        convention,
        grammar=PromptGrammar.LITERAL,
        emphasis=Emphasis.NONE,
        chunking=Chunking.CUT,
        network_tags=NetworkTags.TEXT,
    )


def cuts_rows(convention: Convention) -> bool:
    """Tell whether a convention's tool cuts prompts at the length that the denoiser knows."""
    return convention.chunking is Chunking.CUT


def t5_tokenizer_of(convention: Convention) -> T5Tokenizer:
    """Return T5's tokenizer as a convention's tool runs it.

    Tools that clean CLIP's texts as transformers 4 does read T5's tokenizer from their own file.
    """
    return load_t5_tokenizer(by_file=convention.text_cleaning is not TextCleaning.NONE)


def rows_for(
    readings: Iterable[PromptReading],
    convention: Convention,
    trained: int,
    *,
    least: int = LEAST_POSITIONS,
) -> WholeRows:
    """Return a layout in which all of these prompts have a row of one length.

    `trained` is the number of positions that the denoiser was trained with, `least` the least
    positions of a row that is not cut.
    """
    tokenizer = t5_tokenizer_of(convention)
    if cuts_rows(convention):
        return WholeRows(tokenizer, trained, cuts=True)
    phrases = {phrase for reading in readings for phrase in phrases_of(reading)}
    # Forge pads what is read to the length of what follows a BREAK, too.
    runs = {run for phrase in phrases for run in _runs(phrase)}
    longest = max(1 + len(tokens_of(tokenizer, run)) for run in runs)
    return WholeRows(tokenizer, min(max(least, longest), MAX_POSITIONS), cuts=False)


def phrases_of(reading: PromptReading) -> set[tuple[PromptPart, ...]]:
    """Return all phrases that a prompt has at any time."""
    return {
        phrase
        for timeline in reading.timelines
        for timed in timeline.passages
        for mixture in timed.passage
        for phrase in mixture.phrases
    }


def too_long(tokens: int) -> EngineError:
    """Return the error for a prompt of more than the most positions."""
    return EngineError(
        ErrorCode.REQUEST_INVALID,
        sentence(
            "The prompt has {used:,} tokens or more; at most {limit:,} can be used.",
            used=tokens,
            limit=MAX_POSITIONS - 1,
        ),
        sentence("Shorten the prompt."),
    )
