r"""The attention grammars of prompts: which words count more.

Two dialects that read the same text differently, so a picture's convention selects one:

- `parse_attention`, AUTOMATIC1111's: `(x)` times 1.1, `[x]` divided by 1.1, `(x:1.3)` times 1.3,
  nested weights multiply, `\( \) \[ \] \\` are literal, `BREAK` starts a new chunk of tokens;
- `parse_attention_comfy`, ComfyUI's: only round brackets, and `(x:1.3)` sets the weight.

Both take any text, in time linear in its length and without recursion. Behaviour follows
AUTOMATIC1111's `modules/prompt_parser.py` and ComfyUI's `comfy/sd1_clip.py`, oddities included:
pictures depend on it.
"""

import math
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from operator import attrgetter
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class WeightedText:
    """A piece of a prompt and how much it counts, within plus or minus `MAX_WEIGHT`."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Break:
    """The word BREAK: the rest of the chunk stays empty and the text goes on in a new one."""


PromptPart = WeightedText | Break

# No picture is meant beyond this; it keeps float32 arithmetic on embeddings finite.
MAX_WEIGHT = 1e6

_ROUND_MULTIPLIER = 1.1
_SQUARE_MULTIPLIER = 1 / 1.1
# Products of up to this many brackets are multiplied in AUTOMATIC1111's order, to the last bit,
# because equal weights join neighbouring texts. Deeper nesting takes the running product, which
# keeps the whole linear.
_EXACT_DEPTH = 12

_TOKEN = re.compile(r"\\[()\[\]\\]?|[()\[\]]|:([+-]?[.\d]+)\)|[^\\()\[\]:]+|:")
_BREAK_WORD = re.compile(r"\bBREAK\b")
# How AUTOMATIC1111 carries BREAK among its texts; a bracket around it changes the weight and so
# makes it a word.
_BREAK_ITEM = ("BREAK", -1.0)


@dataclass(slots=True)
class _Bracket:
    """A pair of brackets around the items `start` to `end`; `order` is when it multiplies them."""

    start: int
    square: bool
    end: int = 0
    multiplier: float = 1.0
    order: int = 0


@dataclass(slots=True)
class _Scan:
    """Texts with the weight they start from, and the brackets around them in order of opening."""

    items: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    brackets: list[_Bracket] = field(default_factory=list[_Bracket])
    closed: int = 0

    def open(self, stack: list[_Bracket], *, square: bool = False) -> None:
        bracket = _Bracket(start=len(self.items), square=square)
        self.brackets.append(bracket)
        stack.append(bracket)

    def close(self, bracket: _Bracket, multiplier: float) -> None:
        bracket.end = len(self.items)
        bracket.multiplier = multiplier
        bracket.order = self.closed
        self.closed += 1

    def add_text(self, text: str) -> None:
        """Append a text, split at each BREAK, which takes the white space around it with it."""
        begin = 0
        for word in _BREAK_WORD.finditer(text):
            before = text[begin : word.start()].rstrip()
            self.items.append((before.lstrip() if begin else before, 1.0))
            self.items.append(_BREAK_ITEM)
            begin = word.end()
        self.items.append((text[begin:].lstrip() if begin else text, 1.0))


def parse_attention(text: str) -> tuple[PromptPart, ...]:
    """Split a prompt by AUTOMATIC1111's grammar; neighbours of equal weight are joined.

    An unclosed bracket reaches to the end, an unopened one is text. Always at least one part.
    """
    scan = _scan_a1111(text)
    parts: list[PromptPart] = []
    run: list[str] = []
    run_weight = 1.0
    for (item, base), product in zip(scan.items, _products(scan), strict=True):
        weight = base * product
        if run and weight != run_weight:
            parts.append(_part("".join(run), run_weight))
            run = []
        run.append(item)
        run_weight = weight
    parts.append(_part("".join(run), run_weight))
    return tuple(parts)


def _part(text: str, weight: float) -> PromptPart:
    return Break() if (text, weight) == _BREAK_ITEM else WeightedText(text, weight)


def _scan_a1111(text: str) -> _Scan:
    scan = _Scan()
    rounds: list[_Bracket] = []
    squares: list[_Bracket] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token[0] == "\\":
            scan.items.append((token[1:], 1.0))
        elif token == "(":
            scan.open(rounds)
        elif token == "[":
            scan.open(squares, square=True)
        elif token == "]" and squares:
            scan.close(squares.pop(), _SQUARE_MULTIPLIER)
        elif token[-1] == ")" and rounds:
            multiplier = _multiplier(match[1])
            if multiplier is None:
                # ":1.2.3)" is no number: an error in AUTOMATIC1111, text here.
                scan.add_text(token[:-1])
            scan.close(rounds.pop(), _ROUND_MULTIPLIER if multiplier is None else multiplier)
        else:
            scan.add_text(token)
    for bracket in rounds:
        scan.close(bracket, _ROUND_MULTIPLIER)
    for bracket in squares:
        scan.close(bracket, _SQUARE_MULTIPLIER)
    return scan


def _multiplier(digits: str | None) -> float | None:
    """The factor after a colon, 1.1 where there is none, None where it is no number."""
    if digits is None:
        return _ROUND_MULTIPLIER
    try:
        return _clamp(float(digits))
    except ValueError:
        return None


def _clamp(weight: float) -> float:
    return max(-MAX_WEIGHT, min(weight, MAX_WEIGHT))


_ORDER = attrgetter("order")


class _Open(NamedTuple):
    """A bracket around the current item, and the product of it and those of its kind around it."""

    bracket: _Bracket
    running: float


def _products(scan: _Scan) -> Iterator[float]:
    """Yield, for each item, the product of the brackets around it.

    Round and square brackets nest among themselves but may cross each other, as in `(a [b) c]`.
    """
    rounds: list[_Open] = []
    squares: list[_Open] = []
    following = 0
    product = 1.0
    for position in range(len(scan.items)):
        changed = False
        for stack in (rounds, squares):
            while stack and stack[-1].bracket.end <= position:
                stack.pop()
                changed = True
        while following < len(scan.brackets) and scan.brackets[following].start == position:
            bracket = scan.brackets[following]
            following += 1
            if bracket.end > position:
                stack = squares if bracket.square else rounds
                around = stack[-1].running if stack else 1.0
                stack.append(_Open(bracket, _clamp(around * bracket.multiplier)))
                changed = True
        if changed:
            product = _product(rounds, squares)
        yield product


def _product(rounds: Sequence[_Open], squares: Sequence[_Open]) -> float:
    if len(rounds) + len(squares) > _EXACT_DEPTH:
        outer = (stack[-1].running for stack in (rounds, squares) if stack)
        return _clamp(math.prod(outer))
    applied = [item.bracket for item in (*rounds, *squares)]
    applied.sort(key=_ORDER)
    product = 1.0
    for bracket in applied:
        product *= bracket.multiplier
    return _clamp(product)


_PAREN = re.compile(r"\\[()]|[()]")
_ESCAPED_PAREN = re.compile(r"\\([()])")


class _EdgeKind(Enum):
    OPEN = auto()
    CLOSE = auto()
    CUT = auto()


class _Edge(NamedTuple):
    """Where a piece of text ends and the next resumes; an opening edge may set the weight."""

    kind: _EdgeKind
    text_end: int
    resume: int
    weight: float | None = None


class _Group(NamedTuple):
    """Brackets at `start` and `end`; their text stops at `text_end`, before colon and weight."""

    start: int
    end: int
    text_end: int
    weight: float | None


def parse_attention_comfy(text: str) -> tuple[WeightedText, ...]:
    r"""Split a prompt by ComfyUI's grammar. Always at least one part.

    `(x)` multiplies by 1.1, `(x:w)` sets w whatever surrounds it, only `\(` and `\)` are escapes.
    An unclosed bracket is text, unless the prompt ends in a closing one.
    """
    parts: list[WeightedText] = []
    around: list[float] = []
    weight = 1.0
    cursor = 0
    for edge in (*_edges(text), _Edge(_EdgeKind.CUT, len(text), len(text))):
        if edge.text_end > cursor:
            piece = _ESCAPED_PAREN.sub(r"\1", text[cursor : edge.text_end])
            parts.append(WeightedText(piece, weight))
        cursor = edge.resume
        if edge.kind is _EdgeKind.OPEN:
            around.append(weight)
            weight = _clamp(weight * _ROUND_MULTIPLIER) if edge.weight is None else edge.weight
        elif edge.kind is _EdgeKind.CLOSE:
            weight = around.pop()
    return tuple(parts) or (WeightedText("", 1.0),)


def _edges(text: str) -> list[_Edge]:
    """All edges of a prompt in order of position."""
    groups, unclosed = _groups(text)
    edges = {unclosed: _Edge(_EdgeKind.CUT, unclosed, unclosed)}
    for group in groups:
        edges[group.start] = _Edge(_EdgeKind.OPEN, group.start, group.start + 1, group.weight)
        edges[group.end] = _Edge(_EdgeKind.CLOSE, group.text_end, group.end + 1)
    return [edge for _, edge in sorted(edges.items())]


def _groups(text: str) -> tuple[list[_Group], int]:
    """The brackets that group, and from where on an unclosed bracket makes all plain text.

    ComfyUI takes the first unclosed bracket and the last character of the text, if that closes one,
    for a pair; the bracket that this robs of its partner is then unclosed in turn, and so on
    inwards.
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
    """The opening bracket of a closing one, and the end of the bracket before the latter."""

    start: int
    number_from: int


def _match_parens(text: str) -> tuple[dict[int, _Pair], deque[int]]:
    """Pairs by the position of the closing bracket, and the positions of the unclosed, in order.

    A `)` too many makes itself and the next `(` text, as it takes ComfyUI's depth below zero.
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
    """Read the weight of a group, if it ends in a colon and a number that is not alone."""
    colon = text.rfind(":", max(start + 2, number_from), end)
    if colon >= 0:
        try:
            weight = float(text[colon + 1 : end])
        except ValueError:
            weight = math.nan
        # ComfyUI would take "nan" and "inf" for weights; they make no picture.
        if math.isfinite(weight):
            return _Group(start, end, colon, _clamp(weight))
    return _Group(start, end, end, None)
