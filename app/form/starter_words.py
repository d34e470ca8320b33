"""Words of a prompt that the starter was never trained on, which mean nothing to it."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

import msgspec

# Tags of networks, names of wildcards and of embeddings: they are not drawn as words. At the end
# one may still be written.
_NO_WORDS = re.compile(
    r"<[^<>]*>|<\w+:[^<>\n]*$|__(?:(?!__)[\w\-./ ])+__|__(?:(?!__)[\w\-./])*$|embedding:\S+"
)
_WORD = re.compile(r"[^\W\d_]+")
# Beyond these the sentence says nothing more, and a long text takes no longer.
_MOST = 50


class UnknownWord(msgspec.Struct, frozen=True):
    """A word that the starter does not know, from character `position` on, counted from 0."""

    word: str
    position: int


def unknown_words(prompt: str) -> tuple[UnknownWord, ...]:
    """Return the first words of a prompt that are in no caption of the starter, in their order."""
    found: list[UnknownWord] = []
    for word in _words(prompt):
        if word.word.casefold() not in _known():
            found.append(word)
            if len(found) == _MOST:
                break
    return tuple(found)


def _words(prompt: str) -> Iterator[UnknownWord]:
    masked = _NO_WORDS.sub(lambda tag: " " * len(tag[0]), prompt)
    for match in _WORD.finditer(masked):
        yield UnknownWord(match[0], match.start())


@cache
def _known() -> frozenset[str]:
    return frozenset((resources.files("starter") / "words.txt").read_text(encoding="utf-8").split())
