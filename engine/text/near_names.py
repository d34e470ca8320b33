"""Words of a prompt that were probably meant to be names of embeddings, but for a slip of a key."""

import re
from functools import lru_cache
from typing import NamedTuple

from engine.text.tokenizers import ClipTokenizer

_WORD = re.compile(r"[^\s,()\[\]{}|<>:\"\\]+")
# Marks beside a word that are none of its own.
_MARKS = ".;!?"
# Shorter words are near to too many others.
_LEAST_CHARACTERS = 5
# Words of at least so many characters may differ in two places, shorter ones in one.
_LONG = 9
_MOST_WORDS = 400


class NearName(NamedTuple):
    """A word from character `position` on, and the name that it is nearly."""

    position: int
    word: str
    name: str


def near_names(text: str, names: tuple[str, ...], tokenizer: ClipTokenizer) -> list[NearName]:
    """Return the words that are no name, but nearly one.

    Words that CLIP's vocabulary has whole are meant as themselves: "details" is no "detail".
    """
    if not names:
        return []
    found: list[NearName] = []
    for number, match in enumerate(_WORD.finditer(text)):
        start = match.start() + len(match[0]) - len(match[0].lstrip(_MARKS))
        word = match[0].strip(_MARKS)
        if number >= _MOST_WORDS:
            break
        if len(word) < _LEAST_CHARACTERS or _is_whole(word.casefold(), tokenizer):
            continue
        name = _nearest(word.casefold(), names)
        if name:
            found.append(NearName(start, word, name))
    return found


def _is_whole(word: str, tokenizer: ClipTokenizer) -> bool:
    return len(tokenizer.encode(word)) < 2


# While somebody types only one word changes from one check to the next.
@lru_cache(maxsize=1024)
def _nearest(word: str, names: tuple[str, ...]) -> str:
    """Return the name with the fewest slips; empty if a name is the word, or none is near."""
    allowed = 2 if len(word) >= _LONG else 1
    best, fewest = "", allowed + 1
    listed = _listed(names)
    if word in listed.words:
        return ""
    letters = _letters(word)
    for name, folded, its in listed.names:
        # A changed letter may take one kind of letter away and bring another.
        if (letters ^ its).bit_count() > 2 * (fewest - 1):
            continue
        if abs(len(folded) - len(word)) >= fewest:
            continue
        slips = _slips(word, folded, fewest - 1)
        if slips < fewest:
            best, fewest = name, slips
    return best


class _Listed(NamedTuple):
    """Names with themselves in lower case and their letters; and all words in them."""

    names: tuple[tuple[str, str, int], ...]
    words: frozenset[str]


@lru_cache(maxsize=2)
def _listed(names: tuple[str, ...]) -> _Listed:
    folded = [name.casefold() for name in names]
    # A name of several words is found by the word in it, which is then no slip.
    words = frozenset(word for name in folded for word in (name, *name.split()))
    every = tuple(
        (name, spelled, _letters(spelled)) for name, spelled in zip(names, folded, strict=True)
    )
    return _Listed(every, words)


def _letters(word: str) -> int:
    """Return the kinds of letters of a word, a bit each; different letters may share one."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) % 64)
    return bits


def _slips(word: str, other: str, most: int) -> int:
    """Return the letters that are missing, added, changed or swapped; `most` + 1 if more.

    The optimal string alignment distance.
    """
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(word, 1):
        present = [row]
        for column, its in enumerate(other, 1):
            cost = min(last[column] + 1, present[-1] + 1, last[column - 1] + (letter != its))
            is_swap = (
                row > 1 and column > 1 and letter == other[column - 2] and word[row - 2] == its
            )
            present.append(min(cost, before_last[column - 2] + 1) if is_swap else cost)
        if min(present) > most:
            return most + 1
        before_last, last = last, present
    return min(last[-1], most + 1)
