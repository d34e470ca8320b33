"""Widgets are made in their places: each move of a widget styles everything in it anew."""

from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.ui.conftest import Desk
from ui.main_window import MainWindow
from ui.places import Place
from ui.settings.page import SettingsPage
from ui.theme.theme import Theme


class Styled(QObject):
    """Counts how often widgets take on a style while it is the application's filter."""

    def __init__(self, application: QApplication) -> None:
        super().__init__()
        self._application = application
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        self.count += watched.isWidgetType() and event.type() is QEvent.Type.StyleChange
        return False

    def __enter__(self) -> "Styled":
        self._application.installEventFilter(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._application.removeEventFilter(self)


def widgets(of: QWidget) -> int:
    return len(of.findChildren(QWidget))


def test_the_window_is_built_in_place(
    tmp_path: Path, qtbot: QtBot, qapp: QApplication, theme: Theme
) -> None:
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    with Styled(qapp) as styled:
        window = MainWindow(staged.session, theme)
    qtbot.addWidget(window)
    assert 0 < styled.count < 4 * widgets(window)
    staged.end()
    window.close_background()


def test_the_settings_are_built_in_place(desk: Desk, qapp: QApplication) -> None:
    with Styled(qapp) as styled:
        desk.window.places.open(Place.SETTINGS)
    (page,) = desk.window.findChildren(SettingsPage)
    assert 0 < styled.count < 4 * widgets(page)
