"""The session: what the window asks for, on a fake engine."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.engine.process import EngineState
from app.notices.remedies import NoticeAction
from app.queue.jobs import Job, JobState
from engine.api.limits import MAX_SEED
from engine.api.messages import JobFinished, JobWarned
from engine.api.remedies import NameLoraFolder
from engine.api.values import ErrorCode, ErrorInfo
from engine.metadata.png import insert_text_chunks
from engine.metadata.record import record_chunks
from tests.app.fake_engine import Plan
from tests.app.requests import generation_of
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.app.test_device_state import NO_TIME
from tests.metadata.records import PLAIN, PNG

Stage = Callable[..., Staged]


@pytest.fixture
def stage(tmp_path: Path, qtbot: QtBot) -> Iterator[Stage]:
    sessions: list[Staged] = []

    def make(plan: Plan = Plan()) -> Staged:  # noqa: B008 (immutable)
        sessions.append(Staged(tmp_path, qtbot, fake_command(plan), QUICK))
        return sessions[-1]

    yield make
    for session in sessions:
        session.end()


def test_a_picture_is_made_shown_and_listed(stage: Stage) -> None:
    staged = stage().start()
    session = staged.session
    session.generation.count = 2
    session.jobs.generate()
    assert session.view.live
    jobs = staged.wait_for_jobs(2)
    assert [job.state for job in jobs] == [JobState.DONE, JobState.DONE]
    assert generation_of(jobs[1]).seed == (generation_of(jobs[0]).seed or 0) + 1
    assert session.generation.seed == generation_of(jobs[0]).seed
    assert session.view.path == jobs[1].images[0]
    staged.wait(lambda: len(session.output_pictures) == 2)
    assert session.progress.job is None


def test_why_a_picture_takes_longer_this_once_is_told_at_once_and_once(stage: Stage) -> None:
    staged = stage()
    preparing = ErrorInfo(ErrorCode.PREPARING, "Preparing it, once.", "The next is quicker.")
    for warning in (preparing, preparing, ErrorInfo(ErrorCode.NOT_AVAILABLE, "No effect.")):
        staged.client.job_warned.emit(JobWarned(job="a", warning=warning))
    (notice,) = staged.session.notices.notices
    assert (notice.message, notice.hint) == (preparing.message, preparing.hint)
    assert notice.error is None


def test_a_device_that_failed_is_told_no_more_once_the_picture_failed_on_all(
    stage: Stage,
) -> None:
    failure = ErrorInfo(ErrorCode.OUT_OF_MEMORY, "No memory.")
    staged = stage(Plan(job_error=failure)).start()
    warning = ErrorInfo(ErrorCode.OUT_OF_MEMORY, "No memory. Another goes on.")

    def warn(job: Job) -> None:
        staged.client.job_warned.emit(JobWarned(job=job.id, warning=warning))

    staged.queue.job_added.connect(warn)
    staged.session.jobs.generate()
    staged.wait(lambda: bool(staged.session.notices.notices))
    staged.wait_for_jobs(1)
    assert [notice.message for notice in staged.session.notices.notices] == [failure.message]


def test_a_file_that_could_not_be_read_is_told_last_and_so_in_sight(
    stage: Stage, tmp_path: Path, qtbot: QtBot
) -> None:
    first = stage(Plan(job_error=ErrorInfo(ErrorCode.INTERNAL, "It failed."))).start()
    first.session.jobs.generate()
    first.wait_for_jobs(1)
    state = first.paths.state
    first.end()
    (state / "prompts.json").write_bytes(b"no prompts")
    again = Staged(tmp_path, qtbot, fake_command(Plan(never_ready=True)), QUICK)
    again.session.start()
    codes = [
        notice.error.code for notice in again.session.notices.notices if notice.error is not None
    ]
    again.end()
    assert codes == [ErrorCode.INTERNAL, ErrorCode.SESSION_UNREADABLE]


def test_an_engine_that_is_given_up_is_not_said_to_be_started_again(stage: Stage) -> None:
    staged = stage(Plan(ends_after=3, by_signal=signal.SIGKILL))
    staged.session.start()
    staged.wait(lambda: staged.session.engine.state is EngineState.STOPPED)
    staged.wait(lambda: staged.session.engine.problem is not None)
    assert staged.session.notices.notices == ()


def finished(*warnings: ErrorInfo) -> JobFinished:
    return JobFinished(job="a", device="fake", timings=NO_TIME, warnings=warnings)


def test_a_lora_that_a_picture_lacks_is_told_calmly_and_once_with_a_way_to_look(
    stage: Stage,
) -> None:
    staged = stage()
    missing = ErrorInfo(
        ErrorCode.LORA_NOT_FOUND, "Ink was not found.", "Its hash is 12.", "", (NameLoraFolder(),)
    )
    for _ in range(2):
        staged.client.job_finished.emit(finished(missing))
    (notice,) = staged.session.notices.notices
    assert (notice.message, notice.error) == (missing.message, None)
    assert notice.hint.startswith(missing.hint)
    assert notice.actions == (NoticeAction.LORA_FOLDERS,)
    staged.session.remedies.dismiss(notice)
    staged.client.job_finished.emit(finished(missing))
    assert staged.session.notices.notices == ()


def test_all_that_is_to_say_of_a_pictures_loras_and_embeddings_is_one_notice(stage: Stage) -> None:
    staged = stage()
    codes = ErrorCode.LORA_NOT_FOUND, ErrorCode.LORA_REMARK, ErrorCode.EMBEDDING_REMARK
    warnings = [ErrorInfo(code, f"{code} is so.", "Put it right.") for code in codes]
    other = ErrorInfo(ErrorCode.NOT_AVAILABLE, "No effect.")
    staged.client.job_finished.emit(finished(*warnings, other))
    (notice,) = staged.session.notices.notices
    assert notice.details == tuple(f"{code} is so. Put it right." for code in codes)


def test_a_seed_that_cannot_be_is_told_and_nothing_queued(stage: Stage) -> None:
    staged = stage()
    session = staged.session
    session.generation.seed, session.generation.seed_locked = MAX_SEED, True
    session.generation.count = 2
    session.jobs.generate()
    staged.wait(lambda: bool(session.notices.notices))
    assert session.notices.notices[-1].error is not None
    assert session.notices.notices[-1].error.code is ErrorCode.REQUEST_INVALID
    assert session.queue.jobs == ()


def test_cancel_stops_what_runs_then_what_waits(stage: Stage) -> None:
    staged = stage(Plan(steps=10_000, step_seconds=0.01)).start()
    session = staged.session
    session.generation.count = 3
    session.jobs.generate()
    staged.wait(lambda: session.queue.running is not None and len(session.queue.jobs) == 3)
    session.jobs.cancel()
    assert session.progress.stopping
    staged.wait(lambda: session.queue.jobs[0].state is JobState.CANCELLED)
    session.jobs.cancel_all()
    jobs = staged.wait_for_jobs(3)
    assert {job.state for job in jobs} == {JobState.CANCELLED}
    session.jobs.cancel()
    # What waited can be put back.
    assert [notice.undo is not None for notice in session.notices.notices] == [True]


def test_a_job_that_waits_without_an_engine_can_be_cancelled(stage: Stage) -> None:
    staged = stage()
    staged.session.jobs.generate()
    staged.wait(lambda: staged.session.jobs.waiting == 1)
    staged.session.jobs.cancel()
    staged.wait(lambda: staged.session.jobs.waiting == 0)
    # A key does it: who pressed it for something else can have the picture back.
    undo = staged.session.notices.notices[-1].undo
    assert undo is not None
    undo()
    staged.wait(lambda: staged.session.jobs.waiting == 1)


def test_a_job_that_was_just_submitted_can_be_cancelled(stage: Stage) -> None:
    staged = stage()
    staged.session.jobs.generate()
    staged.session.jobs.cancel()
    assert staged.wait_for_jobs(1)[0].state is JobState.CANCELLED


def test_a_crash_is_told_and_the_job_made_again(stage: Stage, tmp_path: Path) -> None:
    plan = Plan(ends_after=4, by_signal=signal.SIGKILL, once=str(tmp_path / "once"))
    staged = stage(plan)
    staged.session.start()
    staged.session.jobs.generate()
    jobs = staged.wait_for_jobs(1)
    assert jobs[0].state is JobState.DONE
    told = staged.session.notices.notices
    assert [notice.error and notice.error.code for notice in told] == [ErrorCode.ENGINE_CRASHED]


def test_an_engine_that_cannot_be_kept_is_told_once_and_can_be_started_again(
    stage: Stage,
) -> None:
    staged = stage(Plan(ends_after=2, status=3))
    session = staged.session
    session.start()
    staged.wait(lambda: session.engine.problem is not None)
    assert session.engine.state is EngineState.STOPPED
    assert session.engine.problem is not None
    last = session.engine.problem.message
    assert all(notice.message != last for notice in session.notices.notices)
    session.engine.start_again()
    assert session.engine.problem is None
    staged.wait(lambda: session.engine.problem is not None)


def test_a_runtime_pack_that_the_engine_runs_without_is_told_once(stage: Stage) -> None:
    problem = "The runtime pack tiny-1.0 is left out: its folder is missing."
    staged = stage(Plan(pack_problems=(problem,))).start()
    notices = staged.session.notices
    assert [notice.message for notice in notices.notices] == [problem]
    staged.client.force_stop()
    staged.wait(lambda: staged.process.state is EngineState.RESTARTING)
    staged.wait(lambda: staged.process.state is EngineState.READY)
    assert [notice.message for notice in notices.notices] == [problem]


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_engine_that_hangs_can_be_stopped_by_force(stage: Stage) -> None:
    staged = stage().start()
    session = staged.session
    assert staged.process.hello is not None
    os.kill(staged.process.hello.pid, signal.SIGSTOP)
    staged.wait(lambda: session.engine.state is EngineState.NOT_ANSWERING)
    session.engine.force_stop()
    staged.wait(lambda: session.engine.state is EngineState.READY)
    assert session.notices.notices == ()


def test_the_queue_of_an_earlier_session_is_told(tmp_path: Path, qtbot: QtBot) -> None:
    earlier = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    earlier.session.generation.count = 2
    earlier.session.jobs.generate()
    earlier.wait(lambda: earlier.session.jobs.waiting == 2)
    earlier.end()
    later = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    later.session.start()
    notice = later.session.notices.notices[-1]
    assert notice.actions == (NoticeAction.CANCEL_ALL,)
    later.session.remedies.act(notice, NoticeAction.CANCEL_ALL)
    later.wait_for_jobs(2)
    later.end()


def test_a_job_that_failed_in_an_earlier_session_is_told(tmp_path: Path, qtbot: QtBot) -> None:
    earlier = Staged(tmp_path, qtbot, fake_command(Plan(dies_in_jobs=True)), QUICK)
    earlier.session.jobs.generate()
    earlier.session.start()
    assert earlier.wait_for_jobs(1)[0].state is JobState.FAILED
    earlier.wait(lambda: earlier.process.state is EngineState.READY)
    earlier.end()
    later = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    later.session.start()
    notice = later.session.notices.notices[-1]
    assert notice.actions[0] is NoticeAction.RETRY
    later.session.remedies.act(notice, NoticeAction.RETRY)
    later.wait(lambda: later.queue.jobs[0].state is JobState.DONE)
    later.end()


def test_a_picture_fills_the_form_and_other_files_are_checkpoints(
    stage: Stage, tmp_path: Path
) -> None:
    staged = stage()
    session = staged.session
    picture = tmp_path / "Picture.PNG"
    picture.write_bytes(insert_text_chunks(PNG, record_chunks(PLAIN)))
    session.open_file(picture)
    staged.wait(lambda: session.generation.prompt == PLAIN.request.prompt)
    other = tmp_path / "folder"
    session.open_file(other)
    assert session.generation.checkpoint == other


def test_a_picture_without_settings_leaves_the_form_alone(stage: Stage, tmp_path: Path) -> None:
    staged = stage()
    before = staged.session.generation.build_request()
    picture = tmp_path / "plain.png"
    picture.write_bytes(PNG)
    staged.session.open_file(picture)
    staged.wait(lambda: bool(staged.session.notices.notices))
    assert staged.session.generation.build_request() == before


def test_a_picture_goes_to_the_trash_and_comes_back(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    staged = stage().start()
    session = staged.session
    session.generation.count = 2
    session.jobs.generate()
    staged.wait_for_jobs(2)
    staged.wait(lambda: len(session.output_pictures) == 2)
    shown, other = session.output_pictures[0].path, session.output_pictures[1].path
    session.view.choose(shown)
    session.pictures.trash(shown)
    assert session.view.path == other
    staged.wait(lambda: bool(session.notices.notices))
    notice = session.notices.notices[-1]
    if not notice.actions:
        pytest.skip("this system does not say where its trash is")
    assert not Path(shown).exists()
    session.remedies.act(notice, NoticeAction.UNDO_TRASH)
    staged.wait(lambda: Path(shown).exists() and len(session.output_pictures) == 2)


def test_a_sidecar_goes_to_the_trash_with_its_picture_and_nothing_stays_there(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    staged = stage().start()
    session = staged.session
    session.jobs.generate()
    staged.wait_for_jobs(1)
    staged.wait(lambda: len(session.output_pictures) == 1)
    picture = Path(session.output_pictures[0].path)
    sidecar = picture.with_name(f"{picture.name}.xmp")
    sidecar.write_text("stars")
    session.pictures.trash(str(picture))
    staged.wait(lambda: bool(session.notices.notices))
    notice = session.notices.notices[-1]
    if not notice.actions:
        pytest.skip("this system does not say where its trash is")
    assert not sidecar.exists()
    session.remedies.act(notice, NoticeAction.UNDO_TRASH)
    # The list may still have the picture when it is gone.
    staged.wait(lambda: picture.exists() and sidecar.exists())
    assert sidecar.read_text() == "stars"
    trash = tmp_path / "data"
    staged.wait(lambda: not [path for path in trash.rglob("*") if path.is_file()])


def test_pictures_stay_in_the_gallery_when_new_ones_go_elsewhere(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SAFELIGHT_OUTPUT", raising=False)
    staged = stage().start()
    session = staged.session
    session.jobs.generate()
    staged.wait_for_jobs(1)
    staged.wait(lambda: len(session.output_pictures) == 1)
    before, after = session.output_pictures.folder, tmp_path / "elsewhere"
    session.settings.change(pictures_folder=str(after))
    assert [folder.path for folder in session.gallery_index.folders] == [after, before]


def test_a_picture_that_is_gone_cannot_go_to_the_trash(stage: Stage, tmp_path: Path) -> None:
    staged = stage()
    staged.session.pictures.trash(str(tmp_path / "gone.png"))
    staged.wait(lambda: bool(staged.session.notices.notices))
    error = staged.session.notices.notices[-1].error
    assert error is not None
    assert error.code is ErrorCode.OUTPUT_NOT_WRITABLE


def test_a_failure_that_was_dismissed_does_not_come_back(tmp_path: Path, qtbot: QtBot) -> None:
    plan = Plan(dies_in_jobs=True, status=3)
    earlier = Staged(tmp_path, qtbot, fake_command(plan), QUICK)
    earlier.session.generation.count = 2
    earlier.session.start()
    earlier.session.jobs.generate()
    # The engine is given up after three ends: the second job has failed by one of them or waits.
    earlier.wait(lambda: any(job.state is JobState.FAILED for job in earlier.queue.jobs))
    failed = [job.id for job in earlier.queue.jobs if job.state is JobState.FAILED]
    for notice in earlier.session.notices.notices:
        earlier.session.remedies.dismiss(notice)
    earlier.wait(lambda: all(earlier.queue.job(job) is None for job in failed))
    earlier.end()
    later = Staged(tmp_path, qtbot, fake_command(Plan(never_ready=True)), QUICK)
    assert all(later.queue.job(job) is None for job in failed)
    later.end()


def test_failures_for_one_reason_are_dismissed_and_retried_together(stage: Stage) -> None:
    session = stage().session
    for job in ("a", "b"):
        session.notices.tell_error(ErrorInfo(ErrorCode.DISK_FULL, "The disk is full."), job=job)
    (notice,) = session.notices.notices
    assert notice.subjects == ("a", "b")
