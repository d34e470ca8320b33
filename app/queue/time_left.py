"""Estimates of a job's progress and time left, smoothed for a person to read.

At the beginning of each phase the engine estimates, from earlier jobs, the time of the phase and of
all phases after it; the steps of denoising show this job's own pace. In a phase without steps the
fraction grows with the time, more slowly towards the end, and reaches the end only when the phase
does. In one with steps no time brings it further than to the end of the step that runs.
"""

from collections import deque
from collections.abc import Callable, Sequence
from math import exp
from typing import NamedTuple

from engine.api.values import STEPPED, Phase
from engine.awake_clock import awake_seconds

# The pace is measured over this time: long enough to be calm, short enough to follow a change.
_WINDOW_S = 5.0
_FEWEST_STEPS = 4
# From this many steps on, only the measured pace counts, and no longer the expected time.
_TRUSTED_STEPS = 4
# Up to this fraction progress follows the time; beyond it, more and more slowly.
_KNEE = 0.8
# A phase that takes this many times its expected time has no estimate any more.
_OVERDUE = 2.0
# Time constant with which the shown time follows a new estimate, seconds.
_CALM_S = 2.0


def eased(ratio: float) -> float:
    """Return the fraction done when `ratio` of the expected time has passed; always below 1.

    The curve has no corner where it begins to slow down.
    """
    if ratio <= _KNEE:
        return max(0.0, ratio)
    rest = 1 - _KNEE
    return min(1 - rest * exp(-(ratio - _KNEE) / rest), 1 - 1e-6)


class PassSteps(NamedTuple):
    """The steps of one pass of a picture; `cost` is that of a step, in a unit that all share."""

    steps: int
    cost: float


class TimeLeft:
    """The estimates for one job at a time, made from its phases and its progress."""

    def __init__(self, clock: Callable[[], float] = awake_seconds) -> None:
        self._clock = clock
        self.begin()

    def begin(self, passes: Sequence[PassSteps] = ()) -> None:
        """Start the estimates of a new job; `passes` are those of its picture, where known."""
        self.passes = tuple(passes)
        self._started = self._phase_started = self._clock()
        self._phase: Phase | None = None
        self._done, self._total = 0, None
        # The steps of the picture that were done when the phase began.
        self._first: int | None = None
        self._expected_s: float | None = None
        self._after_s: float | None = None
        # The latest steps' ends. The duration of the first step, which does more, is left out.
        self._marks: deque[tuple[float, int]] = deque()
        self._shown: tuple[float, float] | None = None
        self._furthest = self._phase_from = 0.0

    def on_phase(self, phase: Phase, expected_s: float | None, after_s: float | None) -> None:
        """Start a phase with the expected seconds of it and of all phases after it."""
        # As far as the phase before came, by the time that it took.
        self._phase_from = self.fraction or 0.0
        self._phase, self._phase_started = phase, self._clock()
        self._done, self._total, self._first = 0, None, None
        self._expected_s, self._after_s = expected_s, after_s
        self._marks.clear()

    def on_progress(self, done: int, total: int | None) -> None:
        """Note how much of the phase is done; steps are counted over all passes of a picture."""
        self._first = done if self._first is None else min(self._first, done)
        if done < self._done:
            self._marks.clear()
        elif done > self._done:
            self._mark(done)
        self._done, self._total = done, total

    @property
    def seconds_per_step(self) -> float | None:
        """The seconds that a step takes, None before two steps are done.

        A mean over several seconds: a busy thread or pipe delivers steps in bursts.
        """
        if self._phase not in STEPPED or len(self._marks) < 2:
            return None
        (begin, first), (end, last) = self._marks[0], self._marks[-1]
        return (end - begin) / (last - first)

    @property
    def seconds_left(self) -> float | None:
        """The seconds until the job is over, smoothed from call to call; None if unknown."""
        now, wanted = self._clock(), self._estimate()
        if wanted is None:
            self._shown = None
            return None
        if self._shown is not None:
            left, at = self._shown
            passed = max(0.0, now - at)
            left = max(0.0, left - passed)
            wanted = max(0.0, left + (wanted - left) * (1 - exp(-passed / _CALM_S)))
        self._shown = (wanted, now)
        return wanted

    @property
    def phase_seconds_left(self) -> float | None:
        """The seconds until the phase is over; None if unknown."""
        return self._phase_left()

    @property
    def is_overdue(self) -> bool:
        """True if the phase takes much longer than was expected."""
        return bool(self._expected_s) and not self._total and self._ratio > _OVERDUE

    @property
    def fraction(self) -> float | None:
        """The done share of the job, in [0, 1), never falling; None while it is unknown."""
        left = self._estimate()
        if left is None or self._after_s is None:
            return self._furthest or None
        elapsed = self._clock() - self._started
        now = elapsed / (elapsed + left) if elapsed + left > 0 else 0.0
        self._furthest = max(self._furthest, min(now, self._most(elapsed + left), 0.999))
        return self._furthest

    def _most(self, whole_s: float) -> float:
        """Return the done share of a job of so many seconds when the step that runs is done.

        1 in a phase without steps.
        """
        if self._phase not in STEPPED or not self._total or whole_s <= 0:
            return 1.0
        phase_over = 1 - (self._after_s or 0.0) / whole_s
        first, (end, _) = self._first or 0, self._steps()
        steps = min(1.0, (self._done - first + 1) / max(1, end - first))
        return self._phase_from + max(0.0, phase_over - self._phase_from) * steps

    @property
    def phase_fraction(self) -> float | None:
        """The done share of the phase, in [0, 1); None where it is not known."""
        if self._phase not in STEPPED and self._expected_s:
            return eased(self._ratio)
        if not self._total:
            return None
        within = 0.0
        pace = self.seconds_per_step
        if pace:
            within = eased((self._clock() - self._marks[-1][0]) / pace)
        return min((self._done + within) / self._total, 1 - 1e-6)

    @property
    def _ratio(self) -> float:
        """The time that has passed in the phase as a share of the expected time."""
        passed = self._clock() - self._phase_started
        return passed / self._expected_s if self._expected_s else 0.0

    def _estimate(self) -> float | None:
        """Return the seconds until the job is over, not smoothed; None if unknown."""
        phase = self._phase_left()
        if phase is None:
            return None
        if self._after_s is None:
            # Before the first job has ended only the steps are known.
            return self._with_later_steps(phase) if self._phase in STEPPED else None
        return phase + self._after_s

    def _with_later_steps(self, phase_s: float) -> float | None:
        """Add the time of later passes to that of the phase; None if no pace is known."""
        end, later = self._steps()
        if not later:
            return phase_s
        pace = self.seconds_per_step
        if pace is None and self._expected_s is not None:
            pace = self._expected_s / max(1, end - (self._first or 0))
        return None if pace is None else phase_s + later * pace

    def _steps(self) -> tuple[int, float]:
        """Return the step at which the phase ends, and the work after it, in such steps."""
        total, end = self._total or 0, 0
        if self._phase is not Phase.DENOISE or sum(each.steps for each in self.passes) != total:
            return total, 0.0
        for place, present in enumerate(self.passes):
            end += present.steps
            if (self._first or 0) < end and present.cost > 0:
                work = sum(each.steps * each.cost for each in self.passes[place + 1 :])
                return end, work / present.cost
        return total, 0.0

    def _phase_left(self) -> float | None:
        expected = None
        if self._expected_s is not None:
            expected = None if self.is_overdue else self._expected_s * (1 - eased(self._ratio))
        pace = self.seconds_per_step
        if pace is not None and self._total is not None:
            # A step that takes longer is not yet the next one.
            since = min(self._clock() - self._marks[-1][0], pace)
            by_pace = max(0.0, (self._steps()[0] - self._done) * pace - since)
            if expected is None:
                return by_pace
            trust = min(1.0, (self._done - (self._first or 0) - 1) / _TRUSTED_STEPS)
            return trust * by_pace + (1 - trust) * expected
        return expected

    def _mark(self, done: int) -> None:
        now = self._clock()
        self._marks.append((now, done))
        while len(self._marks) > _FEWEST_STEPS and now - self._marks[0][0] > _WINDOW_S:
            self._marks.popleft()
