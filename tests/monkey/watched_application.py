"""The application with a probe, within the monkey's bounds, under its watch."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

import ui.application
from app.__main__ import open_window
from app.queue.jobs import JobState
from app.session import Session
from tests.monkey.bounds import Fence, answer_for_others
from tests.monkey.plants import plant
from tests.monkey.records import FOLDER, PLANTED, SEED
from tests.monkey.watch import Watch
from tests.ui.real_window.probed_application import Probe
from ui.actions import ActionName
from ui.application import Application
from ui.main_window import MainWindow
from ui.places import Place

_make_window = ui.application.make_window


class WatchedProbe(Probe):
    """A probe whose own work is no stall of the application's."""

    def __init__(
        self, application: Application, session: Session, window: MainWindow, watch: Watch
    ) -> None:
        super().__init__(
            application, session, window, watch=watch, target=target, door=door, JobState=JobState
        )
        self._watch = watch

    def answer(self, line: str) -> None:
        """Answer, and have the watch forget it."""
        super().answer(line)
        self._watch.excuse()


def target(kind: str, which: float, across: float, down: float) -> tuple[int, int] | None:
    """Return a place on the screen that is the application's: of a control, or of any part."""
    top = QApplication.activePopupWidget() or QApplication.activeWindow()
    if top is None:
        return None
    inside = _control(top, which) if kind == "control" else top
    for widget in (inside, top):
        size = widget.size()
        place = QPoint(int(across * size.width()), int(down * size.height()))
        at = widget.mapToGlobal(place)
        if QApplication.widgetAt(at) is not None and _screen().contains(at):
            return at.x(), at.y()
    return None


def door(window: MainWindow, place: str) -> tuple[int, int] | None:
    """Return where the rail's button of a place is on the screen; None if something is before."""
    button = window.places.rail.buttons[Place(place)]
    if QApplication.activePopupWidget() is not None or QApplication.activeWindow() is not window:
        return None
    at = button.mapToGlobal(button.rect().center())
    return (at.x(), at.y()) if QApplication.widgetAt(at) is button else None


def _control(top: QWidget, which: float) -> QWidget:
    controls = [widget for widget in _below(top) if _takes_clicks(widget)]
    return controls[int(which * len(controls))] if controls else top


def _below(widget: QWidget) -> Iterator[QWidget]:
    """Yield the widgets in a widget.

    PySide's `findChildren` ties what it finds to the widget that was searched, so that objects of
    what was deleted since would grow with the number of searches.
    """
    for child in widget.children():
        if isinstance(child, QWidget):
            yield child
            yield from _below(child)


def _takes_clicks(widget: QWidget) -> bool:
    takes = widget.focusPolicy() is not Qt.FocusPolicy.NoFocus
    clicked = takes or isinstance(widget, QAbstractButton)
    return clicked and widget.isVisible() and not widget.visibleRegion().isEmpty()


def _screen() -> QRect:
    return QApplication.primaryScreen().geometry()


def _make_watched_window(application: Application, session: Session) -> MainWindow:
    window = _make_window(application, session)
    watch = Watch(Path(os.environ[FOLDER]), window)
    Fence(Path(os.environ[FOLDER]), lambda text: watch.add("left_its_bounds", text))
    answer_for_others(Path(os.environ[FOLDER]), int(os.environ[SEED]))
    # Growth is seen only in a window that stays open.
    window.actions_by_name[ActionName.QUIT].setEnabled(False)
    WatchedProbe(application, session, window, watch)
    plant(os.environ.get(PLANTED, ""), watch)
    return window


if __name__ == "__main__":
    ui.application.make_window = _make_watched_window
    sys.exit(open_window(sys.argv[1:]))
