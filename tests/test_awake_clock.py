"""Work is timed by a clock that stands still while the computer sleeps."""

import ctypes
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.cli.job_line import TerminalReporter
from app.queue.pace import Pace
from app.queue.progress import ProgressState
from app.queue.time_left import TimeLeft
from engine import awake_clock
from engine.api.values import Phase
from engine.devices.trials import Trials
from engine.pipeline.forecast import Forecast
from engine.pipeline.stages import Stopwatch


class Windows:
    """Windows' count of the time that it was awake, set by hand."""

    def __init__(self) -> None:
        self.awake_100_ns = 0

        def write(place: Any) -> None:
            place._obj.value = self.awake_100_ns

        # A function, which takes types as those of ctypes do.
        self.QueryUnbiasedInterruptTimePrecise = write


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Iterator[Windows]:
    """The clock as it is on Windows."""
    system = Windows()
    libraries: dict[str, Windows] = {"api-ms-win-core-realtime-l1-1-1.dll": system}
    with monkeypatch.context() as patched:
        patched.setattr(sys, "platform", "win32")
        patched.setattr(ctypes, "WinDLL", libraries.__getitem__, raising=False)
        importlib.reload(awake_clock)
        yield system
    importlib.reload(awake_clock)


def test_windows_counts_without_its_sleep(windows: Windows) -> None:
    before = awake_clock.awake_seconds()
    windows.awake_100_ns += 25_000_000
    assert awake_clock.awake_seconds() - before == 2.5


def test_the_clock_goes_on() -> None:
    before = awake_clock.awake_seconds()
    while awake_clock.awake_seconds() == before:
        pass
    assert awake_clock.awake_seconds() > before


@pytest.mark.parametrize(
    "timed", [Stopwatch, Forecast, TimeLeft, ProgressState, Pace, TerminalReporter]
)
def test_whoever_tells_how_long_work_takes_goes_by_it(timed: Callable[..., object]) -> None:
    # Once the next pictures were said to take hours, as the computer had slept while one was made.
    clock = inspect.signature(timed).parameters["clock"].default
    assert clock.__module__ == "engine.awake_clock"


def test_a_trial_during_which_the_computer_slept_has_not_been_silent() -> None:
    # Once a card was said not to answer, as the computer had slept while it was tried.
    clock = inspect.signature(Trials).parameters["clock"].default
    assert clock.__module__ == "engine.awake_clock"


def test_a_stopwatch_tells_what_its_clock_does() -> None:
    watch = Stopwatch(iter((0.0, 1.0, 3.0, 5.0)).__next__)
    with watch.measuring(Phase.DENOISE):
        pass
    times = watch.timings()
    assert (times.denoise_s, times.total_s) == (2.0, 5.0)
