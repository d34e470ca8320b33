"""One picture as large as it fits, and the way to those before and after it."""

from functools import partial

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.gallery.rows import GalleryRow, Trouble
from ui.action_names import ActionName
from ui.escape_key import is_escape_wanted
from ui.gallery.labels import marks_words, name_of, position_label, spoken, trouble_label
from ui.gallery.picture_loader import LoadedPicture, PictureLoader
from ui.item_models.dragged_pictures import drag_out, files_as_data
from ui.key_tips import show_key
from ui.keys import bind_key
from ui.theme.metrics import M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, plain_label
from ui.widgets.placing import put_in_corner
from ui.widgets.stack import Stack
from ui.widgets.zoom_bar import ZoomBar
from ui.widgets.zoom_view import ZoomView

_TURNED = {ActionName.PICTURE_BEFORE: -1, ActionName.PICTURE_AFTER: 1}
_JUMPED = {ActionName.FIRST_PICTURE: -1, ActionName.LAST_PICTURE: 1}


class Viewer(QWidget):
    """The viewer of one picture at a time. Arrows go on, unless they pan a zoomed picture."""

    # Emits -1 or 1: the user goes to the picture before or after.
    stepped = Signal(int)
    # Emits -1 or 1: the user goes to the first picture or to the last.
    jumped = Signal(int)
    closed = Signal()

    def __init__(self, loader: PictureLoader, theme: Theme) -> None:
        super().__init__()
        self._loader = loader
        self._wanted = ""
        self._trouble: Trouble | None = None
        # The stack that the viewer left to fill the screen.
        self._home: Stack | None = None
        self.setProperty("role", "canvas")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view = ZoomView(theme, margin=0)
        self.zoom = ZoomBar(self.view, theme)
        self.zoom.setParent(self.view)
        self.back = IconButton(theme, "back", self.tr("Back to all pictures"))
        self.back.set_name(self.tr("Back to all pictures"), self.tr("Esc"))
        self.previous = IconButton(theme, "previous", self.tr("Picture before"))
        show_key(self.previous, ActionName.PICTURE_BEFORE)
        self.next = IconButton(theme, "next", self.tr("Picture after"))
        show_key(self.next, ActionName.PICTURE_AFTER)
        self.name = ElidedLabel()
        self.position = plain_label("", "caption")
        self.marks = plain_label("", "caption")
        self._lay_out()
        self.view.taken.connect(self._drag_out)
        self.back.clicked.connect(self.closed)
        self.previous.clicked.connect(lambda: self.stepped.emit(-1))
        self.next.clicked.connect(lambda: self.stepped.emit(1))
        bind_key(self, ActionName.ALL_PICTURES, self.closed.emit)
        for name, way in _TURNED.items():
            bind_key(self, name, partial(self.stepped.emit, way))
        for name, way in _JUMPED.items():
            bind_key(self, name, partial(self.jumped.emit, way))

    def show_row(self, row: GalleryRow, number: int, count: int) -> None:
        """Show a picture, which is the one of this number, from 0, of so many."""
        self._wanted, self._trouble = row.path, row.trouble
        self.previous.setEnabled(number > 0)
        self.next.setEnabled(number + 1 < count)
        self.position.setText(position_label(number + 1, count))
        self.name.setText(row.prompt or name_of(row))
        self.marks.setText(", ".join(marks_words(row)))
        self.view.setAccessibleDescription(spoken(row))
        self._loader.want(row, self._show)

    def _show(self, loaded: LoadedPicture) -> None:
        if loaded.path != self._wanted:
            return
        if loaded.levels is None:
            self.view.show_sheet(QSize(4, 3))
            self.name.setText(trouble_label(self._trouble or Trouble.DAMAGED))
        else:
            self.view.show_picture(loaded.levels, loaded.shape)

    def _drag_out(self, pixmap: QPixmap) -> None:
        drag_out(self.view, files_as_data([self._wanted]), pixmap)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(S, S, M, S)
        row.setSpacing(S)
        for widget in (self.back, self.previous, self.next, self.position):
            row.addWidget(widget)
        row.addWidget(self.name, 1)
        row.addWidget(self.marks)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self.view, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Keep the zoom's buttons in the corner."""
        super().resizeEvent(event)
        put_in_corner(self.zoom, self.view.rect(), M)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Go back to the grid by Esc, which leads back everywhere."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Take Esc, which elsewhere cancels what is being made."""
        if is_escape_wanted(event):
            event.accept()
            return True
        return super().event(event)

    # The whole screen.

    def toggle_full_screen(self) -> None:
        """Fill the screen, or go back into the page."""
        if self._home is not None:
            self.leave_full_screen()
        elif self.isVisible():
            home = self.parentWidget()
            assert isinstance(home, Stack)
            self._home = home
            home.removeWidget(self)
            # Still the window's, which gives it its look.
            self.setParent(home.window(), Qt.WindowType.Window)
            self.showFullScreen()
            # Keys go to the window in front only.
            self.activateWindow()
            self.view.setFocus()

    def leave_full_screen(self) -> None:
        """Go back into the page, if the viewer fills the screen."""
        if self._home is not None:
            home, self._home = self._home, None
            self.setWindowState(Qt.WindowState.WindowNoState)
            self.setWindowFlag(Qt.WindowType.Window, on=False)
            home.addWidget(self)
            home.setCurrentWidget(self)
            self.view.setFocus()
