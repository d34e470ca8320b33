r"""Words drawn by a seed: `__name__` from files, `{a|b|c}` from the prompt itself.

`__animals/cats__` becomes a line of `animals/cats.txt` in the wildcards folder; empty lines and
lines that begin with `#` are skipped. `{a|b}` becomes one of its parts, and `{3::a|b}` draws a
three times as often as b; braces without a bar are text. Both nest, also in the lines of files.
`\{`, `\}` and, inside braces, `\|` are the plain characters; `\__` keeps a name unchanged. So does
a tag as `<lora:ink__v2__final:1>`, whose file may be called so, if there is no such list.

The draws are those of `random.Random(seed).random()`, whose values the Python documentation
guarantees for all later versions; one draw per choice, outer before inner, left to right. So a
prompt, a seed and the files always give the same words.
"""

import re
from bisect import bisect, bisect_left
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random

import msgspec

from engine.api.sentences import Sentence, sentence
from engine.file_paths import is_file
from engine.text.prompt_errors import NoListError, PromptError, prompt_error

# The largest numbers of choices and of resulting characters: lines of files may name other files.
_MAX_CHOICES = 10_000
_MAX_CHARACTERS = 1_000_000
_MAX_FILE_BYTES = 4 << 20

_SHORTER = sentence("Shorten the prompt.")
_OTHER_NAME = sentence(
    "Write another name, or add a text file of that name to the folder of wildcards."
)

_NO_CIRCLE = sentence("Take a name out of its own list, or of a list that it names.")

_MARK = re.compile(r"\\(?:__|.)|[{}|]|__", re.DOTALL)
# Characters that a name cannot hold, characters that it cannot begin with, and its possible ends: a
# name ends at the first possible end after its start. Ends are found once and looked up, because a
# search from every start would take quadratic time.
_NO_NAME = re.compile(r"[^\w\-./ ]")
_NO_BEGINNING = re.compile(r"[\s_]")
_NAME_END = re.compile(r"(?<=[^\W_])__")
_ESCAPED = re.compile(r"\\([{}|]|__)")
_ESCAPED_OUTSIDE = re.compile(r"\\([{}]|__)")
# The longest tag that is looked for, so that each name takes a bounded time.
_MOST_TAG = 1000
_TAG = re.compile(rf"<\w{{1,20}}:[^<>]{{1,{_MOST_TAG}}}>")
_WEIGHT = re.compile(r"\s*(\d{1,9}(?:\.\d{1,9})?)::")


class _Choice(msgspec.Struct, frozen=True):
    """Braces with bars: the range and the weight of each part, and the end of the braces."""

    parts: tuple[tuple[int, int], ...]
    weights: tuple[float, ...]
    end: int


class _Source(msgspec.Struct, frozen=True):
    """A text, its choices and wildcard names by start position, and all starts in order."""

    text: str
    choices: dict[int, _Choice]
    names: dict[int, str]
    starts: tuple[int, ...]


class _Range(msgspec.Struct):
    """A part of a source that is still to be expanded.

    `name` is the wildcard whose line the source is, None for the prompt itself.
    """

    source: _Source
    position: int
    end: int
    name: str | None
    in_braces: bool = False


def expand_wildcards(text: str, seed: int, folder: Path | None) -> str:
    """Expand the wildcards of a prompt. `folder` holds the files; None if there are none.

    Raises EngineError(REQUEST_INVALID), with the position of the name, for a file that is missing,
    has no lines or refers back to itself, and for a result that is too long.
    """
    return _Expansion(text, Random(seed), folder).result()


class _Expansion(msgspec.Struct):
    text: str
    random: Random
    folder: Path | None
    written: list[str] = msgspec.field(default_factory=list[str])
    length: int = 0
    drawn: int = 0
    stack: list[_Range] = msgspec.field(default_factory=list[_Range])
    lines: dict[str, tuple[_Source, ...]] = msgspec.field(
        default_factory=dict[str, tuple[_Source, ...]]
    )

    def result(self) -> str:
        self.stack.append(_Range(_read(self.text), 0, len(self.text), None))
        while self.stack:
            self._advance(self.stack[-1])
        return "".join(self.written)

    def _advance(self, current: _Range) -> None:
        """Write the range up to its next choice or name, draw, and push the result on the stack."""
        source = current.source
        following = bisect(source.starts, current.position - 1)
        start = source.starts[following] if following < len(source.starts) else current.end
        self._write(current, min(start, current.end))
        if start >= current.end:
            self.stack.pop()
            return
        self.drawn += 1
        if self.drawn > _MAX_CHOICES:
            raise self._error(
                sentence(
                    "more than {max_choices:,} words would be drawn", max_choices=_MAX_CHOICES
                ),
                hint=_SHORTER,
            )
        choice = source.choices.get(start)
        if choice is not None:
            current.position = choice.end
            begin, end = choice.parts[self._draw(choice.weights)]
            self.stack.append(_Range(source, begin, end, current.name, in_braces=True))
            return
        name = source.names[start]
        lines, end = self._lines(name, current, start), start + len(name) + 4
        if not lines:
            self._write(current, end)
            return
        current.position = end
        line = lines[int(self.random.random() * len(lines))]
        self.stack.append(_Range(line, 0, len(line.text), name))

    def _write(self, current: _Range, end: int) -> None:
        escaped = _ESCAPED if current.in_braces else _ESCAPED_OUTSIDE
        piece = escaped.sub(r"\1", current.source.text[current.position : end])
        self.length += len(piece)
        if self.length > _MAX_CHARACTERS:
            raise self._error(sentence("the prompt becomes too long"), hint=_SHORTER)
        self.written.append(piece)
        current.position = end

    def _draw(self, weights: tuple[float, ...]) -> int:
        sums = list(accumulate(weights))
        if not sums[-1]:
            return int(self.random.random() * len(sums))
        return bisect(sums, self.random.random() * sums[-1])

    def _lines(self, name: str, current: _Range, start: int) -> tuple[_Source, ...]:
        """Return the lines of a list; none within a tag where there is no such list."""
        if any(above.name == name for above in self.stack):
            raise self._error(
                sentence("the wildcard {name} leads back to itself", name=name),
                current,
                start,
                _NO_CIRCLE,
            )
        if name not in self.lines:
            lines = _read_lines(self.folder, name)
            if not lines and _is_in_tag(current.source.text, start):
                return ()
            if not lines:
                problem = sentence('there is no list called "{name}"', name=name)
                if self.folder is not None and is_file(self.folder):
                    problem = sentence(
                        'there is no list called "{name}", because {folder}, where they are looked '
                        "for, is a file",
                        name=name,
                        folder=self.folder,
                    )
                error = self._error(problem, current, start)
                raise NoListError(error.position, error.text, error.advice, name)
            self.lines[name] = tuple(map(_read, lines))
        return self.lines[name]

    def _error(
        self,
        problem: Sentence,
        current: _Range | None = None,
        start: int = 0,
        hint: Sentence = _OTHER_NAME,
    ) -> PromptError:
        """Return an error at position `start` of the prompt.

        For a name inside a file, the position is the prompt's own name that led to the file.
        """
        outer = self.stack[0].source
        position = start
        if current is None or current.source is not outer:
            # The range has advanced past the name that led here.
            inmost = next(r for r in reversed(self.stack) if r.source is outer)
            before = bisect(outer.starts, inmost.position - 1)
            position = outer.starts[before - 1] if before else 0
        return prompt_error(self.text, position, problem, hint)


def _read(text: str) -> _Source:
    """Find the choices and names of a text, without recursion."""
    choices: dict[int, _Choice] = {}
    names: dict[int, str] = {}
    opened: list[list[int]] = []
    for match in _marks(text, names):
        match match[0]:
            case "{":
                opened.append([match.start()])
            case "|" if opened:
                opened[-1].append(match.start())
            case "}" if opened:
                edges = [*opened.pop(), match.start()]
                if len(edges) > 2:
                    choices[edges[0]] = _choice(text, edges)
            case _:
                pass
    return _Source(text, choices, names, tuple(sorted([*choices, *names])))


def _marks(text: str, names: dict[int, str]) -> Iterator[re.Match[str]]:
    """Yield escapes, braces and bars in order; add names to `names` by their start."""
    name_at = _Names(text)
    position = 0
    while (match := _MARK.search(text, position)) is not None:
        position = match.end()
        if match[0] != "__":
            yield match
        elif name := name_at(position):
            names[match.start()] = name
            position += len(name) + 2
        else:  # the second underscore may begin another mark
            position -= 1


def _is_in_tag(text: str, place: int) -> bool:
    """Tell whether a place is within a tag as `<lora:name:1>`."""
    start = text.rfind("<", max(0, place - _MOST_TAG), place)
    tag = _TAG.match(text, start) if start >= 0 else None
    return tag is not None and place < tag.end()


class _Names:
    """A finder of names between `__` and `__` in one text, with a precomputed list of ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [match.start() for match in _NAME_END.finditer(text)]
        self._breaks = [match.start() for match in _NO_NAME.finditer(text)]

    def __call__(self, start: int) -> str:
        """Return the name that begins at `start`; empty if there is none."""
        following = bisect(self._ends, start)
        if following == len(self._ends) or _NO_BEGINNING.match(self._text, start):
            return ""
        end = self._ends[following]
        broken = bisect_left(self._breaks, start)
        if broken < len(self._breaks) and self._breaks[broken] < end:
            return ""
        return self._text[start:end]


def _choice(text: str, edges: list[int]) -> _Choice:
    parts: list[tuple[int, int]] = []
    weights: list[float] = []
    for before, end in pairwise(edges):
        weight = _WEIGHT.match(text, before + 1, end)
        parts.append((weight.end() if weight else before + 1, end))
        weights.append(float(weight[1]) if weight else 1.0)
    return _Choice(tuple(parts), tuple(weights), edges[-1] + 1)


def _read_lines(folder: Path | None, name: str) -> list[str]:
    """Return the lines of a wildcard's file; an empty list if it cannot be read."""
    # The name must not refer to a file outside the folder.
    if folder is None or name.startswith("/") or ".." in name.split("/"):
        return []
    try:
        with (folder / f"{name}.txt").open("rb") as file:
            content = file.read(_MAX_FILE_BYTES)
    except (OSError, ValueError):
        return []
    lines = content.decode("utf-8-sig", "replace").splitlines()
    stripped = (line.strip() for line in lines)
    return [line for line in stripped if line and not line.startswith("#")]
