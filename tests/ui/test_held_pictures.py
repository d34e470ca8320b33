"""A finished picture that no disk took is held in memory, and saved where a person says."""

from pathlib import Path

import pytest

from app.notices.remedies import NoticeAction
from app.queue.jobs import JobState
from engine.api.remedies import ChooseFolder, SaveHeld
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.fake_engine import Plan, unsaved_file
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_remedies_act import card, chooses, made, press

# More than the app takes in one turn, and than it lets wait unread.
CONTENT = unsaved_file(20 << 20)
FULL = ErrorInfo(ErrorCode.DISK_FULL, "Full.", remedies=(ChooseFolder(),))


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with a picture that is finished and nowhere on a disk."""
    desk = make_desk(Plan(job_error=FULL, unsaved_bytes=len(CONTENT))).start()
    desk.session.generation.prompt = "a cat"
    desk.session.jobs.generate()
    desk.wait_for_jobs(1)
    desk.wait(lambda: bool(desk.window.notices.cards))
    assert "held in memory" in card(desk).hint.text()
    return desk


def is_forgotten(desk: Desk) -> bool:
    return desk.queue.held.jobs == ()


def test_a_held_picture_is_saved_in_another_folder(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    chooses(monkeypatch, str(elsewhere))
    press(desk, NoticeAction.CHOOSE_FOLDER)
    job = made(desk)
    assert (job.images, job.attempts) == ((str(elsewhere / "1-cat.png"),), 1)
    assert (elsewhere / "1-cat.png").read_bytes() == CONTENT
    assert [path.name for path in elsewhere.iterdir()] == ["1-cat.png"]
    assert desk.session.view.path == job.images[0]
    desk.wait(lambda: is_forgotten(desk))


def test_a_held_picture_is_saved_once_there_is_room_and_until_then_still_held(desk: Desk) -> None:
    folder = desk.session.output_pictures.folder
    # Nothing can be put below a file, whoever one is.
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"")
    press(desk, NoticeAction.RETRY)
    desk.wait(lambda: bool(desk.window.notices.cards))
    assert desk.queue.jobs[0].state is JobState.FAILED
    assert "held in memory" in card(desk).hint.text()
    folder.unlink()
    (folder / "1-cat.png").mkdir(parents=True)
    press(desk, NoticeAction.RETRY)
    assert made(desk).images == (str(folder / "1-cat-2.png"),)
    assert (folder / "1-cat-2.png").read_bytes() == CONTENT


def test_a_held_picture_is_saved_as_the_window_closes_if_there_is_room_by_then(desk: Desk) -> None:
    folder = desk.session.output_pictures.folder
    desk.end()
    assert (folder / "1-cat.png").read_bytes() == CONTENT


def test_a_later_start_says_no_more_that_it_is_held(desk: Desk, make_desk: MakeDesk) -> None:
    folder = desk.session.output_pictures.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"")
    desk.end()
    assert SaveHeld() in (desk.queue.jobs[0].error or FULL).remedies
    folder.unlink()
    again = make_desk().start()
    again.wait(lambda: bool(again.window.notices.cards))
    assert "held in memory" not in card(again).hint.text()
    press(again, NoticeAction.RETRY)
    assert made(again).images


def test_a_held_picture_is_let_go_once_its_notice_is_closed(desk: Desk) -> None:
    desk.session.remedies.dismiss(card(desk).notice)
    desk.wait(lambda: is_forgotten(desk))


def test_more_than_fits_beside_the_others_is_not_held(
    make_desk: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.queue.held_pictures.MOST_BYTES", 100)
    desk = make_desk(Plan(job_error=FULL, unsaved_bytes=101)).start()
    desk.session.jobs.generate()
    desk.wait_for_jobs(1)
    assert desk.queue.jobs[0].error == FULL
    assert is_forgotten(desk)
