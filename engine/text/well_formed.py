"""Texts as the tokenizers library takes them, and the places of what it makes of them."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

_SLICE = 16_384
_SEAM_IDS = 8
_LAST_OF_TWO_BYTES = 0xFFFF


def well_formed(text: str) -> str:
    """Return a text with U+FFFD in place of each lone surrogate.

    Python represents command lines that are not UTF-8 by them, and the library refuses them.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def places_in(
    text: str, formed: str, starts: Sequence[int], indices: Sequence[int]
) -> list[int | None]:
    """Return the position in `text` of each of these ids; None beyond the last.

    `starts` are the positions of all ids in `formed`, which is `well_formed(text)`: two surrogate
    halves in `text` are one character there.
    """
    units = list(_utf16_places(formed))
    places = list(_utf16_places(text)) if len(text) != len(formed) else units
    return [
        bisect_left(places, units[starts[index]]) if index < len(starts) else None
        for index in indices
    ]


def _utf16_places(text: str) -> Iterator[int]:
    """Yield the number of UTF-16 units before each character and before the end."""
    return accumulate((1 + (ord(c) > _LAST_OF_TWO_BYTES) for c in text), initial=0)


def encode_up_to(encode: Callable[[str], list[int]], text: str, limit: int) -> list[int]:
    """Encode a text, but stop early on a long text once it has more than `limit` ids.

    After an early stop the ids may be wrong: only their excessive number matters.
    """
    if len(text) <= _SLICE:
        return encode(text)
    found: list[int] = []
    for start in range(0, len(text), _SLICE):
        found += encode(text[start : start + _SLICE])
        # A word cut at the end of a slice may give a few ids too many.
        if len(found) > limit + _SEAM_IDS * (1 + start // _SLICE):
            return found
    return encode(text)
