"""Buttons of the search bar whose menus are filled when they are opened."""

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.gallery.query import GalleryQuery
from ui.gallery.filter_button import Choice, FilterButton
from ui.theme.theme import Theme


def test_a_menu_that_opens_again_has_no_more_objects(theme: Theme, qtbot: QtBot) -> None:
    usual = Choice("All models", {"model": ""})
    button = FilterButton(theme, "Model", lambda: [usual, Choice("a", {"model": "a"})])
    qtbot.addWidget(button)
    button.show_query(GalleryQuery(model="a"))
    counts: list[int] = []
    for _ in range(3):
        button.menu().aboutToShow.emit()
        qtbot.wait(1)
        counts.append(len(button.menu().findChildren(QObject)))
        assert [action.isChecked() for action in button.menu().actions()] == [False, True]
    assert counts[1:] == counts[:-1]
