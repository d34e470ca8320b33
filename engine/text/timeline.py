r"""AUTOMATIC1111's prompts that change while the picture is made.

`[from:to:when]`, `[to:when]` and `[from::when]` change the text once, `[a|b]` at every step. They
nest in each other and in attention brackets. Behaviour follows `modules/prompt_parser.py`
(`get_learned_conditioning_prompt_schedules`), whose grammar is ambiguous; this module resolves it
like A1111's parser:

- round and square brackets must nest properly; a bracket that does not, and all brackets around it,
  are text;
- `[...]` with one or two colons changes the text if a number follows the last colon; otherwise this
  bracket and all around it are text; round brackets may hold one colon;
- a `|` outside of `[...]`, or in one that is text, or a backslash at the end of a line makes the
  whole prompt text.
"""

import re
from itertools import pairwise

import msgspec

from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError

_TOKEN = re.compile(r"(?:[^\\\[\]():|]|\\.)+|[\[\]():|\\]")
_WHEN = re.compile(
    r"\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*\Z",
)
# The largest number of changes times tokens: the prompt is expanded once for each change.
_MAX_PIECES = 4_000_000
_CHARACTERS_A_PIECE = 16


class TimedText(msgspec.Struct, frozen=True):
    """A text, and the last evaluation of the denoiser, counted from 0, that uses it."""

    until: int
    text: str


class _Choice(msgspec.Struct, frozen=True):
    """A bracket such as `[a:b:8]` or `[a|b]`, of which one part is used at each step.

    Each part is the tokens between two neighbours in `edges`. `when` is the written time of the
    change from the first part to the second, and None for parts that alternate.
    """

    edges: tuple[int, ...]
    when: str | None = None


class _Frame(msgspec.Struct):
    """An open bracket: the token indices of its start, its colons and its bars."""

    start: int
    colons: list[int] = msgspec.field(default_factory=list[int])
    bars: list[int] = msgspec.field(default_factory=list[int])


class _Reader(msgspec.Struct):
    """A parser of a prompt's tokens; `choices` is keyed by the index of the opening token."""

    tokens: list[str]
    choices: dict[int, _Choice] = msgspec.field(default_factory=dict[int, _Choice])
    frames: list[_Frame] = msgspec.field(default_factory=list[_Frame])

    def read(self) -> bool:
        """Find the brackets that change the text; return False if the whole prompt is text."""
        for position, token in enumerate(self.tokens):
            match token:
                case "(" | "[":
                    self.frames.append(_Frame(position))
                case ")" | "]" if self.frames:
                    if not self._close(position, token) and not self._give_up():
                        return False
                case ":" if self.frames:
                    self.frames[-1].colons.append(position)
                case "|" if self.frames:
                    self.frames[-1].bars.append(position)
                case "|" | "\\":
                    return False
                case _:
                    pass
        return self._give_up()

    def _close(self, position: int, token: str) -> bool:
        """Close the innermost bracket; return False if it is none of the grammar's forms."""
        frame = self.frames[-1]
        square = token == "]"
        if square != (self.tokens[frame.start] == "["):
            return False
        if frame.bars and (frame.colons or not square):
            return False
        if frame.bars:
            self.choices[frame.start] = _Choice((frame.start, *frame.bars, position))
        elif square and frame.colons:
            change = self._change(frame, position)
            if change is None:
                return False
            self.choices[frame.start] = change
        elif len(frame.colons) > 1:
            return False
        self.frames.pop()
        return True

    def _change(self, frame: _Frame, position: int) -> _Choice | None:
        last = frame.colons[-1]
        if len(frame.colons) > 2 or position != last + 2:
            return None
        when = _WHEN.match(self.tokens[last + 1])
        if when is None:
            return None
        # Without a first part the range between the bracket and itself is empty.
        middle = frame.colons[0] if len(frame.colons) == 2 else frame.start
        return _Choice((frame.start, middle, last, position), when[1])

    def _give_up(self) -> bool:
        """Treat all open brackets as text; return False if one of them holds a bar."""
        found = any(frame.bars for frame in self.frames)
        self.frames.clear()
        return not found


def schedule_prompt(text: str, steps: int, drawn: int | None = None) -> tuple[TimedText, ...]:
    """Return a prompt's texts in order; the last is used until evaluation `steps`.

    `steps` is the expected number of denoiser runs; for samplers of second order AUTOMATIC1111
    expects twice the number of steps. A `when` with a decimal point is a fraction of it. In a
    second pass `drawn` is the number that was expected of the first one: a `when` counts on from
    there, and fractions of the second pass begin at 1. The computing time grows with the length of
    the text times the number of changes; raises EngineError(REQUEST_INVALID) if the product is too
    large.
    """
    run = _Run(steps, drawn)
    if "[" not in text:
        return (TimedText(steps, text),)
    reader = _Reader([match[0] for match in _TOKEN.finditer(text)])
    if not reader.read() or not reader.choices:
        return (TimedText(steps, text),)
    ends = {steps}
    for choice in reader.choices.values():
        if choice.when is None:
            ends.update(range(1, steps + 1))
        elif (when := run.step(choice.when)) >= 1:
            ends.add(when)
    pieces = len(ends) * (len(reader.tokens) + len(text) // _CHARACTERS_A_PIECE)
    if pieces > _MAX_PIECES:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The prompt changes {count:,} times and is too long for that.", count=len(ends)
            ),
            sentence("Shorten the prompt, or let it change less often."),
        )
    same: dict[str, str] = {}
    texts = ((end, _text_at(reader, end, run)) for end in sorted(ends))
    return tuple(TimedText(end, same.setdefault(text, text)) for end, text in texts)


class _Run(msgspec.Struct, frozen=True):
    """The expected evaluations of a run, and those of the pass before a second one."""

    steps: int
    drawn: int | None

    def step(self, when: str) -> int:
        """Return the last step before the change that a bracket names; below 1 there is none."""
        number = float(when)
        if "." in when:
            number = (number if self.drawn is None else number - 1) * self.steps
        else:
            number -= self.drawn or 0
        # The bounds also cover infinite numbers, on which AUTOMATIC1111 fails.
        return int(max(-1.0, min(number, float(self.steps))))


def _text_at(reader: _Reader, step: int, run: _Run) -> str:
    """Return the text used at the end of step `step`, counted from 1."""
    found: list[str] = []
    ranges = [(0, len(reader.tokens))]
    while ranges:
        position, end = ranges.pop()
        while position < end:
            choice = reader.choices.get(position)
            if choice is None:
                found.append(reader.tokens[position])
                position += 1
                continue
            ranges.append((choice.edges[-1] + 1, end))
            position, end = _taken(choice, step, run)
    return "".join(found)


def _taken(choice: _Choice, step: int, run: _Run) -> tuple[int, int]:
    """Return the start and the end index of the tokens that a bracket contributes at a step."""
    parts = [(first + 1, second) for first, second in pairwise(choice.edges)]
    if choice.when is None:
        return parts[(step - 1) % len(parts)]
    return parts[0] if step <= run.step(choice.when) else parts[1]
