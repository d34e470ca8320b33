"""Progress and time left of a job, on a clock that the tests set."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queue.time_left import PassSteps, TimeLeft, eased
from engine.api.values import Phase


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Job:
    """A job on such a clock; `seen` is what a person would have read every half second."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.time = TimeLeft(self.clock)
        self.seen: list[float | None] = []
        self.bar: list[float | None] = []

    def wait(self, seconds: float) -> None:
        for _ in range(round(2 * seconds)):
            self.clock.now += 0.5
            self.seen.append(self.time.seconds_left)
            self.bar.append(self.time.fraction)

    def phase(self, phase: Phase, expected_s: float | None, after_s: float | None) -> None:
        self.time.on_phase(phase, expected_s, after_s)

    def steps(self, seconds: list[float]) -> None:
        self.time.on_progress(0, len(seconds))
        for done, duration in enumerate(seconds, start=1):
            self.wait(duration)
            self.time.on_progress(done, len(seconds))

    def known(self) -> list[float]:
        assert None not in self.seen
        return [seconds for seconds in self.seen if seconds is not None]


@pytest.fixture
def job() -> Job:
    return Job()


def a_picture(job: Job, step_s: float, *, expected_step_s: float, steps: int = 20) -> None:
    """The phases of SD 1.5 on a processor: prepare 3 s, steps, decode 6 s."""
    after = 6.0 + 1.0
    denoise = steps * expected_step_s
    job.phase(Phase.COMPILE, 3.0, 1 + denoise + after)
    job.wait(3)
    job.phase(Phase.ENCODE, 1.0, denoise + after)
    job.wait(1)
    job.phase(Phase.DENOISE, denoise, after)
    job.steps([step_s] * steps)
    job.phase(Phase.DECODE, 6.0, 1.0)
    job.wait(6)
    job.phase(Phase.SAVE, 1.0, 0.0)
    job.wait(1)


# --- what has passed tells how far it is ---


@given(st.floats(0, 1e6))
def test_the_estimate_never_claims_to_be_done(ratio: float) -> None:
    assert 0 <= eased(ratio) < 1


@given(st.floats(0, 10), st.floats(0, 1))
def test_progress_only_grows_and_more_slowly_towards_the_end(ratio: float, more: float) -> None:
    assert eased(ratio + more) >= eased(ratio)
    if ratio >= 0.8:
        assert eased(ratio + more) - eased(ratio) <= more + 1e-9


def test_progress_follows_the_estimate_first_and_is_smooth() -> None:
    assert eased(0.5) == 0.5
    step = 1e-6
    before, after = eased(0.8) - eased(0.8 - step), eased(0.8 + step) - eased(0.8)
    assert after == pytest.approx(before, rel=1e-3)


@pytest.mark.parametrize("phase", [Phase.LOAD, Phase.COMPILE, Phase.ENCODE, Phase.DECODE])
def test_a_phase_that_tells_nothing_is_told_by_its_time(job: Job, phase: Phase) -> None:
    job.phase(phase, 10.0, 0.0)
    job.wait(5)
    assert job.time.phase_fraction == pytest.approx(0.5)
    assert job.time.seconds_left == pytest.approx(5, rel=0.05)
    job.wait(300)
    assert job.time.phase_fraction is not None
    assert 0.95 < job.time.phase_fraction < 1


def test_a_phase_nobody_knows_is_not_guessed(job: Job) -> None:
    job.phase(Phase.COMPILE, None, None)
    job.wait(5)
    assert job.time.seconds_left is None
    assert job.time.phase_fraction is None
    assert job.time.fraction is None
    assert not job.time.is_overdue


def test_a_known_phase_before_unknown_ones_has_a_bar_and_no_end(job: Job) -> None:
    job.phase(Phase.COMPILE, 40.0, None)
    job.wait(20)
    assert job.time.phase_fraction == pytest.approx(0.5)
    assert job.time.seconds_left is None


def test_a_job_far_beyond_its_estimate_has_no_time_left(job: Job) -> None:
    job.phase(Phase.COMPILE, 10.0, 30.0)
    job.wait(19)
    assert job.time.seconds_left is not None
    assert not job.time.is_overdue
    job.wait(2)
    assert job.time.seconds_left is None
    assert job.time.is_overdue


# --- the whole job ---


def test_a_job_as_expected_counts_down_as_the_clock_does(job: Job) -> None:
    a_picture(job, 4.0, expected_step_s=4.0)
    seen = job.known()
    whole = 3 + 1 + 80 + 6 + 1
    assert seen[0] == pytest.approx(whole - 0.5, rel=0.01)
    for place, left in enumerate(seen):
        assert left == pytest.approx(whole - 0.5 * (place + 1), abs=1.5)


@pytest.mark.parametrize("step_s", [1.0, 2.5, 7.0, 12.0])
def test_a_job_at_another_pace_is_believed_without_a_jump(job: Job, step_s: float) -> None:
    """The machine is busy, or was while it learnt."""
    a_picture(job, step_s, expected_step_s=4.0)
    seen = job.known()
    # Half a second may not add more than a tenth of what is left, and a little.
    for before, after in pairwise(seen):
        assert after - before <= 0.1 * before + 2.5
    # After half of the steps it is right.
    place = 2 * round(3 + 1 + 10 * step_s)
    truth = 10 * step_s + 7
    assert seen[place] == pytest.approx(truth, rel=0.2)


def test_a_burst_and_a_pause_do_not_shake_it(job: Job) -> None:
    job.phase(Phase.DENOISE, 30.0, 2.0)
    job.steps([0.5, 0.5, 4.0, 0.5, 0.5, 3.0, 0.5, 0.5, 0.5, 5.0] * 2)
    for before, after in pairwise(job.known()):
        assert after - before <= 3


def test_the_bar_is_of_the_whole_job_and_never_goes_back(job: Job) -> None:
    for step_s in (4.0, 9.0):
        job.time.begin()
        job.bar.clear()
        a_picture(job, step_s, expected_step_s=4.0)
        bar = [fraction for fraction in job.bar if fraction is not None]
        assert all(before <= after for before, after in pairwise(bar))
        assert bar[0] < 0.05
        assert 0.95 < bar[-1] < 1
    # The last step is not the end: decoding is 7 of 91 seconds.
    job.time.begin()
    job.bar.clear()
    a_picture(job, 4.0, expected_step_s=4.0)
    assert job.bar[2 * 84 - 1] == pytest.approx(84 / 91, abs=0.02)


def test_the_bar_is_never_a_step_ahead_of_the_steps_that_are_done(job: Job) -> None:
    """The bar said 94 % in step 15 of 20, while other programs kept the processor busy."""
    job.phase(Phase.LOAD, 1.0, 81.0)
    job.wait(1)
    job.phase(Phase.DENOISE, 80.0, 1.0)
    job.time.on_progress(0, 20)
    for done, seconds in enumerate([4.0] * 14 + [90.0] * 6, start=1):
        job.wait(seconds)
        told = job.time.fraction
        assert told is not None
        assert told <= 0.02 + done / 20
        left = job.time.seconds_left
        assert left is not None
        # It follows calmly.
        assert left >= (20 - done) * 4.0 - 2
        job.time.on_progress(done, 20)


def test_steps_that_pause_before_the_first_is_done_move_no_bar(job: Job) -> None:
    job.phase(Phase.DENOISE, 80.0, 1.0)
    job.time.on_progress(0, 20)
    job.wait(70)
    assert job.time.fraction is not None
    assert job.time.fraction <= 1 / 20


def test_within_a_slow_step_the_bar_moves_on(job: Job) -> None:
    job.phase(Phase.DENOISE, None, None)
    job.steps([10.0] * 3)
    at_step = job.time.phase_fraction
    job.time.on_progress(3, 10)
    before = job.time.phase_fraction
    job.wait(5)
    after = job.time.phase_fraction
    assert at_step is not None
    assert before == pytest.approx(0.3)
    assert after == pytest.approx(0.35)
    job.wait(100)
    assert job.time.phase_fraction is not None
    assert job.time.phase_fraction < 0.4


def test_steps_alone_tell_of_themselves(job: Job) -> None:
    """The first job of all: nothing is known but the steps."""
    job.phase(Phase.DENOISE, None, None)
    job.time.on_progress(0, 10)
    for done in range(1, 5):
        job.clock.now += 2
        job.time.on_progress(done, 10)
    assert job.time.seconds_per_step == pytest.approx(2)
    assert job.time.seconds_left == pytest.approx(12)


def test_steps_that_begin_anew_have_a_pace_of_their_own(job: Job) -> None:
    """A denoiser that fails in low precision is run again in float32, within the phase."""
    job.phase(Phase.DENOISE, None, None)
    for done, seconds in ((1, 2), (0, 30), (1, 5)):
        job.clock.now += seconds
        job.time.on_progress(done, 10)
    assert job.time.seconds_per_step is None
    job.clock.now += 5
    job.time.on_progress(2, 10)
    assert job.time.seconds_per_step == pytest.approx(5)


def test_the_next_job_begins_anew(job: Job) -> None:
    a_picture(job, 4.0, expected_step_s=4.0)
    job.time.begin()
    assert job.time.seconds_left is None
    assert job.time.fraction is None
    assert job.time.seconds_per_step is None


@given(st.data())
def test_whatever_happens_numbers_stay_sane(data: st.DataObject) -> None:
    job = Job()
    furthest = 0.0
    seconds = st.one_of(st.none(), st.floats(0, 1e4))
    actions: list[Callable[[], None]] = [
        lambda: job.phase(
            data.draw(st.sampled_from(Phase)), data.draw(seconds), data.draw(seconds)
        ),
        lambda: job.time.on_progress(
            data.draw(st.integers(0, 30)), data.draw(st.one_of(st.none(), st.integers(0, 30)))
        ),
        lambda: setattr(job.clock, "now", job.clock.now + data.draw(st.floats(0, 100))),
    ]
    for action in data.draw(st.lists(st.sampled_from(actions), max_size=20)):
        action()
        left, fraction = job.time.seconds_left, job.time.fraction
        assert left is None or left >= 0
        assert fraction is None or furthest <= fraction < 1
        furthest = fraction or furthest
        assert job.time.phase_fraction is None or 0 <= job.time.phase_fraction < 1


@pytest.mark.parametrize("is_known", [True, False])
def test_a_second_pass_counts_by_what_its_steps_cost(job: Job, is_known: bool) -> None:
    # The steps of the second pass see four times as many pixels.
    job.time.begin([PassSteps(10, 1.0), PassSteps(10, 4.0)])
    job.phase(Phase.DENOISE, 5.0 if is_known else None, 20.0 if is_known else None)
    job.time.on_progress(0, 20)
    for done in range(1, 6):
        job.wait(0.5)
        job.time.on_progress(done, 20)
    job.wait(0.5)
    assert job.seen[-1] == pytest.approx(22.0, abs=1.5)
    for done in range(6, 11):
        job.time.on_progress(done, 20)
        job.wait(0.5)
    job.phase(Phase.DENOISE, 20.0 if is_known else None, 0.0 if is_known else None)
    job.time.on_progress(10, 20)
    for done in range(11, 16):
        job.wait(2)
        job.time.on_progress(done, 20)
    job.wait(0.5)
    assert job.seen[-1] == pytest.approx(9.5, abs=1.5)
