"""Token counting of a prompt while it is being written."""

from dataclasses import dataclass

from engine.api.conventions import Chunking, Convention
from engine.errors import EngineError
from engine.text.chunks import CHUNK_TOKENS, measure_prompt
from engine.text.prompt import Break, Mixture, PromptPart, WeightedText
from engine.text.reading import Passage, read_prompt
from engine.text.tokenizers import ClipTokenizer

# More characters than the longest usable prompt usually has.
_COUNTED_CHARACTERS = 32_768


@dataclass(frozen=True, slots=True)
class TokenCount:
    """The number of tokens `used`, and the `capacity` of the chunks they take.

    The text from character `cut_at` on has no effect; None if all of it has. `complete` is False
    for a text so long that only its beginning was counted.
    """

    used: int
    capacity: int
    cut_at: int | None = None
    complete: bool = True


def count_tokens(
    text: str,
    tokenizer: ClipTokenizer,
    convention: Convention,
    *,
    steps: int = 20,
    negative: bool = False,
) -> TokenCount:
    """Count a prompt's tokens by a convention's grammar. Takes any text, quickly.

    A prompt that changes during the run or has several parts counts at its longest text. A prompt
    that the grammar refuses counts as plain text.
    """
    beginning = text[:_COUNTED_CHARACTERS]
    complete = len(beginning) == len(text)
    try:
        reading = read_prompt(beginning, convention, steps, negative=negative)
        passages = {timed.passage for timeline in reading.timelines for timed in timeline.passages}
    except EngineError:
        passages = {(Mixture(((WeightedText(beginning, 1.0),),)),)}
    used, chunks = max(_measured(passage, tokenizer, convention) for passage in passages)
    cut_at = None
    if convention.chunking is Chunking.CUT and used > CHUNK_TOKENS:
        cut_at = min(_cut_at(beginning, passage, tokenizer) for passage in passages)
    return TokenCount(used, chunks * CHUNK_TOKENS, cut_at, complete)


def _measured(
    passage: Passage, tokenizer: ClipTokenizer, convention: Convention
) -> tuple[int, int]:
    """Return the tokens and chunks of a passage; mixed phrases count as the longest of them."""
    used = chunks = 0
    for mixture in passage:
        sizes = (measure_prompt(tokenizer, p, convention.chunking) for p in mixture.phrases)
        longest, taken = max(sizes)
        used = chunks * CHUNK_TOKENS + longest
        chunks += taken
    return used, chunks


def _cut_at(text: str, passage: Passage, tokenizer: ClipTokenizer) -> int:
    """Return the start of the first token that does not fit, or a little earlier near brackets."""
    return min(
        _cut_in(text, phrase, tokenizer) for mixture in passage for phrase in mixture.phrases
    )


def _cut_in(text: str, phrase: tuple[PromptPart, ...], tokenizer: ClipTokenizer) -> int:
    room = CHUNK_TOKENS
    place = 0
    for part in phrase:
        if isinstance(part, Break):
            break
        # A part with escapes differs from the written text and is not found.
        place = max(place, text.find(part.text, place))
        beyond = tokenizer.character_of(part.text, room)
        if beyond is not None:
            return place + beyond
        room -= len(tokenizer.encode(part.text))
    return place if room <= 0 else len(text)
