"""A failure's remedy is a button, and pressing it cures."""

from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QWidget

from app.notices.remedies import NoticeAction
from app.queue.jobs import Job, JobState
from engine.api.remedies import ChooseStartPicture, MakeSmaller, UseAnyDevice
from engine.api.second_passes import SecondPass
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo, InputRole
from tests.app.fake_engine import Plan
from tests.ui.conftest import Desk, MakeDesk
from ui.dialogs.lora_folders_dialog import LoraFoldersDialog
from ui.labels import size_label
from ui.panels.notice_card import NoticeCard


def offered(desk: Desk) -> list[str]:
    """The buttons of the notice, but those for copying."""
    return [button.text() for button in card(desk).remedies.values()]


def card(desk: Desk) -> NoticeCard:
    """The card of the newest notice."""
    return desk.window.notices.cards[-1]


def chooses(patch: pytest.MonkeyPatch, dialog: str, answer: str) -> None:
    """Have a person answer the system's dialog."""

    def answered(*_: object) -> str:
        return answer

    patch.setattr(f"ui.panels.{dialog}", answered)


def test_pictures_that_could_not_be_saved_are_made_in_another_folder(
    make_desk: MakeDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make_desk(real=True)
    # Nothing can be put below a file, whoever one is.
    desk.session.output_pictures.folder.parent.mkdir(parents=True, exist_ok=True)
    desk.session.output_pictures.folder.write_bytes(b"")
    desk.start()
    desk.session.generation.steps = 1
    desk.session.generation.width = desk.session.generation.height = 64
    desk.session.generation.count = 2
    desk.session.jobs.generate()
    desk.wait_for_jobs(2)
    panel, elsewhere = desk.window.notices, tmp_path / "elsewhere"
    desk.wait(lambda: bool(panel.cards))
    assert "Choose another folder for pictures." in card(desk).hint.text()
    assert offered(desk) == ["Choose another folder…", "Try again"]
    chooses(monkeypatch, "notice_panel.FileChooser.open_folder", str(elsewhere))
    card(desk).remedies[NoticeAction.CHOOSE_FOLDER].click()
    desk.wait(lambda: all(job.state is JobState.DONE for job in desk.queue.jobs))
    assert [path.suffix for path in elsewhere.iterdir()] == [".png", ".png"]
    desk.wait(lambda: len(desk.session.output_pictures) == 2)
    assert desk.session.output_pictures.folder == elsewhere
    assert panel.cards == ()


def test_a_picture_that_ran_out_of_memory_is_made_again_smaller(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(no_room_above=600)).start()
    form = desk.session.generation
    form.width, form.height = 512, 768
    desk.session.jobs.generate()
    panel = desk.window.notices
    desk.wait(lambda: bool(panel.cards))
    assert offered(desk) == [f"Try {size_label(384, 576)}", "Free memory and try again"]
    card(desk).remedies[NoticeAction.RETRY_SMALLER].click()
    desk.wait(lambda: desk.queue.jobs[0].state is JobState.DONE)
    request = desk.queue.jobs[0].request
    assert (request.width, request.height) == (384, 576)


def test_pictures_of_several_sizes_without_room_are_each_made_smaller(
    make_desk: MakeDesk,
) -> None:
    desk = make_desk(Plan(no_room_above=600)).start()
    form = desk.session.generation
    sizes = [(512, 768), (768, 512), (1024, 1024)]
    for form.width, form.height in sizes:
        desk.session.jobs.generate()
    desk.wait_for_jobs(3)
    assert offered(desk) == ["Try smaller sizes", "Free memory and try again"]
    card(desk).remedies[NoticeAction.RETRY_SMALLER].click()
    desk.wait(lambda: all(job.request.width not in {512, 1024} for job in desk.queue.jobs))
    desk.wait_for_jobs(3)
    # The third is still too large, which is told again.
    made = [(job.request.width, job.request.height, job.state) for job in desk.queue.jobs]
    done, failed = JobState.DONE, JobState.FAILED
    assert made == [(384, 576, done), (576, 384, done), (768, 768, failed)]
    assert offered(desk) == [f"Try {size_label(576, 576)}", "Free memory and try again"]


def test_all_that_failed_for_one_reason_is_made_again(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(no_room_above=600)).start()
    desk.session.generation.width = desk.session.generation.height = 768
    desk.session.generation.count = 3
    desk.session.jobs.generate()
    jobs = {job.id for job in desk.wait_for_jobs(3)}
    begun: set[str] = set()

    def note(job: Job) -> None:
        if job.state is JobState.RUNNING:
            begun.add(job.id)

    desk.queue.job_changed.connect(note)
    card(desk).remedies[NoticeAction.FREE_MEMORY].click()
    desk.wait(lambda: begun == jobs)


@pytest.mark.parametrize(
    "code", [ErrorCode.CHECKPOINT_NOT_FOUND, ErrorCode.CHECKPOINT_NOT_SAFETENSORS]
)
def test_no_other_model_is_offered_where_a_file_beside_it_fails(
    make_desk: MakeDesk, code: ErrorCode
) -> None:
    error = ErrorInfo(code, sentence("{path} is wrong.", path="4x.pth"))
    desk = make_desk(Plan(job_error=error)).start()
    form = desk.session.generation
    form.second_passes = (SecondPass(upscaler="/models/4x.pth"),)
    desk.session.jobs.generate()
    panel = desk.window.notices
    desk.wait(lambda: bool(panel.cards))
    kinds = {NoticeAction.CHOOSE_CHECKPOINT, NoticeAction.FIND_CHECKPOINT}
    assert not kinds & set(card(desk).remedies)
    own = ErrorInfo(code, sentence("{path} is wrong.", path="model.safetensors"))
    desk.session.notices.tell_error(own, job=desk.queue.jobs[0].id)
    assert kinds & set(card(desk).remedies)


def test_the_smallest_picture_is_offered_no_smaller_one(desk: Desk) -> None:
    smallest = MakeSmaller(width=64, height=64)
    error = ErrorInfo(ErrorCode.OUT_OF_MEMORY, "No memory.", remedies=(smallest,))
    desk.session.notices.tell_error(error, job="x")
    assert offered(desk) == ["Free memory and try again"]


def test_an_action_that_cannot_help_is_not_offered(desk: Desk) -> None:
    desk.session.notices.tell_error(ErrorInfo(ErrorCode.REQUEST_INVALID, "No."), job="x")
    assert offered(desk) == ["Change the settings"]


def test_the_hardware_is_checked_again(make_desk: MakeDesk) -> None:
    desk = make_desk().start()
    error = ErrorInfo(ErrorCode.BACKEND_UNAVAILABLE, "No device.", remedies=(UseAnyDevice(),))
    desk.session.notices.tell_error(error)
    assert offered(desk) == ["Check the hardware again"]
    told: list[bool] = []
    desk.session.devices.checking_changed.connect(told.append)
    card(desk).remedies[NoticeAction.CHECK_DEVICES].click()
    assert told[:1] == [True]
    assert desk.window.notices.cards == ()


def test_a_choice_that_was_not_made_leaves_the_notice(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = ErrorInfo(ErrorCode.REQUEST_INVALID, "None.", remedies=(ChooseStartPicture(),))
    desk.session.notices.tell_error(error)
    button = card(desk).remedies[NoticeAction.CHOOSE_START_PICTURE]
    dialog = "picture_question.FileChooser.open_file"
    chooses(monkeypatch, dialog, "")
    button.click()
    assert card(desk).isVisible()
    Image.new("RGB", (64, 64)).save(tmp_path / "a.png")
    chooses(monkeypatch, dialog, str(tmp_path / "a.png"))
    button.click()
    # What is left tells how to undo the choice.
    desk.wait(lambda: all(notice.error is None for notice in desk.session.notices.notices))
    assert desk.session.generation.input_path(InputRole.INIT) == str(tmp_path / "a.png")


def place(button: QWidget, bar: QWidget) -> QRect:
    """The room of a button in its bar."""
    return QRect(button.mapTo(bar, QPoint(0, 0)), button.size())


@pytest.mark.parametrize("width", [800, 1100, 1366])
def test_buttons_and_words_of_a_notice_have_room(desk: Desk, width: int) -> None:
    desk.resize(width, 700)
    error = ErrorInfo(
        ErrorCode.CHECKPOINT_NOT_FOUND,
        "mymodel is not in /home/somebody/models.",
        "It may have been moved or renamed; choose it again.",
    )
    desk.session.notices.tell_error(error, job="x")
    bar = card(desk)
    QApplication.processEvents()
    buttons = [button for button in (*bar.remedies.values(), bar.copy_report) if button.isVisible()]
    assert len(buttons) == 4
    for button in buttons:
        assert button.width() >= button.sizeHint().width()
        assert bar.rect().contains(place(button, bar))
    for words in (bar.title, bar.message, bar.hint):
        assert words.width() >= 240
        assert words.height() >= words.heightForWidth(words.width())
        assert not any(words.geometry().intersects(place(button, bar)) for button in buttons)


def test_a_failure_is_told_in_three_parts_with_its_report(desk: Desk) -> None:
    desk.session.generation.prompt = "a secret wish"
    error = ErrorInfo(
        ErrorCode.INTERNAL, "It broke.", "Try again.", "near 'a secret wish' in /x/y.png"
    )
    desk.session.notices.tell_error(error, job="x")
    bar = card(desk)
    assert (bar.title.text(), bar.message.text(), bar.hint.text()) == (
        "Safelight made a mistake",
        "It broke.",
        "Try again.",
    )
    assert bar.report.isHidden()
    bar.show_report.click()
    assert bar.report.isVisible()
    shown = bar.report.toPlainText()
    assert "near '[prompt]' in /x/[picture].png" in shown
    bar.copy_report.click()
    assert QApplication.clipboard().text() == shown
    bar.show_report.click()
    assert bar.report.isHidden()


def test_the_engines_problem_has_the_same_parts(desk: Desk) -> None:
    desk.session.engine.problem = ErrorInfo(ErrorCode.ENGINE_CRASHED, "The engine ended.")
    bar = desk.window.notices.engine_bar
    assert bar.title.text() == "Safelight's engine ended unexpectedly"
    assert bar.hint.text() == "Finished pictures are safe."
    bar.show_report.click()
    assert "engine_crashed" in bar.report.toPlainText()


def test_the_folders_of_loras_are_one_click_from_a_lora_that_is_missing(desk: Desk) -> None:
    panel = desk.window.notices
    desk.session.notices.tell("Ink was not found.", actions=(NoticeAction.LORA_FOLDERS,))
    assert offered(desk) == ["LoRA folders…"]
    card(desk).remedies[NoticeAction.LORA_FOLDERS].click()
    (dialog,) = desk.window.findChildren(LoraFoldersDialog)
    assert dialog.isVisible()
    assert panel.cards == ()
    dialog.reject()


def test_a_failure_says_how_many_others_are_behind_it(desk: Desk) -> None:
    for number in range(3):
        desk.session.notices.tell_error(ErrorInfo(ErrorCode.INTERNAL, f"Number {number}."))
    said = ["2 more messages are behind this one.", "Another message is behind this one.", ""]
    for words in said:
        (shown,) = desk.window.notices.cards
        assert shown.behind.isVisibleTo(shown) == bool(words)
        assert shown.behind.text() == words or not words
        shown.dismiss.click()
    assert desk.window.notices.cards == ()
