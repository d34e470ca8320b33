"""A picture that exists is said and not made twice; what is wanted all the same is made."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.notices.notices import Notice
from app.notices.remedies import NoticeAction
from app.queue.jobs import JobState
from engine.api.request import SeedOptions
from tests.app.fake_engine import Plan
from tests.app.requests import generation_of
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

Stage = Callable[..., Staged]


@pytest.fixture
def stage(tmp_path: Path, qtbot: QtBot) -> Iterator[Stage]:
    sessions: list[Staged] = []

    def make(plan: Plan | None = Plan()) -> Staged:  # noqa: B008 (immutable)
        command = fake_command(plan) if plan else None
        sessions.append(Staged(tmp_path, qtbot, command, QUICK if plan else None))
        return sessions[-1]

    yield make
    for session in sessions:
        session.end()


def repeats_told(staged: Staged) -> list[Notice]:
    notices = staged.session.notices.notices
    return [notice for notice in notices if NoticeAction.MAKE_AGAIN in notice.actions]


def lock(staged: Staged, seed: int = 5) -> None:
    form = staged.session.generation
    form.seed, form.seed_locked = seed, True


def test_pressing_twice_with_a_kept_seed_makes_one_picture(stage: Stage) -> None:
    staged = stage(Plan(steps=10_000, step_seconds=0.01)).start()
    lock(staged)
    staged.session.jobs.generate()
    staged.session.jobs.generate()
    # The queue tells of what it takes a moment later.
    staged.wait(lambda: bool(repeats_told(staged) and staged.queue.jobs))
    assert len(staged.queue.jobs) == 1
    staged.session.jobs.cancel()
    staged.wait_for_jobs(1)


def test_a_repeated_picture_is_made_again_when_the_notice_is_pressed(stage: Stage) -> None:
    staged = stage().start()
    lock(staged)
    staged.session.jobs.generate()
    staged.wait_for_jobs(1)
    staged.session.jobs.generate()
    staged.wait(lambda: bool(repeats_told(staged)))
    assert len(staged.queue.jobs) == 1
    # What was told of is made, whatever the form has by now.
    staged.session.generation.prompt = "another"
    lock(staged, 9)
    staged.session.remedies.act(repeats_told(staged)[0], NoticeAction.MAKE_AGAIN)
    first, again = map(generation_of, staged.wait_for_jobs(2))
    assert first == again
    assert [job.state for job in staged.wait_for_jobs(2)] == [JobState.DONE] * 2


def test_other_settings_with_the_same_seed_are_made(stage: Stage) -> None:
    staged = stage().start()
    lock(staged)
    staged.session.jobs.generate()
    staged.wait_for_jobs(1)
    staged.session.generation.prompt = "another"
    staged.session.jobs.generate()
    staged.wait_for_jobs(2)
    assert repeats_told(staged) == []


def test_only_missing_pictures_of_a_batch_are_made(stage: Stage) -> None:
    staged = stage().start()
    lock(staged, 6)
    staged.session.jobs.generate()
    staged.wait_for_jobs(1)
    lock(staged, 5)
    staged.session.generation.count = 3
    staged.session.jobs.generate()
    jobs = staged.wait_for_jobs(3)
    assert [generation_of(job).seed for job in jobs] == [6, 5, 7]
    assert len(repeats_told(staged)) == 1


def test_a_kept_seed_stays_where_only_later_pictures_of_a_batch_are_made(stage: Stage) -> None:
    staged = stage().start()
    lock(staged)
    staged.session.jobs.generate()
    staged.wait_for_jobs(1)
    staged.session.generation.count = 3
    staged.session.jobs.generate()
    jobs = staged.wait_for_jobs(3)
    assert [generation_of(job).seed for job in jobs] == [5, 6, 7]
    assert staged.session.generation.seed == 5


def test_a_picture_of_another_seed_is_no_repetition(stage: Stage) -> None:
    staged = stage().start()
    lock(staged)
    staged.session.jobs.generate()
    staged.wait_for_jobs(1)
    lock(staged, 6)
    staged.session.jobs.generate()
    jobs = staged.wait_for_jobs(2)
    assert [generation_of(job).seed for job in jobs] == [5, 6]
    assert repeats_told(staged) == []


def varied(staged: Staged, second_seed: int | None) -> None:
    lock(staged)
    form = staged.session.generation
    form.seed_options = SeedOptions(variation_strength=0.2, variation_seed=second_seed)


def test_variations_without_a_second_seed_are_new_at_each_press(stage: Stage) -> None:
    staged = stage().start()
    varied(staged, None)
    staged.session.generation.count = 2
    staged.session.jobs.generate()
    staged.wait_for_jobs(2)
    staged.session.jobs.generate()
    made = [generation_of(job) for job in staged.wait_for_jobs(4)]
    assert {request.seed for request in made} == {5}
    assert len({request.seed_options.variation_seed for request in made}) == 4
    assert repeats_told(staged) == []


def test_only_missing_variations_of_a_batch_are_made(stage: Stage) -> None:
    staged = stage().start()
    varied(staged, 21)
    staged.session.jobs.generate()
    staged.wait_for_jobs(1)
    varied(staged, 20)
    staged.session.generation.count = 3
    staged.session.jobs.generate()
    made = [generation_of(job) for job in staged.wait_for_jobs(3)]
    assert [request.seed_options.variation_seed for request in made] == [21, 20, 22]
    assert {request.seed for request in made} == {5}
    assert len(repeats_told(staged)) == 1


def test_a_failed_picture_may_be_asked_for_again(stage: Stage) -> None:
    staged = stage(Plan(dies_in_jobs=True, status=3))
    staged.session.start()
    lock(staged)
    staged.session.jobs.generate()
    assert staged.wait_for_jobs(1)[0].state is JobState.FAILED
    staged.session.jobs.generate()
    staged.wait(lambda: len(staged.queue.jobs) == 2)
    assert repeats_told(staged) == []


def test_a_picture_in_the_trash_may_be_made_again(stage: Stage) -> None:
    staged = stage().start()
    lock(staged)
    staged.session.jobs.generate()
    (job,) = staged.wait_for_jobs(1)
    Path(job.images[0]).unlink()
    staged.session.jobs.generate()
    staged.wait_for_jobs(2)


def test_a_request_that_is_cancelled_during_the_search_for_its_picture_is_not_queued(
    stage: Stage,
) -> None:
    staged = stage().start()
    lock(staged)
    staged.session.jobs.generate()
    staged.session.jobs.cancel()
    lock(staged, 8)
    staged.session.jobs.generate()
    (job,) = staged.wait_for_jobs(1)
    assert generation_of(job).seed == 8


def test_a_picture_of_an_earlier_session_is_known_by_its_record(stage: Stage) -> None:
    first = stage(None).start()
    form = first.session.generation
    form.steps = 1
    first.wait(lambda: first.session.checkpoints.answer(form.checkpoint) is not None)
    lock(first, 7)
    first.session.jobs.generate()
    (job,) = first.wait_for_jobs(1)
    assert job.state is JobState.DONE
    first.end()
    again = stage(None).start()
    again.wait(lambda: len(again.session.output_pictures) == 1)
    store = again.session.checkpoints
    again.wait(lambda: store.answer(again.session.generation.checkpoint) is not None)
    assert again.session.generation.seed_locked
    again.session.jobs.generate()
    again.wait(lambda: bool(repeats_told(again)))
    assert Path(job.images[0]).name in repeats_told(again)[0].message
    assert again.queue.jobs == ()
    # Whichever value is another one, it is another picture.
    again.session.generation.steps = 2
    again.session.jobs.generate()
    assert again.wait_for_jobs(1)[0].state is JobState.DONE
