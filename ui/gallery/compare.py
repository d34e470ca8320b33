"""Two to four pictures side by side: one zoom for all, and only the settings that differ."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.gallery.rows import GalleryRow
from ui.action_names import ActionName
from ui.gallery.differences import differing
from ui.gallery.labels import marks_words, name_of, spoken, trouble_label
from ui.gallery.picture_loader import LoadedPicture, PictureLoader
from ui.key_tips import show_key
from ui.keys import HeldKey
from ui.picture_facts import Fact
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, plain_label
from ui.widgets.viewport import ViewPoint
from ui.widgets.zoom_bar import ZoomBar
from ui.widgets.zoom_view import ZoomView

# The columns of panes for a number of pictures.
_COLUMNS = {2: 2, 3: 3, 4: 2}


class ComparePane(QWidget):
    """One of the pictures: its view, its name and marks, and what differs from the others."""

    # The pane got the focus, and with it what keys do to a picture.
    focused = Signal()
    # The facts of the picture are known.
    read = Signal()

    def __init__(self, row: GalleryRow, loader: PictureLoader, theme: Theme) -> None:
        super().__init__()
        self.row = row
        self._loaded: LoadedPicture | None = None
        self.facts: tuple[Fact, ...] | None = None
        self.view = ZoomView(theme, margin=0)
        self.view.installEventFilter(self)
        self.name = ElidedLabel("heading")
        self.marks = plain_label("", "caption")
        self._facts = QGridLayout()
        self._facts.setContentsMargins(0, 0, 0, 0)
        self._facts.setHorizontalSpacing(S)
        self._facts.setVerticalSpacing(2)
        self._facts.setColumnStretch(1, 1)
        self._words: list[QWidget] = []
        heading = QHBoxLayout()
        heading.addWidget(self.name, 1)
        heading.addWidget(self.marks)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(XS)
        column.addWidget(self.view, 1)
        column.addLayout(heading)
        column.addLayout(self._facts)
        self.show_row(row)
        loader.want(row, self._show)

    def show_row(self, row: GalleryRow) -> None:
        """Show the picture's marks anew."""
        self.row = row
        self.name.setText(name_of(row))
        self.marks.setText(", ".join(marks_words(row)))
        self.view.setAccessibleDescription(spoken(row))

    def show_differences(self, labels: Sequence[str], values: Sequence[str]) -> None:
        """Show the settings in which the pictures differ; all panes show the same ones."""
        for widget in self._words:
            self._facts.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._words.clear()
        for line, (label, value) in enumerate(zip(labels, values, strict=True)):
            text = ElidedLabel()
            text.setText(value)
            text.setAccessibleName(f"{label}: {value}")
            for column, widget in enumerate((plain_label(label, "caption"), text)):
                self._facts.addWidget(widget, line, column)
                self._words.append(widget)

    def show_picture_of(self, other: "ComparePane") -> None:
        """Show another pane's picture and name in this place, or this pane's own again."""
        loaded, point = other._loaded, self.view.point
        if loaded is not None and loaded.levels is not None:
            self.view.show_picture(loaded.levels, loaded.shape)
            self.view.go_to(point)
            self.name.setText(name_of(other.row))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Tell that the view got the focus; show its own picture where it loses it."""
        if event.type() is QEvent.Type.FocusIn:
            self.focused.emit()
        elif event.type() is QEvent.Type.FocusOut:
            self.show_picture_of(self)
        return super().eventFilter(watched, event)

    def _show(self, loaded: LoadedPicture) -> None:
        self._loaded = loaded
        if loaded.levels is None:
            self.view.show_sheet(QSize(4, 3))
            self.name.setText(
                trouble_label(self.row.trouble) if self.row.trouble else self.name.text()
            )
        else:
            self.view.show_picture(loaded.levels, loaded.shape)
        self.facts = loaded.facts
        self.read.emit()


class Comparison(QWidget):
    """The panes; zooming or panning one moves all, keys act on the one with the focus."""

    closed = Signal()
    # Another picture has the focus.
    focus_moved = Signal()

    def __init__(self, loader: PictureLoader, theme: Theme) -> None:
        super().__init__()
        self._loader = loader
        self._theme = theme
        self.panes: list[ComparePane] = []
        self._focused = 0
        self.setProperty("role", "canvas")
        self.back = IconButton(theme, "back", self.tr("Back to all pictures"))
        self.back.set_name(self.tr("Back to all pictures"), self.tr("Esc"))
        self.same = plain_label("", "caption")
        swapped = self.tr("Show the next picture in this place while held")
        self.swap = IconButton(theme, "compare", swapped)
        show_key(self.swap, ActionName.HOLD_NEXT)
        self.swap.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._zoom: ZoomBar | None = None
        self._bar = QHBoxLayout()
        self._bar.setContentsMargins(S, S, M, S)
        self._bar.setSpacing(S)
        self._bar.addWidget(self.back)
        self._bar.addWidget(self.same, 1)
        self._bar.addWidget(self.swap)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(S, 0, S, S)
        self._grid.setSpacing(S)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._bar)
        column.addLayout(self._grid, 1)
        self.back.clicked.connect(self.closed)
        HeldKey(self, ActionName.HOLD_NEXT, lambda held: self._swap(swaps=held))
        self.swap.pressed.connect(lambda: self._swap(swaps=True))
        self.swap.released.connect(lambda: self._swap(swaps=False))

    @property
    def focused(self) -> GalleryRow | None:
        """The picture that keys act on; None without pictures."""
        return self.panes[self._focused].row if self.panes else None

    def show_rows(self, rows: Sequence[GalleryRow]) -> None:
        """Compare these pictures, 2 to 4 of them."""
        self.clear()
        self._focused = 0
        columns = _COLUMNS[len(rows)]
        for number, row in enumerate(rows):
            pane = ComparePane(row, self._loader, self._theme)
            self.panes.append(pane)
            self._grid.addWidget(pane, number // columns, number % columns)
            pane.focused.connect(self._on_focus(number))
            pane.read.connect(self._show_differences)
            pane.view.view_changed.connect(self._follow(pane))
        self._zoom = ZoomBar(self.panes[0].view, self._theme)
        self._bar.addWidget(self._zoom)
        self.panes[0].view.setFocus()
        self._show_differences()

    def clear(self) -> None:
        """Let the pictures go."""
        for pane in self.panes:
            self._grid.removeWidget(pane)
            pane.hide()
            pane.deleteLater()
        self.panes.clear()
        if self._zoom is not None:
            self._zoom.deleteLater()
            self._zoom = None

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Go back by Esc, and to another picture by the arrows."""
        key = Qt.Key(event.key())
        if key is Qt.Key.Key_Escape:
            self.closed.emit()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            step = 1 if (key is Qt.Key.Key_Right) is not self.isRightToLeft() else -1
            self.panes[(self._focused + step) % len(self.panes)].view.setFocus()
        else:
            super().keyPressEvent(event)

    def _swap(self, *, swaps: bool) -> None:
        """Show the next picture in the place of the one with the focus, or that one again.

        Small differences are seen where one picture follows the other in the same place."""
        if self.panes:
            number = (self._focused + swaps) % len(self.panes)
            self.panes[self._focused].show_picture_of(self.panes[number])

    def _on_focus(self, number: int) -> Callable[[], None]:
        def focus() -> None:
            self._focused = number
            self.focus_moved.emit()

        return focus

    def _follow(self, moved: ComparePane) -> Callable[[ViewPoint], None]:
        def follow(point: ViewPoint) -> None:
            for pane in self.panes:
                if pane is not moved:
                    pane.view.go_to(point)

        return follow

    def _show_differences(self) -> None:
        known = [pane.facts for pane in self.panes if pane.facts is not None]
        if len(known) < len(self.panes):
            return
        differences = differing(known)
        for number, pane in enumerate(self.panes):
            values = [difference.values[number] for difference in differences]
            pane.show_differences([difference.label for difference in differences], values)
        self.same.setText(
            self.tr("All else is the same.")
            if differences
            else self.tr("All settings are the same.")
        )
