"""The queue's jobs are reordered, copied, edited and removed; the pause and the order are kept."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.engine.process import EngineState
from app.notices.remedies import NoticeAction
from app.queue.drawing import Drawing
from app.queue.jobs import Job, JobRequest, JobState
from app.queue.under_way import Tally
from engine.api.checkpoints import CheckpointInfo, SuggestedSettings
from engine.api.control import ControlLayer
from engine.api.image_prompts import ImagePrompt
from engine.api.remedies import MakeSmaller
from engine.api.request import GuidanceOptions, RefinerChoice, SeedOptions
from engine.api.second_passes import SecondPass
from engine.api.values import ErrorCode, ErrorInfo, SamplerName, ScheduleName
from tests.app.fake_engine import Plan
from tests.app.layers import say_family
from tests.app.requests import generation_of
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

PROMPTS = ("one", "two", "three", "four")


@pytest.fixture
def stages(tmp_path: Path, qtbot: QtBot) -> Iterator[list[Staged]]:
    """Sessions on one folder, the second as after a restart."""
    sessions: list[Staged] = []
    yield sessions
    for session in sessions:
        session.end()


def begin(stages: list[Staged], folder: Path, bot: QtBot, plan: Plan | None = None) -> Staged:
    command = fake_command(plan) if plan else None
    stages.append(Staged(folder, bot, command, QUICK if plan else None))
    return stages[-1]


@pytest.fixture
def staged(stages: list[Staged], tmp_path: Path, qtbot: QtBot) -> Staged:
    """Four jobs wait for an engine that is not started."""
    staged = begin(stages, tmp_path, qtbot)
    for prompt in PROMPTS:
        staged.session.generation.prompt = prompt
        staged.session.jobs.generate()
    staged.wait(lambda: len(staged.queue.jobs) == len(PROMPTS))
    return staged


def ids(staged: Staged, *prompts: str) -> list[str]:
    jobs = {generation_of(job).prompt: job.id for job in staged.queue.jobs}
    return [jobs[prompt] for prompt in prompts]


def waiting(staged: Staged) -> tuple[str, ...]:
    jobs = staged.queue.jobs
    return tuple(generation_of(job).prompt for job in jobs if job.state is JobState.WAITING)


@pytest.mark.parametrize(
    ("moved", "by", "order"),
    [
        (("three",), -1, ("one", "three", "two", "four")),
        (("one",), -1, PROMPTS),
        (("one",), 1, ("two", "one", "three", "four")),
        (("four",), 1, PROMPTS),
        (("two", "three"), 1, ("one", "four", "two", "three")),
        (("two", "four"), -1, ("two", "four", "one", "three")),
    ],
)
def test_jobs_move_together_up_and_down(
    staged: Staged, moved: tuple[str, ...], by: int, order: tuple[str, ...]
) -> None:
    staged.session.jobs_in_queue.move(ids(staged, *moved), by)
    staged.queue.submit(generation_of(staged.queue.jobs[0]), staged.paths.output)
    staged.wait(lambda: len(staged.queue.jobs) == len(PROMPTS) + 1)
    assert waiting(staged)[:-1] == order


def test_another_order_can_be_undone_step_by_step(staged: Staged) -> None:
    session = staged.session
    commands = session.jobs_in_queue
    commands.to_front(ids(staged, "four"))
    staged.wait(lambda: waiting(staged) == ("four", "one", "two", "three"))
    commands.move(ids(staged, "four"), 1)
    staged.wait(lambda: waiting(staged) == ("one", "four", "two", "three"))
    commands.place(ids(staged, "three"), ids(staged, "one")[0])
    staged.wait(lambda: waiting(staged) == ("three", "one", "four", "two"))
    (notice,) = session.notices.notices
    assert notice.undo is not None
    staged.queue.submit(generation_of(staged.queue.jobs[0]), staged.paths.output)
    staged.wait(lambda: len(staged.queue.jobs) == len(PROMPTS) + 1)
    added = waiting(staged)[-1]
    for order in (("one", "four", "two", "three"), ("four", "one", "two", "three"), PROMPTS):
        session.remedies.undo_latest()
        staged.wait(lambda order=order: waiting(staged) == (*order, added))


def test_an_order_that_stays_is_not_told(staged: Staged) -> None:
    staged.session.jobs_in_queue.move(ids(staged, "one"), -1)
    assert staged.session.notices.notices == ()


class Counted(list[str]):
    """Names of which those that are looked for are counted."""

    sought = 0

    def __contains__(self, key: object, /) -> bool:
        self.sought += 1
        return super().__contains__(key)


def test_ten_thousand_jobs_are_not_looked_for_one_by_one(staged: Staged) -> None:
    """To look for each of those that wait in a list of as many would stop the window."""
    commands, moved = staged.session.jobs_in_queue, Counted(ids(staged, "one", "two"))
    commands.move(moved, 1)
    commands.to_front(moved)
    assert moved.sought == 0


def test_jobs_go_to_the_front_and_the_order_outlives_a_restart(
    staged: Staged, stages: list[Staged], tmp_path: Path, qtbot: QtBot
) -> None:
    staged.session.jobs_in_queue.to_front(ids(staged, "three", "four"))
    staged.wait(lambda: waiting(staged) == ("three", "four", "one", "two"))
    staged.session.jobs_in_queue.to_front(ids(staged, "three"))
    staged.queue.close()
    for _ in range(2):
        again = begin(stages, tmp_path, qtbot)
        assert waiting(again) == ("three", "four", "one", "two")
        again.queue.close()


def test_a_paused_queue_starts_nothing_until_it_is_resumed_also_after_a_restart(
    staged: Staged, stages: list[Staged], tmp_path: Path, qtbot: QtBot
) -> None:
    staged.session.jobs_in_queue.pause(paused=True)
    staged.wait(lambda: staged.queue.paused)
    # It is not closed: nothing says goodbye to the journal.
    again = begin(stages, tmp_path, qtbot, Plan())
    assert again.queue.paused
    again.session.start()
    (notice,) = again.session.notices.notices
    assert notice.message == "4 pictures from last time wait: the queue is paused."
    assert notice.actions == (NoticeAction.RESUME, NoticeAction.CANCEL_ALL)
    again.wait(lambda: again.process.state is EngineState.READY)
    qtbot.wait(50)
    assert again.queue.running is None
    assert waiting(again) == PROMPTS
    again.session.remedies.act(notice, NoticeAction.RESUME)
    again.wait_for_jobs(len(PROMPTS))
    assert not again.queue.paused
    assert again.session.notices.notices == ()


def test_a_copy_comes_next_with_another_seed(staged: Staged) -> None:
    staged.session.jobs_in_queue.duplicate(ids(staged, "two"))
    staged.wait(lambda: waiting(staged) == ("one", "two", "two", "three", "four"))
    seeds = [
        generation_of(job).seed for job in staged.queue.jobs if generation_of(job).prompt == "two"
    ]
    assert len(set(seeds)) == 2


def test_the_copy_of_a_variation_is_another_variation_of_its_picture(staged: Staged) -> None:
    form = staged.session.generation
    form.prompt, form.seed_options = "varied", SeedOptions(variation_strength=0.2)
    staged.session.jobs.generate()
    staged.wait(lambda: len(staged.queue.jobs) == len(PROMPTS) + 1)
    staged.session.jobs_in_queue.duplicate(ids(staged, "varied"))
    staged.wait(lambda: waiting(staged)[-2:] == ("varied", "varied"))
    job, copy = (generation_of(job) for job in staged.queue.jobs[-2:])
    assert job.seed == copy.seed
    assert job.seed_options.variation_seed != copy.seed_options.variation_seed


def test_copies_of_jobs_that_leave_the_queue_meanwhile_come_last(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[Iterator[object]] = []
    monkeypatch.setattr(staged.queue, "in_turns", turns.append)
    copied = ids(staged, "one", "two", "three")
    staged.session.jobs_in_queue.duplicate(copied)
    staged.queue.cancel(copied[1])
    staged.wait(lambda: waiting(staged) == ("one", "three", "four"))
    for _ in turns[0]:
        pass
    staged.wait(lambda: waiting(staged) == ("one", "one", "three", "three", "four", "two"))


def test_a_job_is_edited_in_the_form_and_put_back_by_undo(staged: Staged) -> None:
    form = staged.session.generation
    form.prompt, form.steps, form.count = "mine", 9, 4
    (job,) = ids(staged, "two")
    staged.session.jobs_in_queue.edit(job)
    # It was one picture.
    assert (form.prompt, form.count) == ("two", 1)
    staged.wait(lambda: waiting(staged) == ("one", "three", "four"))
    undo = staged.session.notices.notices[-1].undo
    assert undo is not None
    form.prompt = "two, much longer"
    undo()
    assert (form.prompt, form.steps, form.count) == ("mine", 9, 4)
    staged.wait(lambda: waiting(staged) == PROMPTS)
    # What was typed meanwhile is not lost.
    undo = staged.session.notices.notices[-1].undo
    assert undo is not None
    undo()
    assert form.prompt == "two, much longer"


def test_all_that_waited_is_put_back_by_undo(staged: Staged) -> None:
    staged.session.jobs.cancel_all()
    staged.wait(lambda: waiting(staged) == ())
    undo = staged.session.notices.notices[-1].undo
    assert undo is not None
    undo()
    staged.wait(lambda: waiting(staged) == PROMPTS)


def test_removed_jobs_are_put_back_in_their_places_by_undo(staged: Staged) -> None:
    staged.session.jobs_in_queue.remove(ids(staged, "one", "three"))
    staged.wait(lambda: waiting(staged) == ("two", "four"))
    undo = staged.session.notices.notices[-1].undo
    assert undo is not None
    undo()
    staged.wait(lambda: waiting(staged) == PROMPTS)


def test_failed_jobs_are_tried_again_made_smaller_and_cleared(
    stages: list[Staged], tmp_path: Path, qtbot: QtBot
) -> None:
    staged = begin(stages, tmp_path, qtbot, Plan(no_room_above=100)).start()
    commands, form = staged.session.jobs_in_queue, staged.session.generation
    form.width = form.height = 512
    staged.session.jobs.generate()
    (job,) = staged.wait_for_jobs(1)
    assert job.state is JobState.FAILED
    assert commands.smaller_size(job) == (384, 384)
    assert job.error is not None
    fitting = (MakeSmaller(width=512, height=512, fitting=(192, 192)),)
    error = msgspec.structs.replace(job.error, remedies=fitting)
    # As the engine advises.
    assert commands.smaller_size(msgspec.structs.replace(job, error=error)) == (192, 192)
    # That of the last pass is no size to begin with.
    twice = msgspec.structs.replace(job.request, second_passes=(SecondPass(),))
    assert commands.smaller_size(msgspec.structs.replace(job, error=error, request=twice)) == (
        384,
        384,
    )
    # Of no use where the file is lost.
    lost = ErrorInfo(ErrorCode.CHECKPOINT_NOT_FOUND, "")
    assert commands.smaller_size(msgspec.structs.replace(job, error=lost)) is None
    commands.retry_smaller([job.id])
    staged.wait(lambda: staged.queue.jobs[0].request.width == 384)
    (job,) = staged.wait_for_jobs(1)
    commands.clear(JobState.FAILED)
    staged.wait(lambda: staged.queue.jobs == ())
    assert [notice for notice in staged.session.notices.notices if notice.error is not None] == []


def copies(job: Job, count: int, prefix: str) -> list[Job]:
    return [msgspec.structs.replace(job, id=f"{prefix}{number}") for number in range(count)]


def asking(job: Job, requests: Sequence[JobRequest]) -> list[Job]:
    return [
        msgspec.structs.replace(job, id=str(number), request=request)
        for number, request in enumerate(requests)
    ]


def test_equal_pictures_of_a_long_queue_are_estimated_once(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands, job = staged.session.jobs_in_queue, staged.queue.jobs[0]
    larger = msgspec.structs.replace(
        job, request=msgspec.structs.replace(job.request, width=768, height=512)
    )
    asked: list[tuple[int, int]] = []

    def seconds(_checkpoint: str, passes: Sequence[Drawing]) -> float | None:
        asked.append((passes[0].width, passes[0].height))
        return {768: 2.0, 1024: None}.get(passes[0].width, 1.0)

    monkeypatch.setattr(staged.session.pace, "seconds", seconds)
    assert commands.total_seconds(Tally(copies(job, 1000, "a") + copies(larger, 10, "b"))) == 1020
    assert len(asked) == 2
    unknown = msgspec.structs.replace(
        job, request=msgspec.structs.replace(job.request, width=1024, height=1024)
    )
    assert commands.total_seconds(Tally([*copies(job, 1, "a"), unknown])) is None


def test_pictures_with_another_guidance_are_estimated_by_themselves(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands, job = staged.session.jobs_in_queue, staged.queue.jobs[0]
    options = GuidanceOptions(range=(0.0, 0.5))
    settings: dict[str, Any] = {"steps": 10, "sampler": SamplerName.EULER, "guidance": 7.0}
    plain = msgspec.structs.replace(job.request, **settings)
    requests = (
        plain,
        msgspec.structs.replace(plain, guidance=1.0),
        msgspec.structs.replace(plain, guidance_options=options),
        msgspec.structs.replace(plain, sampler=SamplerName.HEUN),
    )

    def seconds(_checkpoint: str, passes: Sequence[Drawing]) -> float | None:
        return sum(drawing.predictions for drawing in passes)

    monkeypatch.setattr(staged.session.pace, "seconds", seconds)
    jobs = asking(job, requests)
    assert [commands.seconds(each) for each in requests] == [20, 10, 15, 38]
    assert commands.total_seconds(Tally(jobs)) == 83


def test_the_time_of_a_job_counts_the_networks_beside_its_denoiser(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands, job = staged.session.jobs_in_queue, staged.queue.jobs[0]
    layer = ControlLayer(image="map.png", network="edges")
    prompt = ImagePrompt(image="cat.png", adapter="face")
    refiner = RefinerChoice(checkpoint="fine")
    requests = (
        job.request,
        msgspec.structs.replace(job.request, controls=(layer,)),
        msgspec.structs.replace(job.request, image_prompts=(prompt,)),
        msgspec.structs.replace(job.request, refiner=refiner),
    )

    def seconds(_checkpoint: str, passes: Sequence[Drawing]) -> float | None:
        names = [each.network for drawing in passes for each in drawing.beside]
        return 1.0 + 10 * names.count("edges") + 100 * names.count("face") + 1000 * len(passes)

    monkeypatch.setattr(staged.session.pace, "seconds", seconds)
    jobs = asking(job, requests)
    assert commands.total_seconds(Tally(jobs)) == sum((1001, 1011, 1101, 2001))


def test_the_time_of_a_job_follows_from_its_own_settings(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands, job = staged.session.jobs_in_queue, staged.queue.jobs[0]
    quick = SuggestedSettings(
        sampler=SamplerName.LCM, schedule=ScheduleName.SIMPLE, steps=4, guidance=1.0
    )
    say_family(staged.session, "sdxl")
    store, checkpoint = staged.session.checkpoints, staged.session.generation.checkpoint
    info = store.answer(checkpoint)
    assert isinstance(info, CheckpointInfo)
    told = msgspec.structs.replace(info, suggested=(quick,))
    store._keep(checkpoint, told)  # pyright: ignore[reportPrivateUsage]
    again = msgspec.structs.replace(
        job, request=msgspec.structs.replace(job.request, second_passes=(SecondPass(),))
    )

    def seconds(_checkpoint: str, passes: Sequence[Drawing]) -> float | None:
        return float(sum(drawing.steps for drawing in passes))

    monkeypatch.setattr(staged.session.pace, "seconds", seconds)
    staged.session.generation.steps = 50
    assert commands.seconds(job.request) == 4
    assert commands.total_seconds(Tally([*copies(job, 1, "a"), again])) == 12


def test_the_running_picture_is_made_by_the_engine_that_is_started_instead(
    stages: list[Staged], tmp_path: Path, qtbot: QtBot
) -> None:
    staged = begin(stages, tmp_path, qtbot).start()
    form = staged.session.generation
    form.width = form.height = 64
    form.steps = 40
    staged.session.jobs.generate()
    staged.wait(lambda: staged.session.progress.done > 0)
    staged.client.restart_engine()
    (job,) = staged.wait_for_jobs(1)
    assert (job.state, job.attempts) == (JobState.DONE, 1)


def test_the_model_is_not_inspected_for_pictures_that_were_not_begun(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, path = staged.session.checkpoints, staged.session.generation.checkpoint
    say_family(staged.session, "sd1")
    known = store.answer(path)
    assert isinstance(known, CheckpointInfo)
    unstated = msgspec.structs.replace(known, prediction_is_stated=False)
    store._keep(path, unstated)  # pyright: ignore[reportPrivateUsage]
    asked: list[Path] = []

    def look(path: Path, *_: object, **__: object) -> None:
        asked.append(path)

    monkeypatch.setattr(store, "look", look)
    staged.session.jobs.cancel_all()
    staged.wait(lambda: all(job.state.is_over for job in staged.queue.jobs))
    assert asked == []


def test_the_running_job_is_told_what_its_passes_cost(
    stages: list[Staged], tmp_path: Path, qtbot: QtBot
) -> None:
    staged = begin(stages, tmp_path, qtbot, Plan(step_seconds=0.5))
    staged.start()
    form, session = staged.session.generation, staged.session
    form.width = form.height = 256
    form.steps, form.second_passes = 10, (SecondPass(scale=2, strength=0.5),)
    first, second = session.jobs_in_queue.pass_steps(form.build_request())
    assert (first.steps, second.steps) == (10, 10)
    assert second.cost == pytest.approx(4 * first.cost)
    session.jobs.generate()
    staged.wait(lambda: session.progress.job is not None)
    assert session.progress.passes == (first, second)
