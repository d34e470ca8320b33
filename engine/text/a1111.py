r"""AUTOMATIC1111's attention grammar: the weights of words.

`(x)` multiplies by 1.1, `[x]` divides by 1.1, `(x:1.3)` multiplies by 1.3, nested weights multiply,
`\( \) \[ \] \\` are literal, `BREAK` starts a new chunk of tokens. Takes any text, in time linear
in its length and without recursion. Behaviour follows `modules/prompt_parser.py`
(`parse_prompt_attention`), oddities included: pictures depend on it.
"""

import math
import re
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

import msgspec

from engine.text.prompt import Break, PromptPart, WeightedText, clamp_weight

_ROUND_MULTIPLIER = 1.1
_SQUARE_MULTIPLIER = 1 / 1.1
# Up to this many brackets are multiplied in AUTOMATIC1111's order, to the last bit, because
# neighbouring texts of equal weight are joined. Deeper nesting uses the running product, which
# keeps the time linear.
_EXACT_DEPTH = 12

_TOKEN = re.compile(r"\\[()\[\]\\]?|[()\[\]]|:\s*([+-]?[.\d]+)\s*\)|[^\\()\[\]:]+|:")
_BREAK_WORD = re.compile(r"\bBREAK\b")
# AUTOMATIC1111's entry for BREAK in its list of texts; a bracket around it changes the weight and
# so turns it into a word.
_BREAK_ITEM = ("BREAK", -1.0)


class _Bracket(msgspec.Struct):
    """A pair of brackets around the items `start` to `end` (exclusive).

    `order` is its place in the order in which the brackets close, from 0.
    """

    start: int
    square: bool
    end: int = 0
    multiplier: float = 1.0
    order: int = 0


class _Scan(msgspec.Struct):
    """The scanned prompt: texts with their initial weights, and brackets in order of opening."""

    items: list[tuple[str, float]] = msgspec.field(default_factory=list[tuple[str, float]])
    brackets: list[_Bracket] = msgspec.field(default_factory=list[_Bracket])
    closed: int = 0
    breaks: bool = True

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
        """Append a text, split at each BREAK together with the white space around it."""
        begin = 0
        for word in _BREAK_WORD.finditer(text) if self.breaks else ():
            before = text[begin : word.start()].rstrip()
            self.items.append((before.lstrip() if begin else before, 1.0))
            self.items.append(_BREAK_ITEM)
            begin = word.end()
        self.items.append((text[begin:].lstrip() if begin else text, 1.0))


def parse_attention(text: str, *, breaks: bool = True) -> tuple[PromptPart, ...]:
    """Split a prompt by AUTOMATIC1111's grammar; neighbours of equal weight are joined.

    An unclosed bracket extends to the end, an unopened one is text. Without `breaks` the word BREAK
    is text, too. Returns at least one part.
    """
    scan = _scan_a1111(text, breaks=breaks)
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


def _scan_a1111(text: str, *, breaks: bool) -> _Scan:
    scan = _Scan(breaks=breaks)
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
                # ":1.2.3)" is not a number: an error in AUTOMATIC1111, text here.
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
    """Return the factor after a colon, 1.1 without one, None if it is not a number."""
    if digits is None:
        return _ROUND_MULTIPLIER
    try:
        return clamp_weight(float(digits))
    except ValueError:
        return None


_ORDER = attrgetter("order")


class _Open(NamedTuple):
    """An open bracket, and the product of the multipliers of all open brackets of its kind."""

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
                stack.append(_Open(bracket, clamp_weight(around * bracket.multiplier)))
                changed = True
        if changed:
            product = _product(rounds, squares)
        yield product


def _product(rounds: Sequence[_Open], squares: Sequence[_Open]) -> float:
    if len(rounds) + len(squares) > _EXACT_DEPTH:
        outer = (stack[-1].running for stack in (rounds, squares) if stack)
        return clamp_weight(math.prod(outer))
    applied = [item.bracket for item in (*rounds, *squares)]
    applied.sort(key=_ORDER)
    product = 1.0
    for bracket in applied:
        product *= bracket.multiplier
    return clamp_weight(product)
