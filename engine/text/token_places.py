"""The places of a text's tokens, where whatever makes the tokens does not tell them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

Tokens = Callable[[str], Sequence[object]]

# A segment ends at white space, unless a word is long.
_SEGMENT = re.compile(r".{1,100}\S{0,100}\s*", re.DOTALL)
# Longer pieces, which only texts without words have, take too long to search.
_MOST_SEARCHED = 4096


def token_places(text: str, indices: Sequence[int], tokens_of: Tokens) -> list[int | None]:
    """Return the position of each of these tokens of `tokens_of(text)`, in their order.

    None stands for a token beyond the last, and for one in a long piece without words.
    """
    whole = list(tokens_of(text))
    pieces = _pieces(text, whole, tokens_of)
    places: list[int | None] = []
    for index in indices:
        number = bisect_right(pieces, index, key=lambda piece: piece[0]) - 1
        first, start, end = pieces[number]
        if index < len(whole) and end - start <= _MOST_SEARCHED:
            places.append(start + _place_after(text[start:end], whole[first:index], tokens_of))
        else:
            places.append(None)
    return places


def _pieces(text: str, whole: list[object], tokens_of: Tokens) -> list[tuple[int, int, int]]:
    """Return pieces whose tokens are the text's: the number of the first token, start and end."""
    ends = [found.end() for found in _SEGMENT.finditer(text)]
    pieces: list[tuple[int, int, int]] = []
    first = start = number = 0
    while number < len(ends):
        taken = 1
        # Where a word of several segments would have other tokens, they are one piece.
        while True:
            last = min(number + taken, len(ends)) - 1
            tokens = list(tokens_of(text[start : ends[last]]))
            if last == len(ends) - 1 or whole[first : first + len(tokens)] == tokens:
                break
            taken *= 2
        pieces.append((first, start, ends[last]))
        first, start, number = first + len(tokens), ends[last], last + 1
    return pieces or [(0, 0, 0)]


def _place_after(text: str, before: list[object], tokens_of: Tokens) -> int:
    """Return the position of the token after these, by bisection over the text's beginnings."""

    def is_behind(end: int) -> bool:
        tokens = list(tokens_of(text[:end]))
        return len(tokens) > len(before) and tokens[: len(before)] == before

    return bisect_left(range(len(text)), True, key=is_behind) - 1
