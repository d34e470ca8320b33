"""The rail leads to the places of the window, and the open one is kept."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from app.form.last_session import read_last_session
from app.session import Session
from tests.ui.conftest import Desk, MakeDesk
from ui import places
from ui.actions import ActionName, Actions
from ui.places import Place
from ui.theme.theme import Theme

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[QWidget]:
    """The pages of the gallery that were made; a label stands for each."""
    pages: list[QWidget] = []

    def make(_session: Session, _theme: Theme, _actions: Actions) -> QWidget:
        pages.append(QLabel("gallery"))
        return pages[-1]

    monkeypatch.setitem(places._LATER, Place.GALLERY, make)  # pyright: ignore[reportPrivateUsage]
    return pages


def test_a_page_is_made_when_it_is_first_opened_and_kept(
    made: list[QWidget], make_desk: MakeDesk
) -> None:
    desk = make_desk()
    rail = desk.window.places.rail
    assert made == []
    QTest.mouseClick(rail.buttons[Place.GALLERY], LEFT)
    assert made[0].isVisible()
    assert not desk.window.form.isVisible()
    QTest.keyClick(desk.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert desk.window.form.isVisible()
    QTest.keyClick(desk.window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert made[0].isVisible()
    assert len(made) == 1


def test_the_rail_shows_the_open_place(made: list[QWidget], make_desk: MakeDesk) -> None:
    desk = make_desk()
    buttons = desk.window.places.rail.buttons
    assert buttons[Place.CREATE].isChecked()
    desk.window.actions_by_name[ActionName.GALLERY].trigger()
    assert [place for place, button in buttons.items() if button.isChecked()] == [Place.GALLERY]
    assert desk.window.places.place is Place.GALLERY
    assert buttons[Place.GALLERY].accessibleName() == "Gallery"
    assert "Ctrl+2" in buttons[Place.GALLERY].toolTip()


def test_the_open_place_is_open_at_the_next_start(made: list[QWidget], make_desk: MakeDesk) -> None:
    desk = make_desk()
    desk.window.places.open(Place.GALLERY)
    desk.end()
    last, problem = read_last_session(desk.paths.state)
    assert last is not None
    assert (last.layout.place, problem) == ("gallery", None)
    again = make_desk()
    assert again.window.places.place is Place.GALLERY
    assert made[-1].isVisible()


def test_a_place_that_is_not_there_opens_create(desk: Desk, theme: Theme) -> None:
    desk.session.memory.keep_layout(place="a place of a newer version")
    again = places.Places(desk.session, theme, Actions(desk.window))
    again.begin(QLabel("create"))
    assert again.place is Place.CREATE


def test_a_key_that_changes_the_form_shows_it(made: list[QWidget], make_desk: MakeDesk) -> None:
    desk = make_desk()
    desk.window.places.open(Place.GALLERY)
    QTest.keyClick(desk.window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert desk.window.places.place is Place.CREATE
    assert desk.window.form.prompt.hasFocus()
