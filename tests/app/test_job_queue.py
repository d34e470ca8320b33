"""The queue: what reaches the engine, what is told, and what a restart brings back."""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.engine.client import EngineClient
from app.engine.process import EngineState
from app.queue.job_queue import JobQueue
from app.queue.jobs import Job, JobState
from app.queue.submission import MAX_WAITING
from engine.api.limits import MAX_COUNT, MAX_SEED
from engine.api.messages import CancelJob, ImageSaved, JobCancelled, JobFailed, RunJob
from engine.api.request import GenerateRequest, SeedOptions
from engine.api.sentences import sentence
from engine.api.upscaling import UpscaleRequest
from engine.api.values import ErrorCode, ErrorInfo
from engine.errors import EngineError
from tests.app.fake_engine import saved_image
from tests.app.requests import generation_of
from tests.app.silent_process import CRASH, SilentProcess

REQUEST = GenerateRequest(prompt="a red house", seed=7)
FAILURE = ErrorInfo(ErrorCode.OUT_OF_MEMORY, "There is no memory.", "Try a smaller size.")
PATIENCE_MS = 60_000


class Queued:
    """A queue, the process it talks to, and what it told."""

    def __init__(self, state: Path, bot: QtBot, process: SilentProcess) -> None:
        self._bot = bot
        self.process = process
        self.client = EngineClient(process)
        self.queue = JobQueue(self.client, state)
        self.added: list[Job] = []
        self.changed: list[Job] = []
        self.removed: list[str] = []
        self.problems: list[ErrorInfo] = []
        self.queue.job_added.connect(self.added.append)
        self.queue.job_changed.connect(self.changed.append)
        self.queue.job_removed.connect(self.removed.append)
        self.queue.journal_failed.connect(self.problems.append)

    def submit(self, count: int = 1, *, front: bool = False) -> tuple[str, ...]:
        """Submit, and wait until it is told."""
        request = GenerateRequest(prompt="a red house", seed=7, count=count)
        jobs = self.queue.submit(request, Path("out"), front=front)
        self.wait(lambda: self.queue.job(jobs[-1]) is not None)
        return jobs

    def wait(self, condition: Callable[[], bool]) -> None:
        """Let events happen until this holds."""
        self._bot.waitUntil(condition, timeout=PATIENCE_MS)

    def wait_until_running(self, job: str) -> None:
        self.wait(lambda: self.queue.running is not None and self.queue.running.id == job)
        assert self.process.jobs_run[-1] == job

    def wait_until(self, job: str, state: JobState) -> Job:
        """The job, once it is in this state."""
        self.wait(lambda: self.state(job) is state)
        found = self.queue.job(job)
        assert found is not None
        return found

    def state(self, job: str) -> JobState | None:
        found = self.queue.job(job)
        return found and found.state

    @property
    def order(self) -> list[str]:
        return [job.id for job in self.queue.jobs]


Open = Callable[..., Queued]


@pytest.fixture
def open_queue(tmp_path: Path, qtbot: QtBot) -> Iterator[Open]:
    opened: list[Queued] = []

    def open_one(state: EngineState = EngineState.READY) -> Queued:
        new = Queued(tmp_path / "state", qtbot, SilentProcess(tmp_path, state))
        opened.append(new)
        return new

    yield open_one
    for queued in opened:
        queued.queue.close()


# --- one session ---


def test_garbage_collection_walks_no_waiting_jobs(open_queue: Open) -> None:
    queued = open_queue()
    queued.submit(3)
    assert len(queued.queue.jobs) == 3
    assert not any(gc.is_tracked(job) or gc.is_tracked(job.request) for job in queued.queue.jobs)


def test_jobs_run_one_after_another_in_order(open_queue: Open, tmp_path: Path) -> None:
    queued = open_queue()
    jobs = queued.submit(3)
    for job in jobs:
        queued.wait_until_running(job)
        assert queued.process.jobs_run == list(jobs[: jobs.index(job) + 1])
        queued.process.say(saved_image(job, f"{job}.png"))
        queued.process.finish(job)
        assert queued.wait_until(job, JobState.DONE).images == (f"{job}.png",)
    seeds = [command.request.seed for command in queued.process.sent_of(RunJob)]
    assert seeds == [7, 8, 9]
    assert {command.request.count for command in queued.process.sent_of(RunJob)} == {1}
    assert [job.id for job in queued.added] == list(jobs)
    queued.queue.close()
    journal = (tmp_path / "state" / "queue.jsonl").read_text()
    kinds = ("Submitted", "Started", "Saved", "Finished")
    assert [journal.count(f'"{kind}"') for kind in kinds] == [1, 3, 3, 3]


def test_a_request_without_a_seed_gets_one_that_stays(open_queue: Open) -> None:
    queued = open_queue(EngineState.STARTING)
    queued.queue.submit(GenerateRequest(prompt="", count=3), Path("out"))
    queued.wait(lambda: len(queued.added) == 3)
    first = generation_of(queued.added[0]).seed
    assert first is not None
    assert [generation_of(job).seed for job in queued.added] == [first, first + 1, first + 2]


def test_variations_of_one_picture_are_drawn_by_chance_and_stay(open_queue: Open) -> None:
    queued = open_queue(EngineState.STARTING)
    varied = GenerateRequest(prompt="", count=3, seed_options=SeedOptions(variation_strength=0.2))
    queued.queue.submit(varied, Path("out"))
    queued.queue.submit(msgspec.structs.replace(varied, seed=7), Path("out"))
    queued.wait(lambda: len(queued.added) == 6)
    made = [generation_of(job) for job in queued.added]
    first, *others = (request.seed_options.variation_seed for request in made[:3])
    assert first is not None
    assert others == [first + 1, first + 2]
    assert made[0].seed is not None
    assert [request.seed for request in made] == [made[0].seed] * 3 + [7] * 3
    assert made[3].seed_options.variation_seed != first


LAST_VARIATION = SeedOptions(variation_strength=0.2, variation_seed=MAX_SEED)


@pytest.mark.parametrize(
    "request_",
    [
        GenerateRequest(prompt="", count=0),
        GenerateRequest(prompt="", count=MAX_COUNT + 1),
        GenerateRequest(prompt="", seed=-1),
        GenerateRequest(prompt="", seed=MAX_SEED, count=2),
        GenerateRequest(prompt="", seed_options=LAST_VARIATION, count=2),
        GenerateRequest(prompt="\ud800"),
    ],
)
def test_a_request_that_cannot_be_queued_is_refused(
    open_queue: Open, request_: GenerateRequest
) -> None:
    queued = open_queue()
    with pytest.raises(EngineError) as caught:
        queued.queue.submit(request_, Path("out"))
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    queued.submit()
    assert len(queued.queue.jobs) == 1


def test_no_job_is_sent_before_the_engine_is_ready(open_queue: Open) -> None:
    queued = open_queue(EngineState.STARTING)
    (job,) = queued.submit()
    assert queued.process.sent == []
    queued.process.become(EngineState.READY)
    queued.wait_until_running(job)


def test_no_job_is_sent_while_the_engine_does_not_answer(open_queue: Open) -> None:
    queued = open_queue(EngineState.NOT_ANSWERING)
    queued.submit()
    assert queued.process.sent == []


def test_a_job_that_fails_keeps_its_reason_and_the_next_runs(open_queue: Open) -> None:
    queued = open_queue()
    first, second = queued.submit(2)
    queued.wait_until_running(first)
    queued.process.say(JobFailed(job=first, error=FAILURE))
    queued.wait_until_running(second)
    assert queued.wait_until(first, JobState.FAILED).error == FAILURE


def test_a_request_too_long_to_be_sent_fails_and_the_next_runs(
    open_queue: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued = open_queue()

    def refuse(_command: object) -> bool:
        monkeypatch.undo()
        raise EngineError(ErrorCode.REQUEST_INVALID, sentence("Too long."), sentence("Shorten it."))

    monkeypatch.setattr(queued.process, "send", refuse)
    first, second = queued.submit(2)
    queued.wait_until_running(second)
    error = queued.wait_until(first, JobState.FAILED).error
    assert error is not None
    assert error.message == "Too long."


def test_events_of_other_jobs_change_nothing(open_queue: Open) -> None:
    queued = open_queue()
    first, second = queued.submit(2)
    queued.wait_until_running(first)
    for job in (second, "unknown"):
        queued.process.finish(job)
        queued.process.say(JobFailed(job=job, error=FAILURE), JobCancelled(job=job))
    queued.process.finish(first)
    queued.wait_until_running(second)
    assert queued.wait_until(first, JobState.DONE)


# --- cancel, retry, order ---


def test_a_waiting_job_is_cancelled_without_the_engine(open_queue: Open) -> None:
    queued = open_queue()
    first, second, third = queued.submit(3)
    queued.wait_until_running(first)
    queued.queue.cancel(second)
    queued.wait_until(second, JobState.CANCELLED)
    queued.process.finish(first)
    queued.wait_until_running(third)
    assert queued.process.sent_of(CancelJob) == []


def test_the_engine_has_the_last_word_on_a_running_job(open_queue: Open) -> None:
    queued = open_queue()
    first, second = queued.submit(2)
    for job in (first, second):
        queued.wait_until_running(job)
        queued.queue.cancel(job)
        # Told before the disk has it.
        assert queued.process.sent_of(CancelJob)[-1].job == job
        queued.wait(lambda: queued.queue.running is not None and queued.queue.running.cancelling)
        if job is first:
            queued.process.say(JobCancelled(job=job))
        else:
            queued.process.finish(job)
    queued.wait_until(first, JobState.CANCELLED)
    queued.wait_until(second, JobState.DONE)


def test_a_cancel_that_meets_the_start_reaches_the_engine_after_the_job(open_queue: Open) -> None:
    queued = open_queue()
    (job,) = queued.queue.submit(REQUEST, Path("out"))
    queued.queue.cancel(job)
    queued.wait_until(job, JobState.CANCELLED)
    queued.process.become(EngineState.STARTING)
    (job,) = queued.submit()
    # The start is being written when the user cancels.
    queued.process.become(EngineState.READY)
    queued.queue.cancel(job)
    queued.wait(lambda: bool(queued.process.sent_of(CancelJob)))
    assert [type(command) for command in queued.process.sent] == [RunJob, CancelJob]


def test_cancelling_all_ends_the_running_job_and_those_that_wait(open_queue: Open) -> None:
    queued = open_queue()
    first, *others = queued.submit(4)
    queued.wait_until_running(first)
    queued.queue.cancel_all()
    assert queued.process.sent_of(CancelJob)[0].job == first
    for job in others:
        queued.wait_until(job, JobState.CANCELLED)
    queued.process.say(JobCancelled(job=first))
    queued.wait_until(first, JobState.CANCELLED)
    assert queued.process.jobs_run == [first]


def test_a_failed_job_can_be_tried_again(open_queue: Open) -> None:
    queued = open_queue()
    first, second = queued.submit(2)
    queued.wait_until_running(first)
    queued.process.say(JobFailed(job=first, error=FAILURE))
    queued.wait_until_running(second)
    queued.queue.retry(first)
    queued.process.finish(second)
    queued.wait_until_running(first)
    assert queued.order == [first, second]


def test_a_job_at_the_front_is_started_before_those_that_wait(open_queue: Open) -> None:
    queued = open_queue()
    running, a, b = queued.submit(3)
    queued.wait_until_running(running)
    (c,) = queued.submit(front=True)
    assert queued.order == [running, c, a, b]
    queued.process.finish(running)
    queued.wait_until_running(c)


def test_a_large_batch_at_the_front_keeps_its_order(open_queue: Open) -> None:
    queued = open_queue(EngineState.STARTING)
    waiting = queued.submit(2)
    batch = queued.queue.submit(
        GenerateRequest(prompt="", seed=0, count=2500), Path("out"), front=True
    )
    queued.wait(lambda: len(queued.queue.jobs) == 2502)
    assert queued.order == [*batch, *waiting]
    assert [generation_of(job).seed for job in queued.queue.jobs[:2500]] == list(range(2500))


class Storm:
    """Deeds of a person and of the engine at random, and the order that must follow."""

    def __init__(self, queued: Queued, jobs: Sequence[str], chance: Random) -> None:
        self._queued, self._chance = queued, chance
        self.order, self.states = list(jobs), dict.fromkeys(jobs, JobState.WAITING)
        self.running: list[str] = []
        self._follow()

    def blow(self) -> None:
        """Do one thing; most often cancel a job, which is mostly one that waits."""
        deeds = (self._cancel, self._move, self._submit, self._retry, self.finish)
        self._chance.choices(deeds, (60, 25, 3, 10, 2))[0]()

    def _any(self, state: JobState) -> list[str]:
        return [name for name in self.order if self.states[name] is state]

    def _cancel(self) -> None:
        name = self._chance.choice(self.order)
        if self.states[name] is JobState.RUNNING:
            return  # what becomes of it is the engine's to say
        self._queued.queue.cancel(name)
        if self.states[name] is JobState.WAITING:
            self.states[name] = JobState.CANCELLED

    def _move(self) -> None:
        names = self._chance.sample(self.order, self._chance.choice((1, 2, 50)))
        before = self._chance.choice((None, *self._chance.sample(self.order, 3)))
        self._queued.queue.move(names, before)
        moved = [n for n in names if self.states[n] is JobState.WAITING and n != before]
        if moved:
            self.order = [name for name in self.order if name not in set(moved)]
            place = len(self.order) if before is None else self.order.index(before)
            self.order[place:place] = moved

    def _submit(self) -> None:
        jobs = self._queued.queue.submit(REQUEST, Path("out"))
        self.order += jobs
        self.states.update(dict.fromkeys(jobs, JobState.WAITING))

    def _retry(self) -> None:
        for name in self._chance.sample(self._any(JobState.CANCELLED) or [""], 1):
            self._queued.queue.retry(name)
            if name:
                self.states[name] = JobState.WAITING

    def finish(self) -> None:
        """Let the engine be ready with its job: the first that waits is next."""
        self._queued.process.finish(self.running[-1])
        self.states[self.running[-1]] = JobState.DONE
        self._follow()

    def _follow(self) -> None:
        first = self._any(JobState.WAITING)[0]
        self._queued.wait_until_running(first)
        self.states[first] = JobState.RUNNING
        self.running.append(first)


@pytest.mark.parametrize(
    ("seed", "deeds"),
    [(29, 300), *(pytest.param(seed, 2000, marks=pytest.mark.slow) for seed in range(5))],
)
def test_ten_thousand_jobs_and_a_storm_keep_the_order(
    open_queue: Open, seed: int, deeds: int
) -> None:
    """Cancelled, moved, submitted and put back while one after another runs; then read again."""
    queued = open_queue()
    # With room for those that come while it blows.
    storm = Storm(queued, queued.submit(MAX_COUNT - 200), Random(seed))
    for _ in range(deeds):
        storm.blow()
    storm.finish()  # waits until all before it is done
    assert queued.order == storm.order
    assert {job.id: job.state for job in queued.queue.jobs} == storm.states
    assert queued.process.jobs_run == storm.running
    assert len(storm.running) > 5
    queued.queue.close()
    again = open_queue(EngineState.STARTING)
    # The running one is made anew; those that are over leave the list.
    kept = (JobState.RUNNING, JobState.WAITING)
    assert again.order == [name for name in storm.order if storm.states[name] in kept]


def test_no_more_jobs_wait_than_there_is_room_for(open_queue: Open) -> None:
    queued = open_queue(EngineState.STARTING)
    queued.queue.submit(GenerateRequest(prompt="", count=MAX_WAITING - 1), Path("out"))
    # Those that are still being written count.
    with pytest.raises(EngineError, match="no room"):
        queued.queue.submit(GenerateRequest(prompt="", count=2), Path("out"))
    enlarging = UpscaleRequest(source="cat.png", upscaler="lanczos")
    (larger,) = queued.queue.submit_upscales([(enlarging, Path("out"))])
    with pytest.raises(EngineError, match="no room"):
        queued.queue.submit(REQUEST, Path("out"))
    queued.queue.cancel(larger)
    queued.wait_until(larger, JobState.CANCELLED)
    queued.wait(lambda: len(queued.queue.jobs) == MAX_WAITING)
    (last,) = queued.queue.submit(REQUEST, Path("out"))
    queued.wait(lambda: queued.queue.jobs[-1].id == last)
    with pytest.raises(EngineError, match="no room"):
        queued.queue.submit(REQUEST, Path("out"))
    queued.queue.cancel(last)
    queued.wait_until(last, JobState.CANCELLED)
    queued.queue.submit(REQUEST, Path("out"))


def test_many_changes_are_made_in_turns_and_all_before_the_end(open_queue: Open) -> None:
    queued = open_queue(EngineState.STARTING)
    jobs = queued.submit(2000)
    queued.wait(lambda: len(queued.queue.jobs) == len(jobs))
    asked: list[str] = []

    def cancels() -> Iterator[None]:
        for name in jobs:
            asked.append(name)
            time.sleep(0.0001)
            yield queued.queue.cancel(name)

    queued.queue.in_turns(cancels())
    assert 0 < len(asked) < len(jobs)
    queued.queue.in_turns(queued.queue.retry(name) for name in jobs[:1])
    assert queued.state(jobs[0]) is JobState.WAITING
    queued.queue.close()
    assert len(asked) == len(jobs)
    assert queued.state(jobs[0]) is JobState.WAITING
    assert queued.state(jobs[1]) is JobState.CANCELLED


# --- the engine ends ---


def test_a_crash_brings_the_job_back_once_and_then_it_has_failed(open_queue: Open) -> None:
    queued = open_queue()
    first, second = queued.submit(2)
    queued.wait_until_running(first)
    queued.process.crash()
    assert queued.wait_until(first, JobState.WAITING).attempts == 1
    queued.process.become(EngineState.READY)
    queued.wait_until_running(first)
    queued.process.crash()
    assert queued.wait_until(first, JobState.FAILED).error == CRASH
    queued.process.become(EngineState.READY)
    queued.wait_until_running(second)
    assert queued.process.jobs_run == [first, first, second]


def test_a_crash_after_the_picture_was_saved_is_none_for_the_job(open_queue: Open) -> None:
    queued = open_queue()
    (job,) = queued.submit()
    queued.wait_until_running(job)
    queued.process.say(saved_image(job, "a.png"))
    queued.process.crash()
    assert queued.wait_until(job, JobState.DONE).images == ("a.png",)
    queued.process.become(EngineState.READY)
    (other,) = queued.submit()
    queued.wait_until_running(other)
    assert queued.process.jobs_run == [job, other]


def test_a_crash_while_it_was_being_cancelled_cancels_it(open_queue: Open) -> None:
    queued = open_queue()
    (job,) = queued.submit()
    queued.wait_until_running(job)
    queued.queue.cancel(job)
    queued.process.crash()
    queued.wait_until(job, JobState.CANCELLED)


def test_a_crash_while_the_start_is_written_does_not_count(open_queue: Open) -> None:
    queued = open_queue(EngineState.STARTING)
    (job,) = queued.submit()
    queued.process.become(EngineState.READY)
    queued.process.crash()
    queued.wait(lambda: any(change.state is JobState.RUNNING for change in queued.changed))
    assert queued.wait_until(job, JobState.WAITING).attempts == 0
    queued.process.become(EngineState.READY)
    queued.wait_until_running(job)
    assert queued.process.jobs_run == [job]


# --- the app ends ---


def test_an_orderly_end_takes_the_running_job_back_without_blame(open_queue: Open) -> None:
    queued = open_queue()
    first, second = queued.submit(2)
    queued.wait_until_running(first)
    # What the engine says when it is told to stop.
    queued.process.become(EngineState.STOPPED)
    queued.process.say(JobCancelled(job=first))
    queued.queue.close()
    again = open_queue(EngineState.STARTING)
    assert again.order == [first, second]
    assert [(job.state, job.attempts) for job in again.queue.jobs] == 2 * [(JobState.WAITING, 0)]


@pytest.mark.parametrize("running", [True, False])
def test_closing_takes_the_job_back_wherever_it_is(open_queue: Open, running: bool) -> None:
    queued = open_queue()
    (job,) = queued.submit() if running else queued.queue.submit(REQUEST, Path("out"))
    if running:
        queued.wait_until_running(job)
    queued.queue.close()
    again = open_queue(EngineState.STARTING)
    assert [
        (queued_job.id, queued_job.state, queued_job.attempts) for queued_job in again.queue.jobs
    ] == [(job, JobState.WAITING, 0)]


def test_the_next_session_has_what_waits_and_what_failed(open_queue: Open) -> None:
    queued = open_queue()
    done, failed, cancelled, *waiting = queued.submit(6)
    queued.wait_until_running(done)
    queued.process.finish(done)
    queued.wait_until_running(failed)
    queued.process.say(JobFailed(job=failed, error=FAILURE))
    queued.queue.cancel(cancelled)
    queued.wait_until(cancelled, JobState.CANCELLED)
    queued.queue.close()
    for _ in range(2):
        again = open_queue(EngineState.STARTING)
        assert again.order == [failed, *waiting]
        job = again.queue.job(failed)
        assert job is not None
        assert job.error == FAILURE
        again.queue.close()


def test_a_job_under_which_the_app_died_is_tried_once_more(tmp_path: Path, qtbot: QtBot) -> None:
    state, opened = tmp_path / "state", list[Queued]()
    for attempts in (1, 2):
        # The one before is not closed: nothing says goodbye to the journal.
        opened.append(Queued(state, qtbot, SilentProcess(tmp_path)))
        if attempts == 1:
            opened[0].submit()
        name = opened[0].order[0]
        opened[-1].wait_until_running(name)
        assert opened[-1].queue.running is not None
        assert opened[-1].queue.running.attempts == attempts
    last = Queued(state, qtbot, SilentProcess(tmp_path))
    (job,) = last.queue.jobs
    assert job.state is JobState.FAILED
    assert job.error is not None
    assert "twice" in job.error.message
    for queued in (*opened, last):
        queued.queue.close()


def test_a_picture_saved_before_the_app_died_is_not_made_again(
    tmp_path: Path, qtbot: QtBot
) -> None:
    state = tmp_path / "state"
    first = Queued(state, qtbot, SilentProcess(tmp_path))
    (job,) = first.submit()
    first.wait_until_running(job)
    first.process.say(saved_image(job, "a.png"))
    first.wait(lambda: bool(first.queue.running and first.queue.running.images))
    again = Queued(state, qtbot, SilentProcess(tmp_path))
    assert again.state(job) is JobState.DONE
    assert again.process.sent == []
    for queued in (first, again):
        queued.queue.close()


def test_a_damaged_journal_is_told(open_queue: Open, tmp_path: Path) -> None:
    queued = open_queue(EngineState.STARTING)
    (job,) = queued.submit()
    queued.queue.close()
    with (tmp_path / "state" / "queue.jsonl").open("ab") as file:
        file.write(b"garbage\n")
    again = open_queue(EngineState.STARTING)
    again.wait(lambda: bool(again.problems))
    assert again.problems[0].code is ErrorCode.QUEUE_UNREADABLE
    assert again.order == [job]


def test_a_state_folder_that_cannot_be_written_stops_nothing(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "state").touch()
    queued = Queued(tmp_path / "state", qtbot, SilentProcess(tmp_path))
    (job,) = queued.submit()
    queued.wait_until_running(job)
    assert [problem.code for problem in queued.problems] == [ErrorCode.OUTPUT_NOT_WRITABLE]
    queued.queue.close()


def test_images_of_other_jobs_are_not_taken(open_queue: Open) -> None:
    queued = open_queue()
    (job,) = queued.submit()
    queued.wait_until_running(job)
    other: ImageSaved = saved_image("other", "b.png")
    queued.process.say(other, saved_image(job, "a.png"))
    queued.process.finish(job)
    assert queued.wait_until(job, JobState.DONE).images == ("a.png",)
