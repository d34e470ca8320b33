r"""ComfyUI's attention grammar: the weights of words.

Only round brackets: `(x)` multiplies by 1.1, `(x:1.3)` sets the weight, `\(` and `\)` are literal.
Takes any text, in time linear in its length and without recursion. Behaviour follows
`comfy/sd1_clip.py` (`token_weights`), oddities included: pictures depend on it.
"""

import math
import re
from collections import deque
from enum import Enum, auto
from typing import NamedTuple

from engine.text.prompt import WeightedText, clamp_weight

_ROUND_MULTIPLIER = 1.1
_PAREN = re.compile(r"\\[()]|[()]")
# ComfyUI temporarily replaces an escape by two control characters, so those count as escapes too.
_ESCAPED_PAREN = re.compile(r"\\([()])|\0([\1\2])")
_CONTROL_PAREN = {"\1": ")", "\2": "("}


class _EdgeKind(Enum):
    OPEN = auto()
    CLOSE = auto()
    CUT = auto()


class _Edge(NamedTuple):
    """A boundary between two pieces of text: the first ends at `text_end`, the next at `resume`.

    An opening edge may set the weight.
    """

    kind: _EdgeKind
    text_end: int
    resume: int
    weight: float | None = None


class _Group(NamedTuple):
    """A pair of brackets at `start` and `end`; its text ends at `text_end`, before ":weight"."""

    start: int
    end: int
    text_end: int
    weight: float | None


def parse_attention_comfy(text: str) -> tuple[WeightedText, ...]:
    r"""Split a prompt by ComfyUI's grammar into at least one part.

    `(x)` multiplies by 1.1, `(x:w)` sets w regardless of outer brackets, only `\(` and `\)` are
    escapes. An unclosed bracket is text, unless the prompt ends in a closing one.
    """
    parts: list[WeightedText] = []
    around: list[float] = []
    weight = 1.0
    cursor = 0
    for edge in (*_edges(text), _Edge(_EdgeKind.CUT, len(text), len(text))):
        if edge.text_end > cursor:
            parts.append(WeightedText(without_escapes(text[cursor : edge.text_end]), weight))
        cursor = edge.resume
        if edge.kind is _EdgeKind.OPEN:
            around.append(weight)
            weight = (
                clamp_weight(weight * _ROUND_MULTIPLIER) if edge.weight is None else edge.weight
            )
        elif edge.kind is _EdgeKind.CLOSE:
            weight = around.pop()
    return tuple(parts) or (WeightedText("", 1.0),)


def without_escapes(text: str) -> str:
    """Return a text whose escaped brackets stand for themselves."""
    return _ESCAPED_PAREN.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    return match[1] or _CONTROL_PAREN[match[2]]


def _edges(text: str) -> list[_Edge]:
    """Return all edges of a prompt in order of position."""
    groups, unclosed = _groups(text)
    edges = {unclosed: _Edge(_EdgeKind.CUT, unclosed, unclosed)}
    for group in groups:
        edges[group.start] = _Edge(_EdgeKind.OPEN, group.start, group.start + 1, group.weight)
        edges[group.end] = _Edge(_EdgeKind.CLOSE, group.text_end, group.end + 1)
    return [edge for _, edge in sorted(edges.items())]


def _groups(text: str) -> tuple[list[_Group], int]:
    """Return the groups, and the first unclosed bracket, after which everything is plain text.

    ComfyUI pairs the first unclosed bracket with the last character of the text if that closes a
    bracket; the opening bracket that loses its partner is then unclosed in turn, and so on inwards.
    """
    pairs, unclosed = _match_parens(text)
    groups: list[_Group] = []
    end = len(text)
    while unclosed:
        start = unclosed.popleft()
        if end - 1 not in pairs:
            literal = start
            break
        pair = pairs.pop(end - 1)
        unclosed.append(pair.start)
        groups.append(_group(text, start, end - 1, pair.number_from))
        end = groups[-1].text_end
    else:
        literal = len(text)
    inner = (
        _group(text, pair.start, close, pair.number_from)
        for close, pair in pairs.items()
        if pair.start < literal
    )
    groups.extend(inner)
    return groups, literal


class _Pair(NamedTuple):
    """A closing bracket's opening bracket at `start`.

    `number_from` is the end of the bracket before the closing one: a weight starts after it.
    """

    start: int
    number_from: int


def _match_parens(text: str) -> tuple[dict[int, _Pair], deque[int]]:
    """Match round brackets: pairs by their closing bracket, and the unclosed ones in order.

    A surplus `)` turns itself and the next `(` into text, as ComfyUI's depth falls below zero.
    """
    pairs: dict[int, _Pair] = {}
    opened: list[int] = []
    surplus = 0
    previous_end = 0
    for match in _PAREN.finditer(text):
        position = match.start()
        if match[0] == "(":
            if surplus:
                surplus -= 1
            else:
                opened.append(position)
        elif match[0] == ")":
            if opened:
                pairs[position] = _Pair(opened.pop(), previous_end)
            else:
                surplus += 1
        previous_end = match.end()
    return pairs, deque(opened)


def _group(text: str, start: int, end: int, number_from: int) -> _Group:
    """Return a group with its weight: the number after a final colon that follows some text."""
    colon = text.rfind(":", max(start + 2, number_from), end)
    if colon >= 0:
        try:
            weight = float(text[colon + 1 : end])
        except ValueError:
            weight = math.nan
        # ComfyUI would accept "nan" and "inf" as weights, which give no picture.
        if math.isfinite(weight):
            return _Group(start, end, colon, clamp_weight(weight))
    return _Group(start, end, end, None)
