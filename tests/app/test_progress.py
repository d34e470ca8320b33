"""Progress as a person reads it, on a clock that is told the time."""

import pytest
from pytestqt.qtbot import QtBot

from app.queue.progress import Preview, ProgressState
from engine.api.messages import JobPhase, JobPreview, JobProgress
from engine.api.values import Phase

JOB = "a-0"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Running:
    """A job in its denoising phase."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.state = ProgressState(self.clock)
        self.state.begin(JOB)
        self.state.on_phase(JobPhase(job=JOB, phase=Phase.DENOISE))

    def step(self, done: int, seconds: float, total: int = 10) -> None:
        self.clock.now += seconds
        self.state.on_progress(JobProgress(job=JOB, done=done, total=total))


@pytest.fixture
def running() -> Running:
    return Running()


def test_speed_and_time_left_come_from_the_steps(running: Running) -> None:
    assert running.state.seconds_per_step is None
    assert running.state.seconds_left is None
    # The first step is slow where something is made ready in it.
    for done, seconds in ((1, 9.0), (2, 2.0), (3, 2.0), (4, 2.0)):
        running.step(done, seconds)
    assert running.state.seconds_per_step == pytest.approx(2)
    assert running.state.seconds_left == pytest.approx(12)
    running.clock.now += 1.5
    assert running.state.seconds_left == pytest.approx(10.5)


def test_the_time_after_the_steps_is_known_from_earlier_jobs(running: Running) -> None:
    phase = JobPhase(job=JOB, phase=Phase.DENOISE, expected_s=20.0, after_s=4.0)
    running.state.on_phase(phase)
    assert running.state.seconds_left == pytest.approx(24)
    for done in range(1, 7):
        running.step(done, 2.0)
    assert running.state.seconds_left == pytest.approx(4 * 2 + 4)


def test_the_bar_is_of_the_whole_picture(running: Running) -> None:
    state = running.state
    # Nothing is known but the steps: phases have parts of the bar.
    seen = [state.fraction]
    for done in range(1, 11):
        running.step(done, 1.0)
        seen.append(state.fraction)
    for phase in (Phase.COMPILE, Phase.DECODE, Phase.SAVE):
        state.on_phase(JobPhase(job=JOB, phase=phase))
        seen.append(state.fraction)
    assert seen == sorted(seen)
    assert seen[1] < 0.3
    assert 0.8 < seen[10] < 0.95 < seen[-1] < 1
    state.begin("b")
    assert state.fraction == 0
    # All is known: time is what counts.
    state.on_phase(JobPhase(job="b", phase=Phase.COMPILE, expected_s=30.0, after_s=70.0, once=True))
    assert state.once
    running.clock.now += 20
    assert state.fraction == pytest.approx(0.2)
    state.on_phase(JobPhase(job="b", phase=Phase.DENOISE, expected_s=60.0, after_s=10.0))
    assert not state.once


def test_the_bar_of_each_picture_begins_at_nothing(running: Running) -> None:
    """Networks that are loaded already cost the next picture no part of its bar."""
    state = running.state
    for job, phase in (("b", Phase.ENCODE), ("c", Phase.DENOISE)):
        state.begin(job)
        assert state.fraction == 0
        state.on_phase(JobPhase(job=job, phase=phase))
        assert state.fraction == 0
        state.on_phase(JobPhase(job=job, phase=Phase.DENOISE))
        state.on_progress(JobProgress(job=job, done=0, total=10))
        assert state.fraction < 0.03
        state.on_progress(JobProgress(job=job, done=5, total=10))
        assert 0.4 < state.fraction < 0.5
        state.on_progress(JobProgress(job=job, done=10, total=10))
        assert 0.85 < state.fraction < 0.95


def test_a_phase_that_is_over_has_filled_its_part_of_the_bar(running: Running) -> None:
    state = running.state
    for phase in (Phase.DECODE, Phase.SAVE):
        state.on_phase(JobPhase(job=JOB, phase=phase))
    assert state.fraction > 0.95


def test_the_bar_stands_still_while_it_stops(running: Running) -> None:
    state = running.state
    state.on_phase(JobPhase(job=JOB, phase=Phase.DENOISE, expected_s=20.0, after_s=4.0))
    running.clock.now += 5
    before = state.fraction
    assert before > 0
    state.stop()
    running.clock.now += 10
    assert state.fraction == before
    running.step(8, 1.0)
    state.on_phase(JobPhase(job=JOB, phase=Phase.SAVE))
    assert state.fraction == before


def test_time_left_is_never_negative(running: Running) -> None:
    for done in range(1, 11):
        running.step(done, 1.0)
    running.clock.now += 60
    assert running.state.seconds_left == 0


def test_a_step_that_is_told_twice_counts_once(running: Running) -> None:
    for done, seconds in ((1, 2.0), (1, 1.0), (2, 1.0)):
        running.step(done, seconds)
    assert running.state.seconds_per_step == pytest.approx(2)


def test_steps_told_in_bursts_are_as_fast_as_they_were(running: Running) -> None:
    for burst in range(20):
        for step in range(1, 4):
            running.step(3 * burst + step, 1.5 if step == 1 else 0.0, total=100)
    assert running.state.seconds_per_step == pytest.approx(0.5, rel=0.3)


def test_speed_follows_a_change(running: Running) -> None:
    for done in range(1, 21):
        running.step(done, 1.0, total=100)
    for done in range(21, 31):
        running.step(done, 4.0, total=100)
    assert running.state.seconds_per_step == pytest.approx(4)


def test_other_jobs_say_nothing_here(running: Running) -> None:
    running.state.on_progress(JobProgress(job="b", done=9, total=10))
    running.state.on_phase(JobPhase(job="b", phase=Phase.SAVE))
    running.state.end("b")
    assert (running.state.job, running.state.phase, running.state.done) == (JOB, Phase.DENOISE, 0)


def test_a_preview_is_gone_with_its_job(running: Running, qtbot: QtBot) -> None:
    pixels = bytes(range(12))
    told: list[Preview | None] = []
    running.state.preview_changed.connect(told.append)
    running.state.on_preview(JobPreview(job=JOB, step=1, width=2, height=2), pixels)
    running.state.end(JOB)
    assert told == [Preview(JOB, 2, 2, pixels), None]


@pytest.mark.parametrize(
    ("width", "height", "size"), [(2, 2, 11), (2, 2, 13), (0, 0, 0), (-1, -4, 12), (1 << 20, 9, 12)]
)
def test_a_preview_of_another_size_than_it_says_is_not_shown(
    running: Running, width: int, height: int, size: int
) -> None:
    preview = JobPreview(job=JOB, step=1, width=width, height=height)
    running.state.on_preview(preview, bytes(size))
    assert running.state.preview is None


def test_a_cancel_is_confirmed_at_once(running: Running) -> None:
    told: list[bool] = []
    running.state.changed.connect(lambda: told.append(running.state.stopping))
    running.state.stop()
    running.state.stop()
    assert told == [True]
    running.state.end(JOB)
    assert not running.state.stopping
