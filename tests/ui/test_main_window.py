"""The window shows the engine, the queue and the pictures, and its buttons work."""

import os
import signal
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
    QPixmap,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from app.engine.process import EngineState
from app.form.generation import MOST_CHARACTERS
from app.library.file_kind import FileKind
from app.notices.remedies import NoticeAction
from app.queue.jobs import JobState
from engine.api.messages import JobPhase
from engine.api.values import ErrorCode, ErrorInfo, Phase
from engine.metadata.png import insert_text_chunks
from engine.metadata.record import record_chunks
from tests.app.fake_engine import Plan
from tests.metadata.readers.pictures import user_comment
from tests.metadata.records import PLAIN, PNG
from tests.ui.conftest import Desk, MakeDesk
from ui.actions import ActionName
from ui.main_window import MainWindow
from ui.places import Place

LONG = Plan(steps=100_000, step_seconds=0.01, previews=1)
ERROR = ErrorInfo(ErrorCode.DISK_FULL, "The disk is full.", "Make room.", "ENOSPC")
LEFT = Qt.MouseButton.LeftButton


def visible_buttons(window: MainWindow) -> set[str]:
    buttons = window.findChildren(QPushButton)
    return {button.text() for button in buttons if button.isVisible()}


def add_picture(folder: Path, name: str = "a.png") -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(insert_text_chunks(PNG, record_chunks(PLAIN)))
    return str(path)


def test_the_window_is_there_before_the_engine(desk: Desk) -> None:
    window = desk.window
    assert window.isVisible()
    assert window.dock.generate.isEnabled()
    assert window.dock.status.title.text() == "Starting…"
    assert window.canvas.empty.isVisible()


def test_a_picture_asked_for_early_is_made_when_the_engine_is_ready(desk: Desk) -> None:
    QTest.mouseClick(desk.window.dock.generate, LEFT)
    desk.wait(lambda: desk.session.jobs.waiting == 1)
    desk.wait(lambda: "1 waiting" in desk.window.dock.queue.accessibleName())
    desk.session.start()
    assert desk.wait_for_jobs(1)[0].state is JobState.DONE


def test_finished_pictures_that_leave_the_list_still_count(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(steps=50, step_seconds=0.01)).start()
    status = desk.window.dock.status
    desk.session.generation.count = 3
    QTest.mouseClick(desk.window.dock.generate, LEFT)
    desk.wait(lambda: "Picture 2 of 3" in status.title.text())
    desk.session.jobs_in_queue.clear(JobState.DONE)
    desk.wait(lambda: len(desk.queue.jobs) == 2)
    desk.wait(lambda: "Picture 3 of 3" in status.title.text())
    assert status.bar.value() >= 2 * status.bar.maximum() // 3


def test_progress_and_the_queue_are_told(make_desk: MakeDesk) -> None:
    desk = make_desk(LONG).start()
    window = desk.window
    desk.session.generation.count = 3
    QTest.mouseClick(window.dock.generate, LEFT)
    desk.wait(lambda: "of 100000" in window.dock.status.title.text())
    desk.wait(lambda: "per step" in window.dock.status.detail.text())
    desk.wait(lambda: "Picture 1 of 3" in window.dock.status.title.text())
    window.resize(1440, 900)
    desk.wait(lambda: window.dock.queue.text() == "Queue · 2")
    # A narrow dock has room for what is being made, in place of the name.
    window.resize(960, 640)
    desk.wait(lambda: window.dock.queue.text() == "2")
    left = window.dock.status.detail.fontMetrics().horizontalAdvance("about 10 min left")
    desk.wait(lambda: window.dock.status.width() > left)
    assert window.dock.cancel.isEnabled()
    bar = window.dock.status.bar
    desk.wait(lambda: 0 < bar.value() < bar.maximum())
    # Told before anything else happens: the engine is asked meanwhile.
    window.dock.cancel.click()
    assert window.dock.status.title.text() == "Stopping…"
    desk.wait(lambda: desk.queue.jobs[0].state is JobState.CANCELLED)
    window.actions_by_name[ActionName.CANCEL_ALL].trigger()
    desk.wait_for_jobs(3)
    desk.wait(lambda: window.dock.status.title.text() == "Ready")
    desk.wait(lambda: not window.dock.cancel.isEnabled())


def test_each_phase_tells_how_long_it_takes(desk: Desk) -> None:
    progress, info = desk.session.progress, desk.window.dock.status
    desk.session.view.follow()
    progress.begin("a")
    waiting = info.title.text()
    assert info.bar.value() == 0

    def begin(
        phase: Phase, expected: float | None, after: float | None, once: bool = False
    ) -> None:
        event = JobPhase(job="a", phase=phase, expected_s=expected, after_s=after, once=once)
        progress.on_phase(event)

    begin(Phase.COMPILE, 40.0, None, once=True)
    assert info.title.text() == "Preparing the networks for this computer, once, about 40 s"
    assert "left" not in info.detail.text()
    begin(Phase.COMPILE, 3.0, 57.0)
    assert info.title.text() == "Preparing the networks…"
    assert info.detail.text() == "about 60 s left"
    assert info.bar.accessibleDescription() == "Preparing the networks… about 60 s left"
    progress.end("a")
    progress.begin("b")
    assert info.title.text() == waiting
    progress.on_phase(JobPhase(job="b", phase=Phase.DECODE))
    assert "left" not in info.detail.text()
    progress.on_phase(JobPhase(job="b", phase=Phase.COMPILE))
    progress.stop()
    assert info.title.text() == "Stopping…"
    assert info.detail.text() == "A network that is being loaded may be finished first"


def test_an_earlier_picture_can_be_seen_while_one_is_made(make_desk: MakeDesk) -> None:
    desk = make_desk(LONG)
    earlier = add_picture(desk.paths.output)
    desk.start()
    window, view = desk.window, desk.session.view
    desk.wait(lambda: window.strip.pictures.rowCount() == 1)
    desk.session.jobs.generate()
    desk.wait(lambda: desk.session.pictures.is_live)
    assert not window.strip.selectionModel().hasSelection()
    window.strip.setCurrentIndex(window.strip.pictures.index(0))
    assert (view.path, view.live) == (earlier, False)
    desk.wait(lambda: window.info.title.text() == PLAIN.request.prompt)
    assert window.info.watch.isVisible()
    window.info.watch.click()
    assert view.live
    desk.wait(lambda: window.info.title.text() == desk.session.generation.prompt)


def test_a_picture_is_chosen_and_its_settings_used(desk: Desk) -> None:
    path = add_picture(desk.paths.output)
    desk.session.output_pictures.refresh()
    window = desk.window
    desk.wait(lambda: window.strip.pictures.rowCount() == 1)
    place = window.strip.visualRect(window.strip.pictures.index(0)).center()
    QTest.mouseClick(window.strip.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, place)
    assert desk.session.view.path == path
    desk.wait(lambda: window.canvas.view.isVisible() and window.canvas.view.image is not None)
    window.info.use.click()
    desk.wait(lambda: desk.session.generation.prompt == PLAIN.request.prompt)
    assert window.form.advanced.rows.steps.field.value() == PLAIN.request.steps
    QTest.keyClick(window.strip, Qt.Key.Key_C, _CONTROL | Qt.KeyboardModifier.AltModifier)
    assert QGuiApplication.clipboard().text() == path
    window.info.buttons[0].click()
    desk.wait(lambda: QGuiApplication.clipboard().mimeData().hasImage())


def test_a_shown_picture_that_another_program_changed_stays_and_is_shown_anew(desk: Desk) -> None:
    first, shown, last = (add_picture(desk.paths.output, f"{name}.png") for name in "abc")
    for at, path in enumerate((first, shown, last)):
        os.utime(path, (1_000_000_000 + at, 1_000_000_000 + at))
    desk.session.output_pictures.refresh()
    desk.wait(lambda: desk.window.strip.pictures.rowCount() == 3)
    desk.window.strip.setCurrentIndex(desk.window.strip.pictures.index_of(shown))
    view = desk.window.canvas.view
    desk.wait(lambda: view.image is not None and view.image.width() == 1)
    # As a program writes that changes only the content of a file.
    Image.new("RGB", (48, 32), "blue").save(shown)
    desk.session.look_again()
    desk.wait(lambda: desk.window.strip.pictures.index_of(shown).row() == 0)
    desk.wait(lambda: view.image is not None and view.image.width() == 48)
    assert desk.session.view.path == shown
    assert desk.window.strip.currentIndex().row() == 0


_CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.mark.parametrize("part", ["strip", "picture"])
def test_delete_moves_to_the_trash_where_nothing_is_typed(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = Path(add_picture(desk.paths.output))
    desk.session.output_pictures.refresh()
    window = desk.window
    desk.wait(lambda: window.strip.pictures.rowCount() == 1)
    desk.session.view.choose(str(path))
    window.form.prompt.setFocus()
    QTest.keyClick(window.form.prompt, Qt.Key.Key_Delete)
    assert path.exists()
    focused = window.strip if part == "strip" else window.canvas.view
    desk.wait(focused.isVisible)
    focused.setFocus()
    QTest.keyClick(focused, Qt.Key.Key_Delete)
    desk.wait(lambda: window.strip.pictures.rowCount() == 0)
    assert not path.exists()


def test_a_failure_says_what_to_do_and_can_be_dismissed(desk: Desk) -> None:
    panel = desk.window.notices
    desk.session.notices.tell("A note.")
    assert not panel.cards[0].copy_report.isVisible()
    desk.session.notices.tell_error(ERROR, job="x")
    bar, note = panel.cards
    assert (bar.message.text(), bar.hint.text()) == (ERROR.message, ERROR.hint)
    assert bar.remedies[NoticeAction.RETRY].text() == "Try again"
    bar.copy_report.click()
    report = QGuiApplication.clipboard().text()
    assert "ENOSPC" in report
    assert "disk_full" in report
    assert note.message.text() == "A note."
    bar.dismiss.click()
    assert panel.cards == (note,)
    note.dismiss.click()
    assert not desk.window.messages.isVisible()


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_engine_that_hangs_can_be_stopped_from_the_window(desk: Desk) -> None:
    desk.start()
    window = desk.window
    assert desk.process.hello is not None
    os.kill(desk.process.hello.pid, signal.SIGSTOP)
    desk.wait(window.notices.engine_bar.isVisible)
    assert "not answering" in window.notices.engine_bar.message.text()
    assert "Force stop" in visible_buttons(window)
    button = next(b for b in window.findChildren(QPushButton) if b.text() == "Force stop")
    QTest.mouseClick(button, LEFT)
    desk.wait(lambda: desk.session.engine.state is EngineState.READY)
    assert not window.notices.engine_bar.isVisible()


def test_an_engine_that_was_given_up_can_be_started_from_the_window(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(ends_after=2, status=3))
    window = desk.window
    desk.session.start()
    desk.wait(window.notices.engine_bar.isVisible)
    assert {"Start again", "Copy report"} <= visible_buttons(window)
    desk.wait(lambda: window.dock.status.title.text() == "The engine is stopped")
    button = next(b for b in window.findChildren(QPushButton) if b.text() == "Start again")
    QTest.mouseClick(button, LEFT)
    assert desk.session.engine.state is not EngineState.STOPPED


def drag(window: MainWindow, *files: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    event = QDragEnterEvent(
        QPoint(5, 5), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(window, event)
    return data


def drop(window: MainWindow, data: QMimeData, card: int | None = 0) -> None:
    """Let go on a card, or with None beside them all."""
    cards = window.drops.overlay.cards
    place = QPointF(5, 5)
    if card is not None and card < len(cards):
        place = QPointF(cards[card].mapTo(window, cards[card].rect().center()))
    event = QDropEvent(place, Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window, event)


def test_a_dropped_checkpoint_is_used_where_it_lies(desk: Desk, tmp_path: Path) -> None:
    checkpoint = tmp_path / "my mix.safetensors"
    checkpoint.write_bytes(b"weights")
    data = drag(desk.window, checkpoint)
    assert desk.window.drops.overlay.isVisible()
    drop(desk.window, data)
    assert not desk.window.drops.overlay.isVisible()
    assert desk.session.generation.checkpoint == checkpoint
    assert desk.window.form.checkpoint.box.currentText() == "my mix"
    assert list(desk.paths.models.rglob("*")) == []


@pytest.mark.parametrize(
    ("name", "title"),
    [("a.safetensors", "Use this model"), ("a.pt", "Use this file"), ("b.ckpt", "Use this file")],
)
def test_a_card_promises_no_more_of_a_file_than_is_known(
    desk: Desk, tmp_path: Path, name: str, title: str
) -> None:
    assert [offer.title for offer in desk.window.drops.offers(tmp_path / name)] == [title]


@pytest.mark.parametrize("place", [Place.CREATE, Place.MODELS])
def test_a_file_that_is_for_something_else_is_refused_with_the_reason(
    desk: Desk, tmp_path: Path, place: Place
) -> None:
    """A film that was dropped became the model."""
    window, before = desk.window, desk.session.generation.checkpoint
    window.places.open(place)
    file = tmp_path / "clip.mp4"
    file.write_bytes(b"\0\0\0\x20ftypisom")
    data = drag(window, file)
    (card,) = window.drops.overlay.cards
    assert "cannot be used" in card.findChildren(QLabel)[0].text()
    over = QPoint(card.mapTo(window, card.rect().center()))
    moved = QDragMoveEvent(
        over, Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(window, moved)
    assert not moved.isAccepted()
    assert card.property("role") == "offer"
    drop(window, data)
    assert desk.session.generation.checkpoint == before
    assert window.places.place is place


def test_a_file_that_is_opened_and_is_for_something_else_is_refused(
    desk: Desk, tmp_path: Path
) -> None:
    before = desk.session.generation.checkpoint
    (tmp_path / "note.txt").write_text("not a model")
    desk.session.open_file(tmp_path / "note.txt")
    assert desk.session.generation.checkpoint == before
    assert desk.session.notices.notices[-1].message == "note.txt cannot be used."


def test_a_dropped_folder_is_looked_into_for_models_or_pictures(desk: Desk, tmp_path: Path) -> None:
    folder, window = tmp_path / "mine", desk.window
    add_picture(folder)
    before = desk.session.generation.checkpoint
    drop(window, drag(window, folder), 0)
    assert window.places.place is Place.MODELS
    assert folder in [watched.path for watched in desk.session.models.folders.watched]
    window.places.open(Place.CREATE)
    drop(window, drag(window, folder), 1)
    assert window.places.place is Place.GALLERY
    assert folder in [indexed.path for indexed in desk.session.gallery_index.folders]
    assert desk.session.generation.checkpoint == before


def test_a_dropped_picture_fills_the_form(desk: Desk, tmp_path: Path) -> None:
    drop(desk.window, drag(desk.window, Path(add_picture(tmp_path / "elsewhere"))))
    desk.wait(lambda: desk.window.form.prompt.toPlainText() == PLAIN.request.prompt)


@pytest.mark.parametrize("name", ["a.jpg", "a.JPEG", "a.webp", "a.png"])
def test_dropped_pictures_of_other_programs_fill_the_form(
    desk: Desk, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    comment = b"Exif\0\0" + user_comment("a house\nSteps: 5, Sampler: IPNDM, Seed: 8")
    Image.new("RGB", (64, 64), "red").save(path, exif=comment)
    drop(desk.window, drag(desk.window, path))
    desk.wait(lambda: desk.window.form.prompt.toPlainText() == "a house")
    (notice,) = desk.session.notices.notices
    assert notice.details == ('"Sampler: IPNDM" was not taken over.',)


@pytest.mark.parametrize("card", [None, 0])
def test_a_drop_counts_on_its_card_only(desk: Desk, tmp_path: Path, card: int | None) -> None:
    window, state = desk.window, desk.session.generation
    data = drag(window, tmp_path / "mix.safetensors")
    drop(window, data, card)
    assert not window.drops.overlay.isVisible()
    assert (state.checkpoint.name == "mix.safetensors") == (card == 0)


def test_a_drop_without_a_file_is_refused(desk: Desk) -> None:
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/model.safetensors")])
    before = desk.session.generation.checkpoint
    drop(desk.window, data)
    data.setText("a prompt")
    drop(desk.window, data)
    assert desk.session.generation.checkpoint == before


def test_a_drag_whose_files_were_taken_back_shows_no_cards(desk: Desk, tmp_path: Path) -> None:
    """The program that drags them may end meanwhile."""
    data = drag(desk.window, tmp_path / "mix.safetensors")
    data.clear()
    moved = QDragMoveEvent(
        QPoint(5, 5), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(desk.window, moved)
    assert not moved.isAccepted()
    assert not desk.window.drops.overlay.isVisible()


def test_a_pointer_that_moves_asks_nothing_of_a_file_and_makes_no_cards_again(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file on a slow drive would hold the window at each move."""
    asked, kind = list[Path](), desk.session.opening.kind

    def look(file: Path) -> FileKind:
        asked.append(file)
        return kind(file)

    monkeypatch.setattr(desk.session.opening, "kind", look)
    data = drag(desk.window, tmp_path / "mix.safetensors")
    cards = desk.window.drops.overlay.cards
    asked.clear()
    for at in range(5, 50, 5):
        moved = QDragMoveEvent(
            QPoint(at, at), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(desk.window, moved)
    assert asked == []
    assert desk.window.drops.overlay.cards is cards


class _AskedFor(QMimeData):
    """Dragged files that count how often they are asked for."""

    asked = 0

    def urls(self) -> list[QUrl]:
        self.asked += 1
        return super().urls()


def test_a_dragged_file_is_asked_for_once_however_far_it_goes(desk: Desk) -> None:
    """Another program takes milliseconds to answer, and a thousand files are a thousand paths."""
    data = _AskedFor()
    data.setUrls([QUrl.fromLocalFile("/a/mix.png")])
    kind: type[QDragEnterEvent] | type[QDragMoveEvent] = QDragEnterEvent
    for at in range(5, 50, 5):
        event = kind(
            QPoint(at, at), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(desk.window, event)
        kind = QDragMoveEvent
    assert desk.window.drops.overlay.isVisible()
    assert data.asked == 1
    QApplication.sendEvent(desk.window, QDragLeaveEvent())
    assert not desk.window.drops.overlay.isVisible()
    event = QDragMoveEvent(
        QPoint(5, 5), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(desk.window, event)
    assert not desk.window.drops.overlay.isVisible()


def test_a_drop_on_a_card_that_its_file_has_no_more_is_refused(desk: Desk, tmp_path: Path) -> None:
    picture = Path(add_picture(tmp_path / "elsewhere"))
    data = drag(desk.window, picture)
    before = desk.session.generation.build_request()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "gone.safetensors"))])
    drop(desk.window, data, 1)
    assert desk.session.generation.build_request() == before


def test_the_picture_on_the_canvas_is_dragged_out_and_no_card_lies_over_it(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dragged: list[QMimeData] = []

    def drag_out(_source: QWidget, data: QMimeData, _pixmap: QPixmap) -> None:
        dragged.append(data)

    def source(_event: QDragEnterEvent) -> QWidget:
        return view

    monkeypatch.setattr("ui.panels.canvas_panel.drag_out", drag_out)
    window, view = desk.window, desk.window.canvas.view
    view.taken.emit(QPixmap())
    assert not dragged
    picture = add_picture(tmp_path / "elsewhere")
    desk.session.view.choose(picture)
    desk.wait(lambda: view.image is not None)
    view.taken.emit(QPixmap())
    assert [url.toLocalFile() for url in dragged[0].urls()] == [picture]
    monkeypatch.setattr(QDragEnterEvent, "source", source)
    drag(window, Path(picture))
    assert not window.drops.overlay.isVisible()
    assert window.drops.marks.isVisible()


def test_files_dropped_on_a_text_field_are_the_windows(desk: Desk, tmp_path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "a.safetensors"))])
    data.setText(str(tmp_path / "a.safetensors"))
    assert not desk.window.form.prompt.canInsertFromMimeData(data)


@pytest.mark.parametrize("size", [(960, 640), (1440, 900), (2560, 1440)])
def test_the_window_fits_the_screen_and_has_room_for_the_picture(
    desk: Desk, size: tuple[int, int]
) -> None:
    window = desk.window
    desk.session.notices.tell_error(ERROR, job="x")
    window.resize(*size)
    desk.wait(lambda: window.size().toTuple() == size)
    assert window.canvas.height() >= size[1] * 0.4
    assert window.canvas.width() >= size[0] * 0.55


def test_a_small_screen_has_the_whole_window_with_its_dock(desk: Desk) -> None:
    """Generate was below the edge of 853 x 480, which 1920 x 1080 is at 225 %."""
    window = desk.window
    window.resize(800, 440)
    desk.wait(lambda: window.size().toTuple() == (800, 440))
    generate = window.dock.generate
    corner = generate.mapTo(window, generate.rect().bottomRight())
    assert window.rect().contains(corner)
    assert generate.height() >= generate.minimumSizeHint().height()
    assert window.canvas.height() >= 128


def test_a_million_characters_pasted_are_cut(desk: Desk) -> None:
    QGuiApplication.clipboard().setText("word " * 200_000)
    prompt = desk.window.form.prompt
    prompt.selectAll()
    prompt.paste()
    assert len(prompt.toPlainText()) == MOST_CHARACTERS
    assert len(desk.window.notices.cards) == 1


@pytest.mark.parametrize(
    "modifier", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier]
)
def test_a_file_that_is_dropped_is_copied_never_moved(
    desk: Desk, tmp_path: Path, modifier: Qt.KeyboardModifier
) -> None:
    """A source that hears "move" deletes the file."""
    path = tmp_path / "mine.safetensors"
    path.write_bytes(b"")
    data, window = QMimeData(), desk.window
    data.setUrls([QUrl.fromLocalFile(str(path))])
    actions = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
    middle = window.rect().center()
    entered = QDragEnterEvent(middle, actions, data, LEFT, modifier)
    moved = QDragMoveEvent(middle, actions, data, LEFT, modifier)
    dropped = QDropEvent(middle.toPointF(), actions, data, LEFT, modifier)
    if modifier is Qt.KeyboardModifier.ShiftModifier:
        assert dropped.proposedAction() is Qt.DropAction.MoveAction
    for event in (entered, moved, dropped):
        QApplication.sendEvent(window, event)
        assert event.isAccepted()
        assert event.dropAction() is Qt.DropAction.CopyAction
    assert desk.session.generation.checkpoint == path
    assert path.exists()


def test_a_dialog_begins_in_a_folder_that_is_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that does not exist would put its last part into the field for the file's name."""
    begun: list[Path] = []

    def opened(_parent: object, _title: str, folder: str, *_: str) -> str:
        begun.append(Path(folder))
        return ""

    monkeypatch.setattr("ui.main_window.FileChooser.open_file", opened)
    models, output = desk.session.checkpoints.models, desk.session.output_pictures.folder
    assert not models.exists()
    assert not output.exists()
    open_, start = (
        desk.window.actions_by_name[name] for name in (ActionName.OPEN, ActionName.OPEN_START)
    )
    open_.trigger()
    start.trigger()
    models.mkdir()
    open_.trigger()
    assert begun == [models.parent, output.parent, models]
