"""Two to four pictures side by side: one zoom for all, and only the settings that differ.

One of them is shown large, too, with the next one at the left of a divider.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.gallery.rows import GalleryRow
from ui.action_names import ActionName
from ui.gallery.differences import differing
from ui.gallery.labels import marks_words, name_of, spoken, trouble_label
from ui.gallery.picture_loader import LoadedPicture, PictureLoader
from ui.key_tips import show_key
from ui.keys import HeldKey, bind_key
from ui.picture_facts import Fact
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.widgets.compare_view import CompareView
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, plain_label
from ui.widgets.placing import fitted
from ui.widgets.viewport import ViewPoint
from ui.widgets.zoom_bar import ZoomBar

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
        self.view = CompareView(theme, margin=0)
        # The picture that comes after this one, to be compared with in the same place.
        self._next: ComparePane | None = None
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
        self.view.held_changed.connect(self._show_name)
        self.show_row(row)
        loader.want(row, self._show)

    def show_row(self, row: GalleryRow) -> None:
        """Show the picture's marks anew."""
        self.row = row
        self._show_name()
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

    def compare_with(self, following: "ComparePane") -> None:
        """Take the picture that comes after this one, once both were read."""
        self._next = following
        own, other = self._loaded, following._loaded
        if own is not None and other is not None and own.levels is not None:
            self.view.take_other(other.levels, _fitted_part(other.shape, own.shape))

    def divide(self, *, divides: bool) -> None:
        """Show the next picture at the left of a divider, or this one alone."""
        self.view.compare(compares=divides)
        self._show_name()

    def _show_name(self, *_: object) -> None:
        names = [name_of(self.row)]
        if self._next is not None and self.view.is_held:
            names = [name_of(self._next.row)]
        elif self._next is not None and self.view.is_compared:
            names.insert(0, name_of(self._next.row))
        self.name.setText(_beside(names))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Tell that the view got the focus; show its own picture where it loses it."""
        if event.type() is QEvent.Type.FocusIn:
            self.focused.emit()
        elif event.type() is QEvent.Type.FocusOut:
            self.view.hold_other(holds=False)
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
        divided = self.tr("Show one picture large, with the next beside a divider")
        self.divide = IconButton(theme, "compare", divided, checkable=True)
        show_key(self.divide, ActionName.DIVIDE)
        swapped = self.tr("Show the next picture in this place while held")
        self.swap = IconButton(theme, "picture", swapped)
        show_key(self.swap, ActionName.HOLD_NEXT)
        for button in (self.divide, self.swap):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._zoom: ZoomBar | None = None
        self._bar = QHBoxLayout()
        self._bar.setContentsMargins(S, S, M, S)
        self._bar.setSpacing(S)
        self._bar.addWidget(self.back)
        self._bar.addWidget(self.same, 1)
        self._bar.addWidget(self.divide)
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
        HeldKey(self, ActionName.HOLD_NEXT, lambda held: self._hold_next(holds=held))
        bind_key(self, ActionName.DIVIDE, self.divide.click)
        self.divide.clicked.connect(self._divide)
        self.swap.pressed.connect(lambda: self._hold_next(holds=True))
        self.swap.released.connect(lambda: self._hold_next(holds=False))

    @property
    def focused(self) -> GalleryRow | None:
        """The picture that keys act on; None without pictures."""
        return self.panes[self._focused].row if self.panes else None

    def show_rows(self, rows: Sequence[GalleryRow]) -> None:
        """Compare these pictures, 2 to 4 of them."""
        self.clear()
        self._focused = 0
        self.divide.setChecked(False)
        columns = _COLUMNS[len(rows)]
        for number, row in enumerate(rows):
            pane = ComparePane(row, self._loader, self._theme)
            self.panes.append(pane)
            self._grid.addWidget(pane, number // columns, number % columns)
            pane.focused.connect(self._on_focus(number))
            pane.read.connect(self._on_read)
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

    def _divide(self) -> None:
        """Show the picture with the focus alone, the next one beside its divider; or all again."""
        divides = self.divide.isChecked()
        for number, pane in enumerate(self.panes):
            pane.divide(divides=divides and number == self._focused)
            pane.setVisible(number == self._focused or not divides)
        self._show_differences()

    def _hold_next(self, *, holds: bool) -> None:
        """Show the next picture in the place of the one with the focus, or that one again.

        Small differences are seen where one picture follows the other in the same place.
        """
        if self.panes:
            self.panes[self._focused].view.hold_other(holds=holds)

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

    def _on_read(self) -> None:
        for number, pane in enumerate(self.panes):
            pane.compare_with(self.panes[(number + 1) % len(self.panes)])
        self._show_differences()

    def _show_differences(self) -> None:
        known = [pane.facts for pane in self.panes if pane.facts is not None]
        if len(known) < len(self.panes):
            return
        differences = differing(known)
        for number, pane in enumerate(self.panes):
            # Of the two beside a divider, as they are there.
            shown = [(number + 1) % len(known)] if pane.view.is_compared else []
            shown.append(number)
            values = [_beside([row.values[at] for at in shown]) for row in differences]
            pane.show_differences([difference.label for difference in differences], values)
        self.same.setText(
            self.tr("All else is the same.")
            if differences
            else self.tr("All settings are the same.")
        )


def _fitted_part(shape: QSize, room: QSize) -> QRectF:
    """Return the place of a picture that is fitted into another, in fractions of that one."""
    place = QRectF(fitted(shape, QRect(QPoint(), room)))
    width, height = room.width(), room.height()
    return QRectF(
        place.x() / width, place.y() / height, place.width() / width, place.height() / height
    )


def _beside(texts: Sequence[str]) -> str:
    """Return texts from the left to the right, also where lines begin at the right."""
    if len(texts) == 1:
        return texts[0]
    joined = " | ".join(texts)
    return f"\N{LEFT-TO-RIGHT ISOLATE}{joined}\N{POP DIRECTIONAL ISOLATE}"
