"""The line under the canvas: a picture's prompt, and how the next one is getting on."""

from pathlib import Path

import msgspec
import pytest
from PySide6.QtGui import QGuiApplication

from engine.api.messages import JobPhase, JobProgress
from engine.api.record import GenerationRecord
from engine.api.values import Phase
from engine.metadata.png import insert_text_chunks
from engine.metadata.record import record_chunks
from tests.app.test_session import PNG
from tests.metadata.records import PLAIN
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_main_window import LONG


def picture(path: Path, prompt: str) -> str:
    request = msgspec.structs.replace(PLAIN.request, prompt=prompt)
    record: GenerationRecord = msgspec.structs.replace(PLAIN, request=request)
    path.write_bytes(insert_text_chunks(PNG, record_chunks(record)))
    return str(path)


@pytest.mark.parametrize("prompt", ["", " \n"])
def test_a_picture_without_a_prompt_has_a_title(desk: Desk, tmp_path: Path, prompt: str) -> None:
    desk.session.view.choose(picture(tmp_path / "a.png", prompt))
    title = desk.window.info.title
    desk.wait(lambda: title.text() == "Without a prompt")


def test_a_picture_that_is_made_without_a_prompt_has_a_title(make_desk: MakeDesk) -> None:
    desk = make_desk(LONG)
    desk.session.generation.prompt = " "
    desk.session.start()
    desk.session.jobs.generate()
    desk.wait(lambda: desk.session.pictures.is_live)
    desk.wait(lambda: desk.window.info.title.text() == "Without a prompt")


def test_the_title_goes_from_one_prompt_to_the_next(desk: Desk, tmp_path: Path) -> None:
    """No file name comes in between, nor anything else: the words change with the picture."""
    paths = [picture(tmp_path / f"{name}.png", name) for name in ("one", "two")]
    title = desk.window.info.title
    desk.session.view.choose(paths[0])
    desk.wait(lambda: title.text() == "one")
    seen = [title.text()]
    desk.session.view.path_changed.connect(lambda: seen.append(title.text()))
    desk.session.view.choose(paths[1])
    while title.text() != "two":
        seen.append(title.text())
        QGuiApplication.processEvents()
    assert set(seen) == {"one"}


def begin(desk: Desk) -> str:
    desk.session.jobs.generate()
    desk.wait(lambda: len(desk.queue.jobs) == 1)
    job = desk.queue.jobs[0].id
    desk.session.view.follow()
    desk.session.progress.begin(job)
    return job


@pytest.mark.parametrize(
    ("done", "words"), [(0, "Developing…"), (10, "Developing · step 10 of 20")]
)
def test_a_quick_picture_is_not_almost_done_before_its_end(
    desk: Desk, done: int, words: str
) -> None:
    job = begin(desk)
    progress, info = desk.session.progress, desk.window.dock.status
    progress.on_phase(JobPhase(job=job, phase=Phase.DENOISE, expected_s=1.2, after_s=0.1))
    progress.on_progress(JobProgress(job=job, done=done, total=20))
    assert info.title.text() == words
    assert progress.seconds_left is not None
    assert progress.seconds_left < 1.5
    assert "almost done" not in info.detail.text()


def test_the_bar_is_almost_full_at_the_end_of_the_estimate(desk: Desk) -> None:
    job = begin(desk)
    progress = desk.session.progress
    progress.on_phase(JobPhase(job=job, phase=Phase.DENOISE))
    progress.on_progress(JobProgress(job=job, done=20, total=20))
    progress.on_phase(JobPhase(job=job, phase=Phase.SAVE, expected_s=0.4, after_s=0.0))
    assert progress.fraction > 0.85
    assert desk.window.dock.status.detail.text() == "almost done"


@pytest.mark.parametrize(("height", "least"), [(600, 300), (440, 1)])
def test_the_title_has_a_line_of_its_own_in_a_narrow_window(
    desk: Desk, tmp_path: Path, height: int, least: int
) -> None:
    """Once only its first letters were seen; in a low window the picture needs the room."""
    info = desk.window.info
    desk.resize(1500, height)
    desk.session.view.choose(picture(tmp_path / "a.png", "a red house"))
    desk.wait(lambda: info.title.text() == "a red house")
    at_first = info.height()
    desk.resize(820, height)
    desk.wait(lambda: desk.window.width() == 820 and info.title.width() >= least)
    desk.wait(lambda: (info.height() > at_first) is (least > 1))
    desk.resize(1500, height)
    desk.wait(lambda: info.height() == at_first)


@pytest.mark.parametrize(("width", "are_words"), [(800, False), (1500, True)])
def test_buttons_have_words_where_there_is_room_and_no_text_is_cut(
    desk: Desk, tmp_path: Path, width: int, *, are_words: bool
) -> None:
    desk.session.view.choose(picture(tmp_path / "a.png", "a red house"))
    info = desk.window.info
    desk.wait(lambda: info.title.text() == "a red house")
    desk.resize(width, 560)
    desk.wait(lambda: desk.window.width() == width)
    worded = (info.use, info.start, info.upscale)
    desk.wait(lambda: [bool(button.text()) for button in worded] == [are_words] * 3)
    desk.wait(lambda: all(button.width() >= button.minimumSizeHint().width() for button in worded))
    right = info.details.mapTo(desk.window, info.details.rect().topRight()).x()
    assert right < desk.window.width()
