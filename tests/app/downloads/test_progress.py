"""Progress and speed of a download, by a clock that the test sets."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.downloads.entries import Download, DownloadState, Purpose
from app.downloads.progress import Progress, Reached
from app.downloads.source import Source


class Told:
    """A progress with a clock, and what it told."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.reached: list[Reached] = []
        self.progress = Progress(self.reached.append, lambda: self.now)

    def after(self, seconds: float, act: Callable[[], None]) -> Reached:
        """Do something some seconds later; return what was told last."""
        self.now += seconds
        act()
        return self.reached[-1]

    def bytes_after(self, seconds: float, count: int) -> Reached:
        """Have so many bytes arrived some seconds later."""
        return self.after(seconds, lambda: self.progress.on_bytes(count))


@pytest.fixture
def told() -> Told:
    return Told()


def test_a_speed_is_that_of_the_last_seconds(told: Told) -> None:
    assert told.bytes_after(0, 0).bytes_per_second == 0
    assert told.bytes_after(2, 2000).bytes_per_second == 1000
    for second in range(10):
        told.bytes_after(1, 2000 + 50 * (second + 1))
    assert told.reached[-1].bytes_per_second == 50


def test_a_speed_falls_while_no_byte_comes(told: Told) -> None:
    told.bytes_after(0, 0)
    fast = told.bytes_after(1, 4000)
    slow = told.after(3, told.progress.on_time)
    none = told.after(10, told.progress.on_time)
    assert fast.bytes_per_second > slow.bytes_per_second > none.bytes_per_second == 0
    assert none.bytes_done == 4000


def test_progress_is_told_a_few_times_a_second(told: Told) -> None:
    for count in range(1000):
        told.bytes_after(0.001, count)
    assert 4 <= len(told.reached) <= 6


def test_bytes_that_were_here_before_are_no_speed(told: Told) -> None:
    told.bytes_after(0, 0)
    verifying = told.after(0.01, told.progress.on_verifying)
    assert verifying.state is DownloadState.VERIFYING
    assert told.after(1, told.progress.on_time) is verifying
    begun = told.bytes_after(1, 10**9)
    assert begun == Reached(DownloadState.RUNNING, 10**9, 0.0)
    assert told.bytes_after(1, 10**9 + 10).bytes_per_second == 10


def test_a_file_that_begins_anew_has_no_negative_speed(told: Told) -> None:
    told.bytes_after(0, 0)
    told.bytes_after(1, 5000)
    assert told.bytes_after(1, 100).bytes_per_second == 0
    assert told.bytes_after(1, 300).bytes_per_second == 200


def test_files_are_counted_together(told: Told) -> None:
    told.bytes_after(1, 700)
    told.progress.on_whole_file(700)
    assert told.bytes_after(1, 50).bytes_done == 750


def test_the_time_left_follows_from_the_speed() -> None:
    source = Source("https://files.test/x", (), "x", 1000, "0" * 64)
    entry = Download(
        id="a", title="", purpose=Purpose.MODEL, files=(source, source), folder=Path(),
        bytes_done=500, bytes_per_second=100,
    )  # fmt: skip
    assert entry.seconds_left == 15
    still = Download(id="a", title="", purpose=Purpose.MODEL, files=(source,), folder=Path())
    assert still.seconds_left is None
