"""The jobs that are not over are counted by their times as they come, change and go."""

import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.queue import under_way
from app.queue.jobs import Job, JobState
from app.queue.under_way import Tally
from engine.api.request import GenerateRequest
from engine.api.upscaling import UpscaleRequest
from tests.app.sessions import Staged

SIZES = (512, 768, 1024)


def made(number: int, side: int, state: JobState = JobState.WAITING) -> Job:
    request = GenerateRequest(prompt=f"prompt {number}", width=side, height=side, seed=number)
    return Job(id=str(number), request=request, folder=Path("/pictures"), state=state)


def counts(tally: Tally) -> list[tuple[int | None, int]]:
    found = [alike for alike in tally if isinstance(alike.request, GenerateRequest)]
    return sorted((alike.request.width, alike.count) for alike in found)  # pyright: ignore


def test_jobs_are_gathered_by_what_their_times_depend_on() -> None:
    larger = Job(
        id="u",
        request=UpscaleRequest(source="/a.png", upscaler="lanczos"),
        folder=Path("/pictures"),
    )
    tally = Tally([made(0, 512), made(1, 768), made(2, 512), larger])
    assert counts(tally) == [(512, 2), (768, 1)]
    assert len(tally) == 4


def test_a_tally_that_follows_is_the_one_of_all_jobs_afresh() -> None:
    chance, jobs, tally = random.Random(7), dict[str, Job](), Tally()
    for _ in range(2000):
        number = chance.randrange(40)
        if chance.random() < 0.3:
            jobs.pop(str(number), None)
            tally.remove(str(number))
        else:
            job = jobs[str(number)] = made(number, chance.choice(SIZES))
            tally.add(job)
        assert (counts(tally), len(tally)) == (counts(Tally(jobs.values())), len(jobs))


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Staged:
    """A session whose engine is not started."""
    return Staged(tmp_path, qtbot, None, None)


def submit(staged: Staged, count: int, side: int) -> None:
    before = len(staged.queue.jobs)
    staged.queue.submit(
        GenerateRequest(prompt="a house", width=side, height=side, count=count), Path("/pictures")
    )
    staged.wait(lambda: len(staged.queue.jobs) == before + count)


def test_the_tally_follows_the_queue(staged: Staged) -> None:
    submit(staged, 5, 512)
    tally = staged.session.jobs_in_queue.under_way
    submit(staged, 3, 768)
    staged.wait(lambda: counts(tally) == [(512, 5), (768, 3)])
    first, second, *_ = (job.id for job in staged.queue.jobs)
    staged.session.jobs_in_queue.remove([first])
    staged.wait(lambda: counts(tally) == [(512, 4), (768, 3)])
    staged.queue.retry(first)
    staged.wait(lambda: counts(tally) == [(512, 5), (768, 3)])
    staged.queue.cancel(second)
    staged.queue.clear(JobState.CANCELLED)
    staged.wait(lambda: counts(tally) == [(512, 4), (768, 3)])
    staged.end()


def test_the_numbers_of_jobs_by_their_states_follow_the_queue(staged: Staged) -> None:
    submit(staged, 4, 512)
    states = staged.session.jobs_in_queue.states

    def follow() -> bool:
        return +states == Counter(job.state for job in staged.queue.jobs)

    staged.wait(follow)
    submit(staged, 3, 768)
    first, second, *_ = (job.id for job in staged.queue.jobs)
    staged.session.jobs_in_queue.remove([first])
    staged.queue.cancel(second)
    staged.wait(lambda: follow() and states[JobState.CANCELLED] > 0)
    staged.queue.clear(JobState.CANCELLED)
    staged.wait(lambda: follow() and not states[JobState.CANCELLED])
    staged.end()


def test_a_change_of_a_long_queue_looks_at_its_own_job_alone(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Job] = []
    staged.queue.job_added.connect(told.append)
    submit(staged, 2000, 512)
    staged.wait(lambda: len(told) == 2000)
    commands = staged.session.jobs_in_queue
    assert len(commands.under_way) == 2000
    looked: list[object] = []
    kind = under_way._kind  # pyright: ignore[reportPrivateUsage]

    def counted(request: GenerateRequest) -> object:
        looked.append(request)
        return kind(request)

    monkeypatch.setattr(under_way, "_kind", counted)
    submit(staged, 1, 512)
    staged.wait(lambda: len(commands.under_way) == 2001)
    commands.total_seconds(commands.under_way)
    assert len(looked) == 1
    staged.end()


def test_a_job_that_is_counted_twice_counts_once() -> None:
    job = made(0, 512)
    tally = Tally([job, msgspec.structs.replace(job, attempts=1)])
    assert counts(tally) == [(512, 1)]
