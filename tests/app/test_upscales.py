"""Pictures to be made larger wait in the queue with the others, and outlive whatever ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.commands.upscales import original_of
from app.queue.job_list import JobList, UpscaleSubmitted
from app.queue.jobs import CancelAsked, Job, JobState
from engine.api.record import UpscaleReport
from engine.api.saving import PictureFormat
from engine.api.upscaling import UpscaleRequest
from engine.metadata.record import record_chunks
from engine.metadata.upscales import with_upscale
from engine.output.encoding import encode_picture
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.app.test_upscale_command import pixels
from tests.metadata.records import PLAIN


def request(source: Path | str = "/pictures/cat.png", **changes: object) -> UpscaleRequest:
    fields: dict[str, object] = {"source": str(source), "upscaler": "lanczos", "scale": 2.0}
    return UpscaleRequest(**(fields | changes))  # pyright: ignore[reportArgumentType]


@pytest.fixture
def stages(tmp_path: Path, qtbot: QtBot) -> Iterator[list[Staged]]:
    sessions: list[Staged] = []
    yield sessions
    for session in sessions:
        session.end()


def begin(stages: list[Staged], folder: Path, bot: QtBot, plan: Plan | None = None) -> Staged:
    command = fake_command(plan) if plan else None
    stages.append(Staged(folder, bot, command, QUICK if plan else None))
    return stages[-1]


def test_a_list_rewritten_from_its_entries_has_the_same_upscales() -> None:
    jobs = JobList()
    for name, source in (("a-0", "/one.png"), ("a-1", "/two.png"), ("b-0", "/two.png")):
        jobs.apply(UpscaleSubmitted(job=name, request=request(source), folder="/out"))
    jobs.apply(CancelAsked(job="a-1"))
    again = JobList()
    for entry in jobs.entries():
        again.apply(entry)
    assert again.snapshot == jobs.snapshot
    assert [job.upscale and job.upscale.source for job in again.snapshot] == [
        "/one.png", "/two.png", "/two.png",
    ]  # fmt: skip


def test_upscales_outlive_a_restart_and_are_finished(
    stages: list[Staged], tmp_path: Path, qtbot: QtBot
) -> None:
    first = begin(stages, tmp_path, qtbot)
    first.session.upscales.start([request(tmp_path / "a.png"), request(tmp_path / "b.png")])
    first.wait(lambda: len(first.queue.jobs) == 2)
    first.queue.close()
    again = begin(stages, tmp_path, qtbot, Plan()).start()
    jobs = again.wait_for_jobs(2)
    assert [job.state for job in jobs] == [JobState.DONE, JobState.DONE]
    assert [job.upscale and job.upscale.scale for job in jobs] == [2.0, 2.0]
    assert all(job.generation is None for job in jobs)
    assert all(Path(job.images[0]).exists() for job in jobs)


def test_an_upscale_whose_engine_dies_is_tried_again_by_the_next(
    stages: list[Staged], tmp_path: Path, qtbot: QtBot
) -> None:
    plan = Plan(dies_in_jobs=True, once=str(tmp_path / "once"))
    staged = begin(stages, tmp_path, qtbot, plan).start()
    staged.session.upscales.start([request(tmp_path / "a.png")])
    (job,) = staged.wait_for_jobs(1)
    assert (job.state, job.attempts) == (JobState.DONE, 2)


def test_a_running_upscale_is_cancelled_and_retried(
    stages: list[Staged], tmp_path: Path, qtbot: QtBot
) -> None:
    staged = begin(stages, tmp_path, qtbot, Plan(steps=200, step_seconds=0.02)).start()
    staged.session.upscales.start([request(tmp_path / "a.png")])
    staged.wait(lambda: staged.queue.running is not None)
    staged.session.jobs.cancel()
    (job,) = staged.wait_for_jobs(1)
    assert job.state is JobState.CANCELLED
    staged.queue.retry(job.id)
    staged.wait(lambda: staged.queue.running is not None)
    running: Job | None = staged.queue.running
    assert running is not None
    assert running.upscale == request(tmp_path / "a.png")
    staged.session.jobs.cancel()
    staged.wait_for_jobs(1)


def test_a_saved_upscale_is_told_with_an_undo_and_shown_in_place_of_its_source(
    stages: list[Staged], tmp_path: Path, qtbot: QtBot
) -> None:
    staged = begin(stages, tmp_path, qtbot, Plan()).start()
    source = str(tmp_path / "a.png")
    staged.session.view.choose(source)
    staged.session.upscales.start([request(source)])
    (job,) = staged.wait_for_jobs(1)
    assert staged.session.view.path == job.images[0]
    told = [notice for notice in staged.session.notices.notices if notice.undo is not None]
    assert Path(job.images[0]).name in told[-1].message


def test_no_picture_is_said_to_be_beside_one_in_another_folder(
    stages: list[Staged], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bool:
        """Nothing can be written anywhere, whoever one is."""
        return False

    monkeypatch.setattr("app.commands.upscales.os.access", refuse)
    staged = begin(stages, tmp_path, qtbot, Plan()).start()
    notices = staged.session.notices
    staged.session.upscales.start([request(tmp_path / "a.png")])
    staged.wait_for_jobs(1)
    assert "is saved" in notices.notices[-1].message
    assert "beside" not in notices.notices[-1].hint
    staged.session.upscales.start([request(tmp_path / f"{name}.png") for name in "bc"])
    staged.wait_for_jobs(3)
    assert "2 pictures" in notices.notices[-1].message
    assert "beside" not in notices.notices[-1].hint


def test_the_form_has_no_settings_of_an_upscale(
    stages: list[Staged], tmp_path: Path, qtbot: QtBot
) -> None:
    staged = begin(stages, tmp_path, qtbot)
    staged.session.upscales.start([request(tmp_path / "a.png")])
    staged.wait(lambda: len(staged.queue.jobs) == 1)
    before = staged.session.generation.form
    name = staged.queue.jobs[0].id
    staged.session.jobs_in_queue.edit(name)
    staged.session.jobs_in_queue.duplicate([name])
    staged.session.jobs_in_queue.retry_smaller([name])
    assert staged.session.generation.form == before
    assert len(staged.queue.jobs) == 1


def test_the_original_is_found_by_the_record_also_after_both_were_moved(tmp_path: Path) -> None:
    source, folder = tmp_path / "cat.png", tmp_path / "moved"
    folder.mkdir()
    report = UpscaleReport(name="x", width=8, height=8, resampling="lanczos", source=str(source))
    chunks = with_upscale(record_chunks(PLAIN), report)
    large = folder / "cat-upscaled.png"
    large.write_bytes(encode_picture(pixels(8, 8), chunks, PictureFormat.PNG, 92))
    assert original_of(large) is None
    (folder / "cat.png").write_bytes(b"there")
    assert original_of(large) == str(folder / "cat.png")
    source.write_bytes(b"there")
    assert original_of(large) == str(source)
    assert original_of(source) is None


@pytest.mark.parametrize("source", ["x" * 5000, "a\0b", f"/{'y' * 300}/z.png"])
def test_a_record_that_names_no_possible_file_names_no_original(
    tmp_path: Path, source: str
) -> None:
    report = UpscaleReport(name="x", width=8, height=8, resampling="lanczos", source=source)
    chunks = with_upscale(record_chunks(PLAIN), report)
    large = tmp_path / "large.png"
    large.write_bytes(encode_picture(pixels(8, 8), chunks, PictureFormat.PNG, 92))
    assert original_of(large) is None
