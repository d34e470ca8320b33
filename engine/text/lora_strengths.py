"""Strengths of LoRAs that change over the steps, as prompts write them.

`0@0,1@0.5` goes from 0 to 1 over the first half of the steps and stays there. Behaviour follows
sd-webui-loractl (github.com/cheald/sd-webui-loractl, `loractl/lib/utils.py`). `[0:1:0.5]` and
`[0|1]` change at once, by the grammar of `engine.text.timeline`; no other tool reads these here.
"""

import math
import re
from bisect import bisect_right
from itertools import groupby

import msgspec

from engine.api.fields import bounds_of
from engine.api.lora import LoraChoice
from engine.api.sentences import Text, sentence
from engine.errors import EngineError
from engine.text.timeline import schedule_prompt

_BOUNDS = bounds_of(LoraChoice, "strength")
_BETWEEN_POINTS = re.compile("[,;]")
_AT = re.compile("[@~]")
# A1111 counts a step once it is over, so the second step still has number 0.
_BEHIND = 1


class RunLength(msgspec.Struct, frozen=True):
    """The length of a sampler's run: its steps, and the evaluations of the denoiser in each.

    `asked` is the request's number of steps, more than `steps` if a redrawn picture skips some; the
    times in a prompt's brackets refer to it.
    """

    steps: int
    evaluations_per_step: int = 1
    asked: int | None = None

    @property
    def evaluations(self) -> int:
        """The number of evaluations that the steps take."""
        return self.steps * self.evaluations_per_step

    @property
    def asked_evaluations(self) -> int:
        """The number of evaluations that all of the request's steps would take."""
        steps = self.steps if self.asked is None else self.asked
        return steps * self.evaluations_per_step


# A strength for the whole run, or one for each evaluation of the denoiser.
Strengths = tuple[float, ...]


class StrengthError(ValueError):
    """A text that is no strength; `reason` is the end of a sentence."""

    def __init__(self, reason: Text) -> None:
        super().__init__(str(reason))
        self.reason = reason


def strengths_over(text: str, run: RunLength) -> Strengths:
    """Return the strengths that a text such as "0.8", "0@0,1@0.5" or "[0:1:0.5]" names.

    Raises StrengthError.
    """
    text = text.strip()
    if text.startswith("["):
        return _in_brackets(text, run)
    if _AT.search(text) is None:
        return (_number(text),)
    points = [_point(part) for part in _BETWEEN_POINTS.split(text)]
    if points[0][1] is None:
        return (points[0][0],)
    # A strength without a place stands at the end.
    placed = sorted(((1.0 if at is None else at, strength) for strength, at in points), key=_place)
    evaluations = range(run.evaluations)
    return same_as_one(tuple(_between(placed, _position(e, placed, run)) for e in evaluations))


def same_as_one(strengths: Strengths) -> Strengths:
    """Return equal strengths as a single one, others unchanged."""
    return (
        strengths if any(strength != strengths[0] for strength in strengths[1:]) else strengths[:1]
    )


def at_each_evaluation(strengths: Strengths, run: RunLength) -> Strengths:
    """Return a strength for each evaluation of the run."""
    return strengths if len(strengths) > 1 else strengths * run.evaluations


def _in_brackets(text: str, run: RunLength) -> Strengths:
    try:
        changes = schedule_prompt(text, run.asked_evaluations)
    except EngineError as error:
        raise StrengthError(error.info.text) from None
    strengths: list[float] = []
    for change in changes:
        strengths += [_number(change.text)] * (change.until - len(strengths))
    return same_as_one(tuple(strengths[: max(1, run.evaluations)]))


def _point(text: str) -> tuple[float, float | None]:
    strength, *place = _AT.split(text)
    if len(place) > 1:
        raise StrengthError(sentence("{text!r} is no strength at a place", text=text[:40]))
    return _number(strength), _finite(place[0]) if place else None


def _number(text: str) -> float:
    strength = _finite(text)
    if not _BOUNDS.low <= strength <= _BOUNDS.high:
        low, high = _BOUNDS.whole
        raise StrengthError(
            sentence(
                "{text} is not from {low} to {high}", text=text.strip()[:40], low=low, high=high
            )
        )
    return strength


def _finite(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise StrengthError(sentence("{text!r} is no number", text=text.strip()[:40]))
    return number


def _position(evaluation: int, placed: list[tuple[float, float]], run: RunLength) -> float:
    """Return the place of an evaluation: in steps, or in [0, 1] if no place is beyond 1."""
    done = max(0, evaluation // run.evaluations_per_step - _BEHIND)
    if placed[-1][0] > 1:
        return float(done)
    last = run.steps - 1 - _BEHIND
    # Runs of one or two steps have no second place; the tool fails at some.
    return done / last if last > 0 else 0.0


def _between(placed: list[tuple[float, float]], position: float) -> float:
    """Interpolate linearly between the points; before the first and after the last as there."""
    after = bisect_right(placed, position, key=_place)
    if after == 0:
        return placed[0][1]
    if after == len(placed):
        return placed[-1][1]
    (start, before), (end, following) = placed[after - 1], placed[after]
    return before + (following - before) * (position - start) / (end - start)


def _place(point: tuple[float, float]) -> float:
    return point[0]


def described(strengths: Strengths) -> tuple[tuple[float, float], ...]:
    """Return strengths that change as pairs of a strength and the fraction where it begins."""
    if len(strengths) < 2:
        return ()
    pairs: list[tuple[float, float]] = []
    start = 0
    for strength, equal in groupby(strengths):
        pairs.append((strength, round(start / len(strengths), 4)))
        start += len(list(equal))
    return tuple(pairs)
