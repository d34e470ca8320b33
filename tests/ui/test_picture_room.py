"""The picture keeps its part of the window, whatever stands around it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.settings.values import Language
from engine.api.limits import MAX_SEED
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.kept_language import kept_language
from tests.ui.test_info_panel import picture
from ui.actions import ActionName
from ui.languages.use import use_language
from ui.places import Place

CONTROL = Qt.KeyboardModifier.ControlModifier
NARROW, WIDE = (1440, 900), (1920, 1080)
# Windows, and the picture's least part with nothing opened beside the form.
SIZES = (
    ((960, 640), 0.45),
    ((1280, 720), 0.45),
    ((1366, 768), 0.5),
    (NARROW, 0.55),
    (WIDE, 0.6),
    ((3840, 2160), 0.75),
)


RIGHT_TO_LEFT = Qt.LayoutDirection.RightToLeft


@pytest.fixture
def language(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[str]:
    """The window's words: English, German, or English from right to left."""
    with kept_language(qapp):
        if request.param == "german":
            use_language(qapp, Language.GERMAN, {})
        elif request.param == "mirrored":
            qapp.setLayoutDirection(RIGHT_TO_LEFT)
        yield request.param


def place_of(desk: Desk, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(desk.window, QPoint(0, 0)), widget.size())


def share(desk: Desk) -> float:
    """The part of the window in which pictures are seen: beside details, not below the queue."""
    window, queue = desk.window, desk.window.queue
    room = place_of(desk, window.canvas.pictures)
    seen = room.width() * room.height()
    if queue.isVisible():
        covered = room & place_of(desk, queue)
        seen -= covered.width() * covered.height()
    return seen / (window.width() * window.height())


def resize(desk: Desk, size: tuple[int, int]) -> None:
    desk.resize(*size)
    desk.wait(lambda: desk.window.size().toTuple() == size)
    settle()


def settle() -> None:
    """Let layouts act, and what they change."""
    for _ in range(20):
        QCoreApplication.processEvents()


def press(desk: Desk, action: ActionName) -> None:
    desk.window.actions_by_name[action].trigger()
    settle()


@pytest.mark.parametrize("language", ["english", "german", "mirrored"], indirect=True)
def test_the_picture_has_its_part_in_each_state(
    language: str, make_desk: MakeDesk, tmp_path: Path
) -> None:
    desk = make_desk()
    window = desk.window
    assert window.isRightToLeft() is (language == "mirrored")
    desk.session.view.choose(picture(tmp_path / "a.png", "a red house"))
    desk.wait(lambda: window.info.title.text() == "a red house")
    for size, least in SIZES:
        resize(desk, size)
        found = shares(desk)
        assert found.pop("form") >= least, size
        assert min(found.values()) >= 0.45, (size, found)


def shares(desk: Desk) -> dict[str, float]:
    """The picture's part in each state of a window that has the form alone, which it has again."""
    sides = desk.window.create_page.sides
    assert desk.window.strip.isVisible()
    found = {"form": share(desk)}
    press(desk, ActionName.DETAILS)
    assert desk.window.canvas.details.isVisible()
    found["details"] = share(desk)
    press(desk, ActionName.QUEUE)
    assert desk.window.queue.isVisible()
    found["queue and details"] = share(desk)
    press(desk, ActionName.DETAILS)
    found["queue"] = share(desk)
    press(desk, ActionName.FOLD_SIDE)
    found["queue beside a folded side"] = share(desk)
    press(desk, ActionName.FOLD_SIDE)
    width = sides.side.width()
    drag_side(desk, desk.window.width())
    assert sides.side.width() > width or desk.window.width() < 1100
    found["queue and a wide side"] = share(desk)
    press(desk, ActionName.QUEUE)
    found["wide side"] = share(desk)
    press(desk, ActionName.DETAILS)
    found["details and a wide side"] = share(desk)
    press(desk, ActionName.DETAILS)
    drag_side(desk, width)
    return found


def drag_side(desk: Desk, width: int) -> None:
    desk.window.create_page.sides.moveSplitter(width, 1)
    settle()


def test_the_queue_lies_below_the_form_where_the_picture_needs_the_room(desk: Desk) -> None:
    window = desk.window
    side = window.create_page.sides.side
    resize(desk, NARROW)
    form = window.form.height()
    press(desk, ActionName.QUEUE)
    assert place_of(desk, side).contains(place_of(desk, window.queue))
    assert not place_of(desk, window.form).intersects(place_of(desk, window.queue))
    assert window.form.height() >= 260
    resize(desk, WIDE)
    assert window.form.height() > form
    assert place_of(desk, window.queue).right() == window.rect().right()
    # Pictures lie beside it, whole.
    assert not place_of(desk, window.queue).intersects(place_of(desk, window.canvas.empty))
    # Over the picture alone: its buttons stay in reach.
    assert not place_of(desk, window.queue).intersects(place_of(desk, window.info))
    resize(desk, NARROW)
    press(desk, ActionName.QUEUE)
    assert window.form.height() == form


def test_the_queue_takes_nothing_of_the_picture_in_the_smallest_window(desk: Desk) -> None:
    window = desk.window
    resize(desk, window.minimumSize().toTuple())
    before = share(desk)
    press(desk, ActionName.QUEUE)
    assert share(desk) == before
    # The form is low, and scrolls to its prompt.
    assert not place_of(desk, window.form).intersects(place_of(desk, window.queue))
    press(desk, ActionName.EDIT_PROMPT)
    assert window.form.prompt.hasFocus()
    assert window.form.prompt.visibleRegion().boundingRect().height() >= 40


def test_the_queue_hides_no_details(desk: Desk) -> None:
    window = desk.window
    resize(desk, WIDE)
    press(desk, ActionName.QUEUE)
    press(desk, ActionName.DETAILS)
    assert window.canvas.details.isVisible()
    assert not place_of(desk, window.queue).intersects(place_of(desk, window.canvas.details))
    press(desk, ActionName.DETAILS)
    assert place_of(desk, window.queue).right() == window.rect().right()


def test_the_queue_lies_over_the_trailing_side_of_other_places(desk: Desk) -> None:
    window = desk.window
    resize(desk, NARROW)
    press(desk, ActionName.QUEUE)
    for place in (Place.MODELS, Place.CREATE, Place.MODELS):
        window.places.open(place)
        settle()
        at_end = place_of(desk, window.queue).right() == window.rect().right()
        assert at_end is (place is Place.MODELS)


def test_esc_closes_an_empty_queue(desk: Desk) -> None:
    press(desk, ActionName.QUEUE)
    focused = desk.window.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, Qt.Key.Key_Escape)
    assert not desk.window.queue.isVisible()
    assert desk.window.dock.queue.hasFocus()


def test_the_names_of_places_are_left_out_of_a_narrow_window(desk: Desk) -> None:
    rail = desk.window.places.rail
    resize(desk, NARROW)
    width = rail.width()
    resize(desk, (960, 640))
    assert rail.width() < width
    resize(desk, NARROW)
    assert rail.width() == width


@pytest.mark.parametrize("language", ["german"], indirect=True)
def test_a_long_name_of_a_place_has_two_lines(language: str, make_desk: MakeDesk) -> None:
    button = make_desk().window.places.rail.buttons[Place.SETTINGS]
    assert (button.text(), button.accessibleName()) == ("Einstel-\nlungen", "Einstellungen")


@pytest.mark.parametrize("size", [(800, 440), (960, 640), NARROW, WIDE])
def test_a_seed_is_seen_whole(desk: Desk, size: tuple[int, int]) -> None:
    window, field = desk.window, desk.window.dock.seed.number
    resize(desk, size)
    desk.session.generation.seed = 4_294_967_295
    settle()
    digits = field.fontMetrics().horizontalAdvance(field.text())
    assert digits <= field.width() - 54
    assert window.dock.rect().contains(window.dock.device.geometry())


def test_the_longest_seed_is_seen_whole_or_told(desk: Desk) -> None:
    window, field = desk.window, desk.window.dock.seed.number
    for size, is_whole in ((NARROW, True), ((960, 640), False), (WIDE, True)):
        resize(desk, size)
        desk.session.generation.seed = MAX_SEED
        settle()
        digits = field.fontMetrics().horizontalAdvance(str(MAX_SEED))
        assert (digits <= field.width() - 54) is is_whole
        assert field.toolTip() == ("" if is_whole else str(MAX_SEED))
        assert window.dock.rect().contains(window.dock.device.geometry())
        desk.session.generation.seed = 1
        settle()
        assert field.width() < digits
        assert not field.toolTip()


def test_details_take_the_forms_place_in_a_narrow_window_and_leave_the_picture_as_it_is(
    desk: Desk,
) -> None:
    window = desk.window
    resize(desk, NARROW)
    before = window.canvas.pictures.size()
    window.form.negative.setFocus()
    press(desk, ActionName.DETAILS)
    pane = window.canvas.details
    assert pane.isVisible()
    assert not window.form.isVisible()
    assert window.create_page.sides.side.isAncestorOf(pane)
    assert window.canvas.pictures.size() == before
    assert pane.back.hasFocus()
    pane.back.click()
    settle()
    assert window.form.isVisible()
    assert not pane.isVisible()
    assert not window.info.details.isChecked()
    assert window.form.negative.hasFocus()


def test_details_that_are_closed_and_opened_again_stay_where_they_were(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = desk.window
    resize(desk, NARROW)
    press(desk, ActionName.DETAILS)
    moves = list[object]()
    monkeypatch.setattr(window.canvas, "put_beside", moves.append)
    parent = window.canvas.details.parentWidget()
    for is_shown in (False, True, False):
        press(desk, ActionName.DETAILS)
        assert window.canvas.details.isVisible() is is_shown
        assert window.form.isVisible() is not is_shown
        assert window.canvas.details.parentWidget() is parent
    assert moves == []


def test_details_stand_beside_the_form_in_a_wide_window(desk: Desk) -> None:
    window = desk.window
    resize(desk, NARROW)
    press(desk, ActionName.DETAILS)
    resize(desk, WIDE)
    assert window.form.isVisible()
    assert window.canvas.isAncestorOf(window.canvas.details)
    assert window.canvas.details.isVisible()
    assert not window.canvas.details.back.isVisible()
    resize(desk, NARROW)
    assert window.canvas.details.isVisible()
    assert not window.form.isVisible()


def test_whatever_leads_to_the_form_brings_it_back(desk: Desk) -> None:
    window = desk.window
    resize(desk, NARROW)
    for action in (ActionName.EDIT_PROMPT, ActionName.USE_SETTINGS):
        press(desk, ActionName.DETAILS)
        assert not window.form.isVisible()
        window.actions_by_name[action].setEnabled(True)
        press(desk, action)
        assert window.form.isVisible()
        assert not window.canvas.details.isVisible()
    press(desk, ActionName.EDIT_PROMPT)
    assert window.form.prompt.hasFocus()


def test_a_side_is_folded_with_the_details_that_are_in_it(desk: Desk) -> None:
    window = desk.window
    resize(desk, NARROW)
    press(desk, ActionName.DETAILS)
    QTest.keyClick(window, Qt.Key.Key_B, CONTROL)
    assert not window.canvas.details.isVisible()
    assert not window.form.isVisible()
    # Beside a folded side there is room for them.
    press(desk, ActionName.DETAILS)
    assert window.canvas.isAncestorOf(window.canvas.details)
    assert window.canvas.details.isVisible()
    assert share(desk) >= 0.55
    QTest.keyClick(window, Qt.Key.Key_B, CONTROL)
    assert window.form.isVisible()
    assert not window.canvas.details.isVisible()


def test_a_dragged_side_comes_back_as_wide_as_it_was(desk: Desk) -> None:
    sides = desk.window.create_page.sides
    resize(desk, WIDE)
    sides.moveSplitter(WIDE[0], 1)
    width = sides.side.width()
    press(desk, ActionName.DETAILS)
    assert sides.side.width() < width
    press(desk, ActionName.DETAILS)
    assert sides.side.width() == width


def test_details_are_at_the_next_start_as_they_were_left(make_desk: MakeDesk) -> None:
    desk = make_desk()
    resize(desk, NARROW)
    press(desk, ActionName.DETAILS)
    desk.end()
    again = make_desk()
    resize(again, NARROW)
    assert again.window.canvas.details.back.hasFocus()
    assert not again.window.form.isVisible()
    assert again.window.info.details.isChecked()
    resize(again, WIDE)
    assert again.window.form.isVisible()
