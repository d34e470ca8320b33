"""Notes lie over the page and leave by themselves; failures stay, and no picture gets smaller."""

import sys
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QEnterEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.notices.faults import report_faults
from app.notices.remedies import NoticeAction
from engine.api.values import ErrorCode, ErrorInfo
from tests.ui.conftest import Desk
from ui.actions import ActionName
from ui.gallery.page import GalleryPage
from ui.message_overlay import MessageOverlay
from ui.models.page import ModelsPage
from ui.panels import notice_card
from ui.panels.notice_card import NoticeCard
from ui.places import Place, Places
from ui.widgets.zoom_bar import ZoomBar

ERROR = ErrorInfo(ErrorCode.DISK_FULL, "The disk is full.", "Make room.", "ENOSPC")


@pytest.fixture
def desk(kept_desk: Desk) -> Desk:
    """The window of all tests here, as at first."""
    return kept_desk


def tell(desk: Desk, *messages: str) -> tuple[NoticeCard, ...]:
    for message in messages:
        desk.session.notices.tell(message, actions=(NoticeAction.UNDO_CHANGE,), undo=lambda: None)
    return desk.window.notices.cards


class Requests(QObject):
    """Counts the layouts that a widget is asked for."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Count."""
        self.count += event.type() is QEvent.Type.LayoutRequest
        return False


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough to be seen leaving.
    for name, ms in (("_LEAST_MS", 200), ("_PER_SIGN_MS", 1), ("_FOR_A_BUTTON_MS", 1)):
        monkeypatch.setattr(notice_card, name, ms)


def test_a_message_is_placed_where_a_zoom_that_it_avoided_is_gone(desk: Desk) -> None:
    """The zoom of a comparison is made anew for each."""
    window = desk.window
    zoom = ZoomBar(window.canvas.view, window._theme)  # pyright: ignore[reportPrivateUsage]
    tell(desk, "A message that keeps off it.")
    shiboken6.delete(zoom)
    told, overlay = tell(desk, "Another."), desk.window.findChild(MessageOverlay)
    assert overlay is not None
    overlay.put()
    assert told
    assert not any(notice.error for notice in desk.session.notices.notices)


@pytest.mark.parametrize("field", ["negative", "prompt"])
def test_the_focus_is_back_in_the_form_when_the_message_that_had_it_is_gone(
    desk: Desk, field: str
) -> None:
    """The window's first control had it, the button of Create."""
    before: QWidget = getattr(desk.window.form, field)
    before.setFocus()
    first, second = tell(desk, "First.", "Second.")
    # From one message to the other, as Tab leads.
    first.dismiss.setFocus()
    second.remedies[NoticeAction.UNDO_CHANGE].setFocus()
    second.remedies[NoticeAction.UNDO_CHANGE].click()
    assert before.hasFocus()


def test_a_field_that_is_scrolled_away_is_not_scrolled_to(desk: Desk) -> None:
    form = desk.window.form
    desk.unfold()
    form.prompt.setFocus()
    (card,) = tell(desk, "First.")
    card.dismiss.setFocus()
    bar = form.verticalScrollBar()
    desk.wait(lambda: bar.maximum() > 600)
    bar.setValue(bar.maximum())
    card.dismiss.click()
    assert bar.value() == bar.maximum()


def test_a_fault_in_showing_a_fault_is_not_told_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    notices = desk.session.notices
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    report_faults(notices)
    report, times = sys.excepthook, list[int]()

    def fail() -> None:
        times.append(len(times))
        assert len(times) < 50, "each fault brings the next"
        report(ValueError, ValueError(f"number {len(times)}"), None)

    notices.changed.connect(fail)
    report(ValueError, ValueError("the first"), None)
    notices.changed.disconnect(fail)
    assert len(times) == 1
    (told,) = (notice.error for notice in notices.notices if notice.error)
    assert told.detail == "ValueError: the first"
    assert "number 1" in caplog.text


@pytest.mark.usefixtures("quick")
def test_a_note_leaves_by_itself_and_a_failure_stays(desk: Desk) -> None:
    desk.session.notices.tell_error(ERROR)
    failure, note = tell(desk, "Settings replaced.")
    assert note.is_leaving
    assert not failure.is_leaving
    desk.wait(lambda: desk.window.notices.cards == (failure,))
    assert [notice.error for notice in desk.session.notices.notices] == [ERROR]


def test_messages_lie_over_the_canvas_and_take_nothing_from_it(desk: Desk) -> None:
    window = desk.window
    window.resize(1440, 900)
    before = window.canvas.size()
    desk.session.notices.tell_error(ERROR)
    tell(desk, "Settings replaced.")
    desk.wait(window.messages.isVisible)
    assert window.canvas.size() == before
    overlay = window.messages
    canvas = window.canvas.rect().translated(window.canvas.mapTo(window.places, QPoint(0, 0)))
    assert canvas.contains(overlay.geometry())
    for card in window.notices.cards:
        assert card.height() >= card.heightForWidth(card.width())
    # The queue is not covered.
    window.actions_by_name[ActionName.QUEUE].trigger()
    desk.wait(lambda: not overlay.geometry().intersects(window.queue.geometry()))


def test_messages_cover_no_button_of_a_page(desk: Desk, tmp_path: Path) -> None:
    window = desk.window
    window.resize(960, 640)
    desk.session.notices.tell_error(ERROR)
    window.places.open(Place.GALLERY)
    (gallery,) = window.findChildren(GalleryPage)
    window.places.open(Place.MODELS)
    (models,) = window.findChildren(ModelsPage)
    models.yours.details.show()
    desk.wait(lambda: not covered(desk, models.yours.details))
    models.show_view(1)
    desk.wait(lambda: covered(desk, models.get))
    models.show_view(0)
    desk.wait(lambda: not covered(desk, models.yours.details))
    window.places.open(Place.GALLERY)
    desk.wait(lambda: not covered(desk, gallery.foot))
    window.places.open(Place.CREATE)
    image = QImage(64, 64, QImage.Format.Format_RGB32)
    assert image.save(str(tmp_path / "picture.png"))
    desk.session.view.choose(str(tmp_path / "picture.png"))
    desk.wait(window.canvas.zoom.isVisible)
    desk.wait(lambda: not covered(desk, window.canvas.zoom))
    desk.resize(1280, 720)
    window.actions_by_name[ActionName.DETAILS].trigger()
    desk.wait(window.canvas.details.isVisible)
    desk.wait(lambda: not covered(desk, window.canvas.details))


def covered(desk: Desk, widget: QWidget) -> bool:
    """Return True if messages lie over a part of a widget."""
    messages, places = desk.window.messages, desk.window.places
    place = QRect(widget.mapTo(places, QPoint(0, 0)), widget.size())
    assert widget.isVisible()
    return messages.isVisible() and messages.geometry().intersects(place)


def test_a_message_that_lies_still_has_the_window_at_rest(desk: Desk) -> None:
    desk.session.notices.tell_error(ERROR)
    desk.wait(desk.window.messages.isVisible)
    requests = Requests()
    desk.window.messages.installEventFilter(requests)
    for _ in range(100):
        QCoreApplication.processEvents()
    assert requests.count < 10


def test_messages_are_put_once_for_all_that_moves_as_a_page_is_opened(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time the whole page is searched for zooms and pictures."""
    tell(desk, "Settings replaced.")
    desk.wait(desk.window.messages.isVisible)
    for place in (Place.GALLERY, Place.CREATE):
        desk.window.places.open(place)
    for _ in range(20):
        QCoreApplication.processEvents()
    searched = list[int]()
    room = type(desk.window.places).room_for_messages

    def counted(places: Places) -> QWidget:
        searched.append(1)
        assert room.fget is not None
        return room.fget(places)

    monkeypatch.setattr(Places, "room_for_messages", property(counted))
    desk.window.places.open(Place.GALLERY)
    QCoreApplication.processEvents()
    # Once more for what was made visible.
    assert 1 <= len(searched) <= 2


def test_a_note_stays_while_the_pointer_or_the_focus_is_on_it(desk: Desk) -> None:
    (card,) = tell(desk, "Settings replaced.")
    place = QPointF(5, 5)
    QApplication.sendEvent(card, QEnterEvent(place, place, place))
    assert not card.is_leaving
    QApplication.sendEvent(card, QEvent(QEvent.Type.Leave))
    assert card.is_leaving
    undo = card.remedies[NoticeAction.UNDO_CHANGE]
    undo.setFocus()
    assert not card.is_leaving
    desk.window.form.prompt.setFocus()
    assert card.is_leaving


def test_the_oldest_of_many_notes_leaves_first(desk: Desk) -> None:
    cards = tell(desk, "One.", "Two.", "Three.", "Four.")
    assert [card.message.text() for card in cards] == ["Two.", "Three.", "Four."]


def test_a_failure_leaves_room_for_one_note(desk: Desk) -> None:
    tell(desk, "1", "2", "3")
    desk.session.notices.tell_error(ERROR)
    assert [card.notice.message for card in desk.window.notices.cards] == ["The disk is full.", "3"]
    tell(desk, "4")
    assert [card.notice.message for card in desk.window.notices.cards] == ["The disk is full.", "4"]


def test_undo_has_a_key(desk: Desk) -> None:
    form = desk.session.generation
    form.steps = 9
    desk.session.changes.reset()
    assert form.steps is None
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    QTest.keyClick(desk.window, Qt.Key.Key_Z, modifiers)
    assert form.steps == 9


def test_a_message_is_announced(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def note(event: QAccessibleAnnouncementEvent) -> None:
        said.append(event.message())

    monkeypatch.setattr(QAccessible, "updateAccessibility", note)
    desk.session.notices.tell("Settings replaced.", "Undo puts them back.")
    assert "Settings replaced. Undo puts them back." in said


def test_messages_make_room_once_somebody_chooses_a_picture_of_the_gallery(desk: Desk) -> None:
    window, overlay = desk.window, desk.window.messages
    window.places.open(Place.GALLERY)
    (gallery,) = window.findChildren(GalleryPage)
    tell(desk, "The first.")
    assert window.notices.isVisible()
    desk.wait(overlay.isVisible)
    QTest.mouseClick(gallery.browser.grid.viewport(), Qt.MouseButton.LeftButton)
    assert overlay.unfold.isVisible()
    assert not window.notices.isVisible()
