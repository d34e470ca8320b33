"""A button that copies something says so beside itself."""

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPushButton, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from ui.copying import tell_copied
from ui.picture_facts import Fact
from ui.theme.theme import Theme
from ui.widgets.notice_bar import NoticeBar
from ui.widgets.picture_details import PictureDetails
from ui.widgets.seed_field import SeedField


@pytest.fixture(autouse=True)
def _no_tip() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    QToolTip.hideText()
    yield
    QToolTip.hideText()


def shown(qtbot: QtBot, widget: QWidget) -> None:
    qtbot.addWidget(widget)
    widget.show()
    assert not QToolTip.isVisible()


def require_told(text: str) -> None:
    assert QGuiApplication.clipboard().text() == text
    assert QToolTip.isVisible()
    assert QToolTip.text() == "Copied"


def test_a_fact_of_a_picture_and_all_of_them(qtbot: QtBot, theme: Theme) -> None:
    details = PictureDetails(theme)
    shown(qtbot, details)
    details.show_facts([Fact("Prompt", "a boat")])
    details.rows[0].copy.click()
    require_told("a boat")
    QToolTip.hideText()
    details.show_facts([Fact("Prompt", "a boat")], "a boat\nSteps: 20")
    details.copy_all.click()
    require_told("a boat\nSteps: 20")


def test_the_seed(qtbot: QtBot, theme: Theme) -> None:
    field = SeedField(theme)
    shown(qtbot, field)
    field.show_seed(42, locked=False)
    field.copy.trigger()
    require_told("42")


def test_the_report_of_a_failure(qtbot: QtBot, theme: Theme) -> None:
    bar = NoticeBar(theme, lambda: "Code: internal")
    shown(qtbot, bar)
    bar.copy_report.click()
    require_told("Code: internal")


def test_a_picture_by_its_button_alone(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a key or a menu one copies what one has chosen: the pointer is anywhere."""
    window = QWidget()
    button, field = QPushButton("Copy", window), QLineEdit(window)
    field.move(0, 100)
    shown(qtbot, window)
    for at, is_told in ((field, False), (button, True)):
        place = at.mapToGlobal(at.rect().center())
        monkeypatch.setattr(QCursor, "pos", lambda place=place: place)
        tell_copied()
        assert QToolTip.isVisible() is is_told
