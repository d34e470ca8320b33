"""A batch is what one press of Generate makes, in order, also after its jobs are over."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.queue.batch import Batch
from app.queue.jobs import JobState
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    staged = Staged(tmp_path, qtbot, fake_command(Plan(steps=2)), QUICK).start()
    yield staged
    staged.end()


def make(staged: Staged, count: int) -> Batch:
    staged.session.generation.count = count
    staged.session.jobs.generate()
    return staged.session.batch


def test_a_batch_keeps_its_pictures_until_the_next_begins(staged: Staged) -> None:
    batch = make(staged, 3)
    staged.wait_for_jobs(3)
    assert [job.state for job in batch.jobs] == [JobState.DONE] * 3
    last = batch.jobs[-1]
    assert batch.number(last.id) == 3
    assert batch.has_picture(last.images[0])
    staged.queue.dismiss(last.id)
    staged.wait(lambda: len(staged.queue.jobs) == 2)
    assert batch.count == 3
    make(staged, 1)
    staged.wait(lambda: batch.count == 1)
    assert not batch.has_picture(last.images[0])


def test_cancelled_pictures_leave_the_batch(tmp_path: Path, qtbot: QtBot) -> None:
    staged = Staged(tmp_path, qtbot, fake_command(Plan(steps=100_000, step_seconds=0.01)), QUICK)
    staged.start()
    batch = make(staged, 3)
    staged.wait(lambda: batch.count == 3)
    staged.queue.cancel(batch.jobs[2].id)
    staged.wait(lambda: batch.count == 2)
    staged.session.jobs.cancel_all()
    staged.wait(lambda: batch.count == 0)
    staged.end()


def test_pictures_that_were_cancelled_before_their_batch_began_are_none_of_it(
    staged: Staged,
) -> None:
    staged.queue.pause(paused=True)
    batch = make(staged, 3)
    staged.wait(lambda: len(staged.queue.jobs) == 3)
    first, second, third = (job.id for job in staged.queue.jobs)
    staged.session.jobs_in_queue.remove([second])
    staged.queue.pause(paused=False)
    staged.wait_for_jobs(3)
    assert [job.id for job in batch.jobs] == [first, third]
    assert batch.number(third) == 2


def test_pictures_that_are_put_back_are_of_the_batch_again(tmp_path: Path, qtbot: QtBot) -> None:
    staged = Staged(tmp_path, qtbot, fake_command(Plan(steps=100_000, step_seconds=0.01)), QUICK)
    staged.start()
    batch = make(staged, 3)
    staged.wait(lambda: batch.count == 3)
    first, second, third = (job.id for job in batch.jobs)
    staged.session.jobs_in_queue.remove([second])
    staged.wait(lambda: batch.count == 2)
    staged.session.remedies.undo_latest()
    staged.wait(lambda: batch.count == 3)
    assert [job.id for job in batch.jobs] == [first, second, third]
    assert batch.number(second) == 2
    staged.session.jobs.cancel_all()
    staged.wait(lambda: batch.count == 0)
    staged.end()


def test_a_large_batch_shows_the_pictures_around_the_running_one(staged: Staged) -> None:
    batch = make(staged, 40)
    staged.wait(lambda: batch.count == 40)
    assert len(batch.shown) == 36
    staged.wait_for_jobs(40)
    assert [job.id for job in batch.shown] == [job.id for job in batch.jobs[36:]]
