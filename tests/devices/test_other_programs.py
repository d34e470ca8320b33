"""The work of other programs is what the processors did beside this process."""

import os
import time

import pytest

from backends.hardware import ProcessorTimes
from engine.devices import other_programs
from engine.devices.other_programs import OtherPrograms

CORES = os.cpu_count() or 1
# Seconds that are long enough to count a processor's time in.
LONG = 4.0


@pytest.mark.parametrize(
    ("own", "others", "busy"),
    [(0.0, 0.0, False), (0.97, 0.03, False), (0.5, 0.05, False), (0.6, 0.4, True), (0, 0.9, True)],
)
def test_much_of_all_processors_time_is_busy(
    monkeypatch: pytest.MonkeyPatch, own: float, others: float, busy: bool
) -> None:
    assert told(monkeypatch, LONG, own, others) is busy


def test_time_too_short_to_count_in_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a step of the system's clock, one that has just ended looks like a processor's."""
    assert not told(monkeypatch, 1 / 64, 0.0, 1.0)
    assert told(monkeypatch, 1 / 16, 0.0, 1.0)


def test_a_system_that_does_not_tell_disturbs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_programs, "processor_times", lambda: None)
    assert not OtherPrograms().were_busy()


def told(monkeypatch: pytest.MonkeyPatch, seconds: float, own: float, others: float) -> bool:
    """Return the verdict after so many seconds with these shares of all processors."""
    spent = seconds * CORES
    readings = [ProcessorTimes(10, 5), ProcessorTimes(10 + spent, 5 + spent * (own + others))]
    own_times = [1.0, 1.0 + spent * own]
    monkeypatch.setattr(other_programs, "processor_times", lambda: readings.pop(0))
    monkeypatch.setattr(time, "process_time", lambda: own_times.pop(0))
    return OtherPrograms().were_busy()
