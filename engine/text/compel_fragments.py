r"""The inner part of compel's grammar: words, brackets, quotes, and operators after them.

A fragment is a word, or fragments in round brackets or double quotes. `+`, `++`, `-`, a number or
`.attend(...)` after it sets its weight, `.swap(...)` its replacement. compel parses by trial
(pyparsing, `compel/prompt_parser.py`), which takes exponential time in the depth of brackets; here
each bracket is read once for each of its two meanings, without recursion, so that the time is
linear.
"""

import re
from enum import Enum, auto

import msgspec

from engine.text.prompt import clamp_weight
from engine.text.tags import NetworkTag

_PLUS_BASE, _MINUS_BASE = 1.1, 0.9
_SPACES = r"[ \t\r\n\v\f]*"
NUMBER = r"(?:[+-]?(?:\d+\.\d*|\.\d+)|-?[0-9]+)"
_KEYWORD = r"[A-Za-z0-9_-]+"
_OPTION = rf"(?>{_KEYWORD}{_SPACES}={_SPACES}(?>{NUMBER}|{_KEYWORD})|{NUMBER}|{_KEYWORD})"
OPTIONS = rf"(?:{_OPTION}(?:{_SPACES},{_SPACES}{_OPTION})*+)?+"

_BLANK = re.compile(_SPACES)
_WORD = re.compile(
    r"""(?:\\[()",.+\-=]|[-+](?![ \t\r\n()",.+\-=]|\Z)|[^ \t\r\n\v\f()",.+\-=])++""",
)
_FREE_WORD = re.compile(r"[^ \t\r\n\v\f]+")
_LORA = re.compile(
    rf"(?:useLora|withLora){_SPACES}\({_SPACES}({_KEYWORD}){_SPACES}"
    rf"(?:,{_SPACES}({NUMBER}){_SPACES})?\)"
)
_ATTEND = re.compile(rf"{_SPACES}\.attend{_SPACES}\({_SPACES}(\++|-+|{NUMBER}){_SPACES}\)")
_GLUED = re.compile(rf"\++|-+|{NUMBER}")
_GLUED_TO_WORD = re.compile(r"\++|-+")
_SWAP = re.compile(rf"{_SPACES}\.swap{_SPACES}\(")
_SWAP_END = re.compile(rf"(?:,{_SPACES}{OPTIONS}{_SPACES})?\)")
_QUOTE_END = re.compile(r'[\n\r]|(?<!\\)"')
_CONTROL = re.compile(r"\\([tnfr])")


class Weighted(msgspec.Struct, frozen=True):
    """Fragments, and a factor on their weights."""

    items: list["Item"]
    weight: float


class Swapped(msgspec.Struct, frozen=True):
    """Fragments that compel would replace during the run; InvokeAI keeps them."""

    items: list["Item"]


Item = str | Weighted | Swapped | NetworkTag


class Found(msgspec.Struct, frozen=True):
    """Parsed fragments, and the position after them."""

    items: list[Item]
    end: int


class _Kind(Enum):
    BRACKET = auto()  # ends at a closing bracket
    REPLACEMENT = auto()  # the argument of .swap: no commas or periods; ends after its bracket
    QUOTE = auto()  # ends at the end of the text


class _Frame(msgspec.Struct):
    """A run of fragments that is being read; `start` is after its opening character."""

    start: int
    kind: _Kind
    position: int
    items: list[Item] = msgspec.field(default_factory=list[Item])


_Key = tuple[int, _Kind]


class Fragments:
    """A reader of the fragments of one text, which caches the result for each bracket."""

    def __init__(self, text: str) -> None:
        """Create a reader of `text`, a whole prompt or the text between two quotes."""
        self.text = text
        self._known: dict[_Key, Found | None] = {}
        self._quotes: dict[int, Found | None] = {}

    def skip_blank(self, position: int) -> int:
        """Return the position of the next character that is not white space."""
        match = _BLANK.match(self.text, position)
        return match.end() if match else position

    def prompt(self, position: int = 0) -> list[Item]:
        """Read all fragments to the end; any other text is split into words at spaces."""
        items: list[Item] = []
        while (position := self.skip_blank(position)) < len(self.text):
            found = self._item(position) or self._free_word(position)
            items.extend(found.items)
            position = found.end
        return items

    def lora(self, position: int) -> Found | None:
        """Read a `withLora(name, weight)` at this position."""
        match = _LORA.match(self.text, position)
        if match is None:
            return None
        arguments = (match[1],) if match[2] is None else (match[1], match[2])
        return Found([NetworkTag("lora", arguments, position)], match.end())

    def target(self, position: int) -> Found | None:
        """Read a quote, bracket or word without its operator."""
        match self.text[position : position + 1]:
            case '"':
                return self.quoted(position)
            case "(":
                found = self._resolved(position + 1, _Kind.BRACKET)
                # Not copied into the outer list, which would take quadratic time.
                return found and Found(
                    [Weighted(found.items, 1.0)] if found.items else [], found.end
                )
            case _:
                word = _WORD.match(self.text, position)
                return word and Found([word[0]], word.end())

    def quoted(self, position: int, *, loosely: bool = False) -> Found | None:
        """Read fragments in double quotes at this position; with `loosely`, any text in them."""
        content = self._content(position)
        if content is None:
            return None
        end = position + len(content) + 2
        inner = Fragments(_CONTROL.sub(" ", content))
        if loosely:
            return Found(inner.prompt() or [""], end)
        if position not in self._quotes:
            found = inner._resolved(0, _Kind.QUOTE)
            self._quotes[position] = found and Found(found.items or [""], end)
        return self._quotes[position]

    def _content(self, position: int) -> str | None:
        """Return the text between quotes, None if they do not close.

        An escaped quote ends the text only if no other quote does.
        """
        if self.text[position : position + 1] != '"':
            return None
        stop = _QUOTE_END.search(self.text, position + 1)
        end = stop.start() if stop else len(self.text)
        if stop is None or stop[0] != '"':
            end = self.text.rfind('"', position + 1, end)
        return self.text[position + 1 : end] if end >= 0 else None

    def _free_word(self, position: int) -> Found:
        word = _FREE_WORD.match(self.text, position)
        end = word.end() if word else len(self.text)
        return Found([self.text[position:end]], end)

    def _item(self, position: int) -> Found | None:
        """Read a fragment of a prompt at this position, with its operator."""
        lora = self.lora(position)
        if lora is not None:
            return lora
        target = self.target(position)
        if target is None:
            return None
        swap = _SWAP.match(self.text, target.end)
        if swap is not None:
            self._resolved(swap.end(), _Kind.REPLACEMENT)
        found = self._followed(position, target)
        is_word = self.text[position] not in '"('
        return None if is_word and found is target else found

    def _followed(self, position: int, target: Found) -> Found:
        """Read the operator after a target; the brackets in it must be in the cache already."""
        glued = _GLUED if self.text[position] in '"(' else _GLUED_TO_WORD
        operator = _ATTEND.match(self.text, target.end)
        if operator is not None:
            return Found([Weighted(target.items, _weight(operator[1]))], operator.end())
        operator = glued.match(self.text, target.end)
        if operator is not None:
            return Found([Weighted(target.items, _weight(operator[0]))], operator.end())
        swap = _SWAP.match(self.text, target.end)
        replacement = self._known[swap.end(), _Kind.REPLACEMENT] if swap else None
        if replacement is not None:
            return Found([Swapped(target.items or [""])], replacement.end)
        return target

    def _resolved(self, start: int, kind: _Kind) -> Found | None:
        """Read fragments from `start` to the end that `kind` requires; None without such an end."""
        frames: list[_Frame] = []
        wanted: _Key | None = (start, kind)
        if wanted in self._known:
            return self._known[wanted]
        while wanted is not None or frames:
            if wanted is not None:
                frames.append(_Frame(*wanted, position=wanted[0]))
            frame = frames[-1]
            wanted = self._advance(frame)
            if wanted is None:
                self._known[frame.start, frame.kind] = self._ended(frame)
                frames.pop()
        return self._known[start, kind]

    def _advance(self, frame: _Frame) -> _Key | None:
        """Read a frame's fragments; return the key of a bracket to resolve first, else None."""
        frame.position = self.skip_blank(frame.position)
        while frame.position < len(self.text):
            found = self._fragment(frame.position, frame.kind)
            if not isinstance(found, Found):
                return found
            frame.items.extend(found.items)
            frame.position = self.skip_blank(found.end)
        return None

    def _fragment(self, position: int, kind: _Kind) -> Found | _Key | None:
        """Return a fragment with its operator, the key of a bracket to resolve first, or None."""
        wanted = (position + 1, _Kind.BRACKET)
        if self.text[position] == "(" and wanted not in self._known:
            return wanted
        lora = self.lora(position)
        if lora is not None:
            return lora
        target = self.target(position)
        if target is None:
            is_mark = self.text[position] in ",." and kind is not _Kind.REPLACEMENT
            return Found([self.text[position]], position + 1) if is_mark else None
        swap = _SWAP.match(self.text, target.end)
        if swap is not None and (swap.end(), _Kind.REPLACEMENT) not in self._known:
            return swap.end(), _Kind.REPLACEMENT
        return self._followed(position, target)

    def _ended(self, frame: _Frame) -> Found | None:
        """Return a frame's fragments; None if it does not end as its kind requires."""
        text, position = self.text, frame.position
        match frame.kind:
            case _Kind.QUOTE:
                return Found(frame.items, position) if position == len(text) else None
            case _Kind.BRACKET:
                closed = text[position : position + 1] == ")"
                return Found(frame.items, position + 1) if closed else None
            case _Kind.REPLACEMENT:
                end = _SWAP_END.match(text, position)
                return Found(frame.items, end.end()) if end else None


def _weight(operator: str) -> float:
    if operator.strip("+-"):
        return clamp_weight(float(operator))
    base = _PLUS_BASE if operator[0] == "+" else _MINUS_BASE
    # A larger power is clamped anyway, and Python would raise an overflow error.
    return clamp_weight(base ** min(len(operator), 1000))
