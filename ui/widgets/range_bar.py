"""A bar with two handles: the start and the end of a part of the steps."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from ui.theme.metrics import CONTROL_HEIGHT, S
from ui.widgets.labels import plain_label
from ui.widgets.number_field import DecimalField

Range = tuple[float, float]
WHOLE: Range = (0.0, 1.0)

_GROOVE, _DISC, _RING = 4.0, 14.0, 2.0
# A handle with its focus ring.
_HANDLE = 20
_WIDTH = 120
_STEP = 0.05
_RESETTING = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class RangeHandle(DecimalField):
    """A handle of the bar: a number field without its text, so that screen readers read it."""

    # The user wants the whole range: by the delete key.
    reset = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(*WHOLE, step=_STEP, parent=parent)
        self.lineEdit().hide()
        self.setFixedSize(_HANDLE, CONTROL_HEIGHT)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def textFromValue(self, val: float) -> str:  # noqa: N802 (Qt's name)
        """Return what a screen reader says: the percent that stand beside the bar."""
        return f"{self.locale().toString(round(100 * val))} %"

    def valueFromText(self, text: str) -> float:  # noqa: N802 (Qt's name)
        """Return the value, which no text changes."""
        return self.value()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the size of the handle."""
        return QSize(_HANDLE, CONTROL_HEIGHT)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Move by the arrows, to either end by Home and End; ignore text."""
        steps = _STEPS.get(Qt.Key(event.key()))
        if steps is not None:
            self.stepBy(-steps if self.isRightToLeft() else steps)
        elif event.key() == Qt.Key.Key_Home:
            self.setValue(self.minimum())
        elif event.key() == Qt.Key.Key_End:
            self.setValue(self.maximum())
        elif event.key() in _RESETTING:
            self.reset.emit()
        elif event.text().isprintable() and event.text():
            event.ignore()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Leave the mouse to the bar, which knows both handles."""
        event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Leave the mouse to the bar."""
        event.ignore()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Leave the mouse to the bar."""
        event.ignore()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Leave the mouse to the bar."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the disc, and a ring while the handle has the focus."""
        role, colours = QPalette.ColorRole, self.palette()
        middle = QRectF(self.rect()).center()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            disc = role.Highlight if self.underMouse() else role.Text
            painter.setBrush(colours.color(disc if self.isEnabled() else role.Mid))
            painter.drawEllipse(middle, _DISC / 2, _DISC / 2)
            if self.hasFocus():
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(colours.color(role.Accent), _RING))
                painter.drawEllipse(middle, _DISC / 2 + _RING, _DISC / 2 + _RING)


class RangeBar(QWidget):
    """A groove with a handle for the start and one for the end, both from 0 to 1.

    `edited` emits the user's (start, end), `reset` where the user wants the whole range.
    """

    edited = Signal(object)
    reset = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.start, self.end = RangeHandle(self), RangeHandle(self)
        # The handle that the mouse drags.
        self._dragged: RangeHandle | None = None
        self.end.setValue(1.0)
        self._limit()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        for handle in (self.start, self.end):
            handle.valueChanged.connect(self._on_moved)
            handle.reset.connect(self.reset)

    @property
    def value(self) -> Range:
        """The start and the end that are shown."""
        return self.start.value(), self.end.value()

    def show_value(self, value: Range) -> None:
        """Show a start and an end without emitting `edited`."""
        if value == self.value:
            return
        with QSignalBlocker(self.start), QSignalBlocker(self.end):
            # The bounds of each follow from the other.
            for handle in (self.start, self.end):
                handle.setRange(*WHOLE)
            self.start.setValue(value[0])
            self.end.setValue(value[1])
            self._limit()
        self._place()

    def sizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return a preferred width, which the row may stretch, and the height of a control."""
        return QSize(_WIDTH, CONTROL_HEIGHT)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the least usable size."""
        return QSize(3 * _HANDLE, CONTROL_HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Put the handles into their places."""
        super().resizeEvent(event)
        self._place()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 (Qt's name)
        """Put the handles where they belong in the direction of the window."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.LayoutDirectionChange:
            self._place()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Move the nearer handle to the pointer, and drag it from there on."""
        if event.button() is not Qt.MouseButton.LeftButton:
            event.ignore()
            return
        x = event.position().x()
        distances = [abs(x - self._middle(handle)) for handle in (self.start, self.end)]
        # Both at one place: the side of the pointer decides.
        is_start = distances[0] < distances[1] or (
            distances[0] == distances[1] and (x < self._middle(self.start)) != self.isRightToLeft()
        )
        self._dragged = self.start if is_start else self.end
        self._dragged.setFocus()
        self._drag_to(x)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Move the dragged handle with the pointer."""
        if self._dragged is not None:
            self._drag_to(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """End the dragging."""
        self._dragged = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Ask for the whole range; the first of the two clicks has moved a handle."""
        self._dragged = None
        self.reset.emit()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the groove, and its part between the handles."""
        role, colours = QPalette.ColorRole, self.palette()
        groove = QRectF(0, (self.height() - _GROOVE) / 2, self.width(), _GROOVE)
        ends = sorted((self._middle(self.start), self._middle(self.end)))
        part = QRectF(QPointF(ends[0], groove.top()), QPointF(ends[1], groove.bottom()))
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            used = role.PlaceholderText if self.isEnabled() else role.Mid
            for place, colour in ((groove, role.Mid), (part, used)):
                painter.setBrush(colours.color(colour))
                painter.drawRoundedRect(place, _GROOVE / 2, _GROOVE / 2)

    def _middle(self, handle: RangeHandle) -> float:
        """Return the place of the middle of a handle."""
        share = 1 - handle.value() if self.isRightToLeft() else handle.value()
        return _HANDLE / 2 + share * (self.width() - _HANDLE)

    def _drag_to(self, x: float) -> None:
        assert self._dragged is not None
        share = min(max((x - _HANDLE / 2) / max(self.width() - _HANDLE, 1), 0.0), 1.0)
        if self.isRightToLeft():
            share = 1 - share
        self._dragged.setValue(round(share / _STEP) * _STEP)

    def _on_moved(self) -> None:
        self._limit()
        self._place()
        self.edited.emit(self.value)

    def _limit(self) -> None:
        """Keep the start from passing the end."""
        with QSignalBlocker(self.start), QSignalBlocker(self.end):
            self.start.setRange(0.0, self.end.value())
            self.end.setRange(self.start.value(), 1.0)

    def _place(self) -> None:
        for handle in (self.start, self.end):
            handle.move(round(self._middle(handle) - _HANDLE / 2), 0)
        self.update()


class RangeField(QWidget):
    """A named range: its bar, and beside it both ends in percent."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.bar = RangeBar()
        self.label, self.words = plain_label(name, "label"), plain_label("", "caption")
        self.edited, self.reset = self.bar.edited, self.bar.reset
        row = QGridLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setHorizontalSpacing(S)
        row.setColumnStretch(1, 1)
        for column, widget in enumerate((self.label, self.bar, self.words)):
            row.addWidget(widget, 0, column)
        self.words.setFixedWidth(self.fontMetrics().horizontalAdvance("100 – 100 %"))  # noqa: RUF001
        self.bar.edited.connect(self._tell)
        self._tell(WHOLE)

    def show_value(self, value: Range) -> None:
        """Show a start and an end without emitting `edited`."""
        self.bar.show_value(value)
        self._tell(value)

    def name_handles(self, start: str, end: str) -> None:
        """Set the accessible names of the two handles."""
        self.bar.start.setAccessibleName(start)
        self.bar.end.setAccessibleName(end)

    def _tell(self, value: Range) -> None:
        low, high = (self.locale().toString(round(100 * end)) for end in value)
        self.words.setText(self.tr("{low}–{high} %").format(low=low, high=high))  # noqa: RUF001
