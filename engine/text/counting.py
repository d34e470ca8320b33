"""How many tokens a prompt has, for whoever is writing it."""

from dataclasses import dataclass

from engine.api.conventions import Chunking, Convention
from engine.errors import EngineError
from engine.text.chunks import CHUNK_TOKENS, measure_prompt
from engine.text.prompt import Break, Mixture, PromptPart, WeightedText
from engine.text.reading import Passage, read_prompt
from engine.text.tokenizers import ClipTokenizer

# More characters than the longest prompt that can be used commonly has.
_COUNTED_CHARACTERS = 32_768


@dataclass(frozen=True, slots=True)
class TokenCount:
    """`used` tokens of the `capacity` of the chunks they take.

    `cut_at` is the character from which on the text has no effect, None where all of it has.
    `complete` is False where the text is so long that only its beginning was counted.
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
    """Count a prompt as a convention reads it, at its longest moment. Takes any text, quickly.

    What is not counted as its grammar says, because it is refused, is counted word by word.
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
    """The tokens and chunks of a passage; of phrases that are mixed, of the longest."""
    used = chunks = 0
    for mixture in passage:
        sizes = (measure_prompt(tokenizer, p, convention.chunking) for p in mixture.phrases)
        longest, taken = max(sizes)
        used = chunks * CHUNK_TOKENS + longest
        chunks += taken
    return used, chunks


def _cut_at(text: str, passage: Passage, tokenizer: ClipTokenizer) -> int:
    """Where the token after the last that fits begins, or a little before where brackets are."""
    return min(
        _cut_in(text, phrase, tokenizer) for mixture in passage for phrase in mixture.phrases
    )


def _cut_in(text: str, phrase: tuple[PromptPart, ...], tokenizer: ClipTokenizer) -> int:
    room = CHUNK_TOKENS
    place = 0
    for part in phrase:
        if isinstance(part, Break):
            break
        # Where escapes make it other than what was written, it is looked for in vain.
        place = max(place, text.find(part.text, place))
        beyond = tokenizer.character_of(part.text, room)
        if beyond is not None:
            return place + beyond
        room -= len(tokenizer.encode(part.text))
    return place if room <= 0 else len(text)
