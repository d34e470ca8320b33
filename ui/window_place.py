"""The window's place on the desktop: saved, and restored within the present screens."""

from collections.abc import Sequence

from PySide6.QtCore import QMargins, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStyle, QWidget

from app.form.last_session import WindowPlace

_SIZE = QSize(1280, 832)
# A guess at the width of a frame's sides; the style knows the height of the title.
_EDGE = 2


def guessed_frame(widget: QWidget) -> QMargins:
    """Return a guess at the margins of a window's frame, before it has one."""
    title = widget.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
    return QMargins(_EDGE, title, _EDGE, _EDGE)


def real_frame(widget: QWidget) -> QMargins:
    """Return the margins of the frame of a window that is shown."""
    inner, outer = widget.geometry(), widget.frameGeometry()
    return QMargins(
        inner.left() - outer.left(),
        inner.top() - outer.top(),
        outer.right() - inner.right(),
        outer.bottom() - inner.bottom(),
    )


def fitted(wanted: QRect, rooms: Sequence[QRect], frame: QMargins) -> QRect:
    """Return a window's place, without its frame, moved and shrunk to fit into one of the rooms.

    The room is the one with the largest overlap; the first if there is none.
    """

    def shared(room: QRect) -> int:
        common = room.intersected(wanted)
        return max(common.width(), 0) * max(common.height(), 0)

    room = max(rooms, key=shared).marginsRemoved(frame)
    place = QRect(wanted.topLeft(), wanted.size().boundedTo(room.size()))
    place.moveLeft(min(max(place.left(), room.left()), room.right() - place.width() + 1))
    place.moveTop(min(max(place.top(), room.top()), room.bottom() - place.height() + 1))
    return place


def room_for(widget: QWidget) -> QSize:
    """Return the largest size, without the frame, of a window on this widget's screen."""
    return widget.screen().availableGeometry().marginsRemoved(guessed_frame(widget)).size()


def put(window: QWidget, place: WindowPlace | None) -> None:
    """Move a hidden window to its saved place; without one, to the middle of the screen."""
    screen = QGuiApplication.primaryScreen().availableGeometry()
    wanted = QRect(screen.topLeft(), _SIZE)
    wanted.moveCenter(screen.center())
    if place is not None:
        wanted = QRect(place.x, place.y, place.width, place.height)
    window.setGeometry(fitted(wanted, _rooms(), guessed_frame(window)))
    if place is not None and place.maximized:
        window.setWindowState(window.windowState() | Qt.WindowState.WindowMaximized)


def fit(window: QWidget) -> None:
    """Move a visible window into its screen, now that the size of its frame is known."""
    if window.isMaximized() or window.isFullScreen():
        return
    now = fitted(window.geometry(), _rooms(), real_frame(window))
    if now != window.geometry():
        window.setGeometry(now)


def place_of(window: QWidget) -> WindowPlace:
    """Return the window's present place; of one that fills the screen, where it was before."""
    fills = window.isMaximized() or window.isFullScreen()
    inner = window.normalGeometry() if fills else window.geometry()
    return WindowPlace(
        x=inner.x(),
        y=inner.y(),
        width=inner.width(),
        height=inner.height(),
        maximized=window.isMaximized(),
    )


def _rooms() -> list[QRect]:
    primary = QGuiApplication.primaryScreen()
    screens = [primary, *(screen for screen in QGuiApplication.screens() if screen is not primary)]
    return [screen.availableGeometry() for screen in screens]
