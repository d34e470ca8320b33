"""The queue: what reaches the engine, what is told, and what a restart brings back."""

import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.engine.client import EngineClient
from app.engine.process import EngineState
from app.queue.job_queue import JobQueue
from app.queue.jobs import Job, JobState
from app.queue.submission import MAX_WAITING
from engine.api.limits import MAX_COUNT, MAX_SEED
from engine.api.messages import CancelJob, ImageSaved, JobCancelled, JobFailed, RunJob
from engine.api.request import GenerateRequest
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
        one = Queued(tmp_path / "state", qtbot, SilentProcess(tmp_path, state))
        opened.append(one)
        return one

    yield open_one
    for one in opened:
        one.queue.close()


# --- one session ---


def test_garbage_collection_walks_no_waiting_jobs(open_queue: Open) -> None:
    it = open_queue()
    it.submit(3)
    assert len(it.queue.jobs) == 3
    assert not any(gc.is_tracked(job) or gc.is_tracked(job.request) for job in it.queue.jobs)


def test_jobs_run_one_after_another_in_order(open_queue: Open, tmp_path: Path) -> None:
    it = open_queue()
    jobs = it.submit(3)
    for job in jobs:
        it.wait_until_running(job)
        assert it.process.jobs_run == list(jobs[: jobs.index(job) + 1])
        it.process.say(saved_image(job, f"{job}.png"))
        it.process.finish(job)
        assert it.wait_until(job, JobState.DONE).images == (f"{job}.png",)
    seeds = [command.request.seed for command in it.process.sent_of(RunJob)]
    assert seeds == [7, 8, 9]
    assert {command.request.count for command in it.process.sent_of(RunJob)} == {1}
    assert [job.id for job in it.added] == list(jobs)
    it.queue.close()
    journal = (tmp_path / "state" / "queue.jsonl").read_text()
    kinds = ("Submitted", "Started", "Saved", "Finished")
    assert [journal.count(f'"{kind}"') for kind in kinds] == [1, 3, 3, 3]


def test_a_request_without_a_seed_gets_one_that_stays(open_queue: Open) -> None:
    it = open_queue(EngineState.STARTING)
    it.queue.submit(GenerateRequest(prompt="", count=3), Path("out"))
    it.wait(lambda: len(it.added) == 3)
    first = generation_of(it.added[0]).seed
    assert first is not None
    assert [generation_of(job).seed for job in it.added] == [first, first + 1, first + 2]


@pytest.mark.parametrize(
    "request_",
    [
        GenerateRequest(prompt="", count=0),
        GenerateRequest(prompt="", count=MAX_COUNT + 1),
        GenerateRequest(prompt="", seed=-1),
        GenerateRequest(prompt="", seed=MAX_SEED, count=2),
        GenerateRequest(prompt="\ud800"),
    ],
)
def test_a_request_that_cannot_be_queued_is_refused(
    open_queue: Open, request_: GenerateRequest
) -> None:
    it = open_queue()
    with pytest.raises(EngineError) as caught:
        it.queue.submit(request_, Path("out"))
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    it.submit()
    assert len(it.queue.jobs) == 1


def test_no_job_is_sent_before_the_engine_is_ready(open_queue: Open) -> None:
    it = open_queue(EngineState.STARTING)
    (job,) = it.submit()
    assert it.process.sent == []
    it.process.become(EngineState.READY)
    it.wait_until_running(job)


def test_no_job_is_sent_while_the_engine_does_not_answer(open_queue: Open) -> None:
    it = open_queue(EngineState.NOT_ANSWERING)
    it.submit()
    assert it.process.sent == []


def test_a_job_that_fails_keeps_its_reason_and_the_next_runs(open_queue: Open) -> None:
    it = open_queue()
    first, second = it.submit(2)
    it.wait_until_running(first)
    it.process.say(JobFailed(job=first, error=FAILURE))
    it.wait_until_running(second)
    assert it.wait_until(first, JobState.FAILED).error == FAILURE


def test_a_request_too_long_to_be_sent_fails_and_the_next_runs(
    open_queue: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = open_queue()

    def refuse(_command: object) -> bool:
        monkeypatch.undo()
        raise EngineError(ErrorCode.REQUEST_INVALID, sentence("Too long."), sentence("Shorten it."))

    monkeypatch.setattr(it.process, "send", refuse)
    first, second = it.submit(2)
    it.wait_until_running(second)
    error = it.wait_until(first, JobState.FAILED).error
    assert error is not None
    assert error.message == "Too long."


def test_events_of_other_jobs_change_nothing(open_queue: Open) -> None:
    it = open_queue()
    first, second = it.submit(2)
    it.wait_until_running(first)
    for job in (second, "unknown"):
        it.process.finish(job)
        it.process.say(JobFailed(job=job, error=FAILURE), JobCancelled(job=job))
    it.process.finish(first)
    it.wait_until_running(second)
    assert it.wait_until(first, JobState.DONE)


# --- cancel, retry, order ---


def test_a_waiting_job_is_cancelled_without_the_engine(open_queue: Open) -> None:
    it = open_queue()
    first, second, third = it.submit(3)
    it.wait_until_running(first)
    it.queue.cancel(second)
    it.wait_until(second, JobState.CANCELLED)
    it.process.finish(first)
    it.wait_until_running(third)
    assert it.process.sent_of(CancelJob) == []


def test_the_engine_has_the_last_word_on_a_running_job(open_queue: Open) -> None:
    it = open_queue()
    first, second = it.submit(2)
    for job in (first, second):
        it.wait_until_running(job)
        it.queue.cancel(job)
        # Told before the disk has it.
        assert it.process.sent_of(CancelJob)[-1].job == job
        it.wait(lambda: it.queue.running is not None and it.queue.running.cancelling)
        if job is first:
            it.process.say(JobCancelled(job=job))
        else:
            it.process.finish(job)
    it.wait_until(first, JobState.CANCELLED)
    it.wait_until(second, JobState.DONE)


def test_a_cancel_that_meets_the_start_reaches_the_engine_after_the_job(open_queue: Open) -> None:
    it = open_queue()
    (job,) = it.queue.submit(REQUEST, Path("out"))
    it.queue.cancel(job)
    it.wait_until(job, JobState.CANCELLED)
    it.process.become(EngineState.STARTING)
    (job,) = it.submit()
    # The start is being written when the user cancels.
    it.process.become(EngineState.READY)
    it.queue.cancel(job)
    it.wait(lambda: bool(it.process.sent_of(CancelJob)))
    assert [type(command) for command in it.process.sent] == [RunJob, CancelJob]


def test_cancelling_all_ends_the_running_job_and_those_that_wait(open_queue: Open) -> None:
    it = open_queue()
    first, *others = it.submit(4)
    it.wait_until_running(first)
    it.queue.cancel_all()
    assert it.process.sent_of(CancelJob)[0].job == first
    for job in others:
        it.wait_until(job, JobState.CANCELLED)
    it.process.say(JobCancelled(job=first))
    it.wait_until(first, JobState.CANCELLED)
    assert it.process.jobs_run == [first]


def test_a_failed_job_can_be_tried_again(open_queue: Open) -> None:
    it = open_queue()
    first, second = it.submit(2)
    it.wait_until_running(first)
    it.process.say(JobFailed(job=first, error=FAILURE))
    it.wait_until_running(second)
    it.queue.retry(first)
    it.process.finish(second)
    it.wait_until_running(first)
    assert it.order == [first, second]


def test_a_job_at_the_front_is_started_before_those_that_wait(open_queue: Open) -> None:
    it = open_queue()
    running, a, b = it.submit(3)
    it.wait_until_running(running)
    (c,) = it.submit(front=True)
    assert it.order == [running, c, a, b]
    it.process.finish(running)
    it.wait_until_running(c)


def test_a_large_batch_at_the_front_keeps_its_order(open_queue: Open) -> None:
    it = open_queue(EngineState.STARTING)
    waiting = it.submit(2)
    batch = it.queue.submit(GenerateRequest(prompt="", seed=0, count=2500), Path("out"), front=True)
    it.wait(lambda: len(it.queue.jobs) == 2502)
    assert it.order == [*batch, *waiting]
    assert [generation_of(job).seed for job in it.queue.jobs[:2500]] == list(range(2500))


def test_ten_thousand_jobs_and_a_storm_keep_the_order(open_queue: Open) -> None:
    it = open_queue()
    jobs = list(it.submit(MAX_COUNT - 20))
    it.wait_until_running(jobs[0])
    model, cancelled, goner = list(jobs), set[str](), ""
    for number in range(1000):
        goner = jobs[1 + (number * 104_729) % 9979]
        it.queue.cancel(goner)
        cancelled.add(goner)
        # Submitted while the storm goes on.
        if number % 100 == 0:
            model += it.queue.submit(REQUEST, Path("out"))
    it.wait(lambda: len(it.queue.jobs) == len(model) and it.state(goner) is JobState.CANCELLED)
    assert it.order == model
    over = {job.id for job in it.queue.jobs if job.state is JobState.CANCELLED}
    assert over == cancelled
    # The next one runs in the order of the list.
    it.process.finish(jobs[0])
    it.wait_until_running(next(job for job in model[1:] if job not in cancelled))


def test_no_more_jobs_wait_than_there_is_room_for(open_queue: Open) -> None:
    it = open_queue(EngineState.STARTING)
    it.queue.submit(GenerateRequest(prompt="", count=MAX_WAITING - 1), Path("out"))
    # Those that are still being written count.
    with pytest.raises(EngineError, match="no room"):
        it.queue.submit(GenerateRequest(prompt="", count=2), Path("out"))
    enlarging = UpscaleRequest(source="cat.png", upscaler="lanczos")
    (larger,) = it.queue.submit_upscales([(enlarging, Path("out"))])
    with pytest.raises(EngineError, match="no room"):
        it.queue.submit(REQUEST, Path("out"))
    it.queue.cancel(larger)
    it.wait_until(larger, JobState.CANCELLED)
    it.wait(lambda: len(it.queue.jobs) == MAX_WAITING)
    (last,) = it.queue.submit(REQUEST, Path("out"))
    it.wait(lambda: it.queue.jobs[-1].id == last)
    with pytest.raises(EngineError, match="no room"):
        it.queue.submit(REQUEST, Path("out"))
    it.queue.cancel(last)
    it.wait_until(last, JobState.CANCELLED)
    it.queue.submit(REQUEST, Path("out"))


def test_many_changes_are_made_in_turns_and_all_before_the_end(open_queue: Open) -> None:
    it = open_queue(EngineState.STARTING)
    jobs = it.submit(2000)
    it.wait(lambda: len(it.queue.jobs) == len(jobs))
    asked: list[str] = []

    def cancels() -> Iterator[None]:
        for name in jobs:
            asked.append(name)
            time.sleep(0.0001)
            yield it.queue.cancel(name)

    it.queue.in_turns(cancels())
    assert 0 < len(asked) < len(jobs)
    it.queue.in_turns(it.queue.retry(name) for name in jobs[:1])
    assert it.state(jobs[0]) is JobState.WAITING
    it.queue.close()
    assert len(asked) == len(jobs)
    assert it.state(jobs[0]) is JobState.WAITING
    assert it.state(jobs[1]) is JobState.CANCELLED


# --- the engine ends ---


def test_a_crash_brings_the_job_back_once_and_then_it_has_failed(open_queue: Open) -> None:
    it = open_queue()
    first, second = it.submit(2)
    it.wait_until_running(first)
    it.process.crash()
    assert it.wait_until(first, JobState.WAITING).attempts == 1
    it.process.become(EngineState.READY)
    it.wait_until_running(first)
    it.process.crash()
    assert it.wait_until(first, JobState.FAILED).error == CRASH
    it.process.become(EngineState.READY)
    it.wait_until_running(second)
    assert it.process.jobs_run == [first, first, second]


def test_a_crash_after_the_picture_was_saved_is_none_for_the_job(open_queue: Open) -> None:
    it = open_queue()
    (job,) = it.submit()
    it.wait_until_running(job)
    it.process.say(saved_image(job, "a.png"))
    it.process.crash()
    assert it.wait_until(job, JobState.DONE).images == ("a.png",)
    it.process.become(EngineState.READY)
    (other,) = it.submit()
    it.wait_until_running(other)
    assert it.process.jobs_run == [job, other]


def test_a_crash_while_it_was_being_cancelled_cancels_it(open_queue: Open) -> None:
    it = open_queue()
    (job,) = it.submit()
    it.wait_until_running(job)
    it.queue.cancel(job)
    it.process.crash()
    it.wait_until(job, JobState.CANCELLED)


def test_a_crash_while_the_start_is_written_does_not_count(open_queue: Open) -> None:
    it = open_queue(EngineState.STARTING)
    (job,) = it.submit()
    it.process.become(EngineState.READY)
    it.process.crash()
    it.wait(lambda: any(change.state is JobState.RUNNING for change in it.changed))
    assert it.wait_until(job, JobState.WAITING).attempts == 0
    it.process.become(EngineState.READY)
    it.wait_until_running(job)
    assert it.process.jobs_run == [job]


# --- the app ends ---


def test_an_orderly_end_takes_the_running_job_back_without_blame(open_queue: Open) -> None:
    it = open_queue()
    first, second = it.submit(2)
    it.wait_until_running(first)
    # What the engine says when it is told to stop.
    it.process.become(EngineState.STOPPED)
    it.process.say(JobCancelled(job=first))
    it.queue.close()
    again = open_queue(EngineState.STARTING)
    assert again.order == [first, second]
    assert [(job.state, job.attempts) for job in again.queue.jobs] == 2 * [(JobState.WAITING, 0)]


@pytest.mark.parametrize("running", [True, False])
def test_closing_takes_the_job_back_wherever_it_is(open_queue: Open, running: bool) -> None:
    it = open_queue()
    (job,) = it.submit() if running else it.queue.submit(REQUEST, Path("out"))
    if running:
        it.wait_until_running(job)
    it.queue.close()
    again = open_queue(EngineState.STARTING)
    assert [(one.id, one.state, one.attempts) for one in again.queue.jobs] == [
        (job, JobState.WAITING, 0)
    ]


def test_the_next_session_has_what_waits_and_what_failed(open_queue: Open) -> None:
    it = open_queue()
    done, failed, cancelled, *waiting = it.submit(6)
    it.wait_until_running(done)
    it.process.finish(done)
    it.wait_until_running(failed)
    it.process.say(JobFailed(job=failed, error=FAILURE))
    it.queue.cancel(cancelled)
    it.wait_until(cancelled, JobState.CANCELLED)
    it.queue.close()
    for _ in range(2):
        again = open_queue(EngineState.STARTING)
        assert again.order == [failed, *waiting]
        job = again.queue.job(failed)
        assert job is not None
        assert job.error == FAILURE
        again.queue.close()


def test_a_job_under_which_the_app_died_is_tried_once_more(tmp_path: Path, qtbot: QtBot) -> None:
    state, jobs = tmp_path / "state", list[Queued]()
    for attempts in (1, 2):
        # The one before is not closed: nothing says goodbye to the journal.
        jobs.append(Queued(state, qtbot, SilentProcess(tmp_path)))
        if attempts == 1:
            jobs[0].submit()
        name = jobs[0].order[0]
        jobs[-1].wait_until_running(name)
        assert jobs[-1].queue.running is not None
        assert jobs[-1].queue.running.attempts == attempts
    last = Queued(state, qtbot, SilentProcess(tmp_path))
    (job,) = last.queue.jobs
    assert job.state is JobState.FAILED
    assert job.error is not None
    assert "twice" in job.error.message
    for one in (*jobs, last):
        one.queue.close()


def test_a_picture_saved_before_the_app_died_is_not_made_again(
    tmp_path: Path, qtbot: QtBot
) -> None:
    state = tmp_path / "state"
    it = Queued(state, qtbot, SilentProcess(tmp_path))
    (job,) = it.submit()
    it.wait_until_running(job)
    it.process.say(saved_image(job, "a.png"))
    it.wait(lambda: bool(it.queue.running and it.queue.running.images))
    again = Queued(state, qtbot, SilentProcess(tmp_path))
    assert again.state(job) is JobState.DONE
    assert again.process.sent == []
    for one in (it, again):
        one.queue.close()


def test_a_damaged_journal_is_told(open_queue: Open, tmp_path: Path) -> None:
    it = open_queue(EngineState.STARTING)
    (job,) = it.submit()
    it.queue.close()
    with (tmp_path / "state" / "queue.jsonl").open("ab") as file:
        file.write(b"garbage\n")
    again = open_queue(EngineState.STARTING)
    again.wait(lambda: bool(again.problems))
    assert again.problems[0].code is ErrorCode.QUEUE_UNREADABLE
    assert again.order == [job]


def test_a_state_folder_that_cannot_be_written_stops_nothing(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "state").touch()
    it = Queued(tmp_path / "state", qtbot, SilentProcess(tmp_path))
    (job,) = it.submit()
    it.wait_until_running(job)
    assert [problem.code for problem in it.problems] == [ErrorCode.OUTPUT_NOT_WRITABLE]
    it.queue.close()


def test_images_of_other_jobs_are_not_taken(open_queue: Open) -> None:
    it = open_queue()
    (job,) = it.submit()
    it.wait_until_running(job)
    other: ImageSaved = saved_image("other", "b.png")
    it.process.say(other, saved_image(job, "a.png"))
    it.process.finish(job)
    assert it.wait_until(job, JobState.DONE).images == ("a.png",)
