"""The words of the training captions: `python -m starter.vocabulary` writes them to words.txt.

Other words mean nothing to the model. The random letters that captions had as noise are no words.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from starter import captions

FILE = Path(__file__).with_name("words.txt")
_WORD = re.compile(r"[a-z]+")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; digits and punctuation divide words."""
    return _WORD.findall(text.casefold())


def vocabulary() -> tuple[str, ...]:
    """Return every word of which captions are made, in alphabetical order."""
    return tuple(sorted({word for phrase in _phrases() for word in words_of(phrase)}))


def _phrases() -> Iterator[str]:
    for words in (captions.KIND_WORDS, captions.COLOUR_WORDS, captions.LIGHT_WORDS):
        for phrases in words.values():
            yield from phrases
    for words in (captions.LAND_WORDS, captions.TIME_WORDS, captions.PLACE_WORDS):
        for phrases, tags in words.values():
            yield from phrases
            yield from tags
    yield from captions.LEADS
    yield from captions.FILLERS
    # What `captions` writes between the phrases, and for an object or a light without a word.
    yield from ("a", "an", "the", "one", "in", "something", "no sun", "sun", "moon", "stars")


def main() -> None:
    """Write the words to their file, one in a line."""
    FILE.write_text("".join(f"{word}\n" for word in vocabulary()), encoding="utf-8")


if __name__ == "__main__":
    main()
