"""A slider built on a number field, so that screen readers read its value."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.theme.metrics import CONTROL_HEIGHT
from ui.widgets.number_field import DecimalField

_GROOVE, _HANDLE, _RING = 4.0, 14.0, 2.0
# The room for the focus ring at both ends.
_EDGE = 3.0
_WIDTH = 84
_RESETTING = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
_OF_TEXT = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class ValueSlider(DecimalField):
    """A slider over the usual values of a range; its value may lie beyond either end.

    Qt's own slider has integer positions, which screen readers would read: 5 for 2.5.
    """

    # The user wants the usual value: by a double click or the delete key.
    reset = Signal()

    def __init__(
        self,
        span: tuple[float, float],
        step: float,
        limits: tuple[float, float],
        parent: QWidget | None = None,
    ) -> None:
        """Create a slider; `span` is the values at its ends, `limits` the bounds of its value."""
        super().__init__(limits[0], limits[1], step=step, parent=parent)
        self._span = span
        self.lineEdit().hide()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def sizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return a preferred width, which the row may stretch, and the height of a control."""
        return QSize(_WIDTH, CONTROL_HEIGHT)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the least usable size."""
        return QSize(_WIDTH // 2, CONTROL_HEIGHT)

    def handle(self) -> QPointF:
        """Return the centre of the handle."""
        low, high = self._span
        share = min(max((self.value() - low) / (high - low), 0.0), 1.0)
        if self.isRightToLeft():
            share = 1 - share
        room = self.width() - _HANDLE - 2 * _EDGE
        return QPointF(_EDGE + _HANDLE / 2 + share * room, self.height() / 2)

    def event(self, event: QEvent) -> bool:
        """Leave the keys that undo to the form: Qt would have them undo the hidden text."""
        if isinstance(event, QKeyEvent) and _is_of_text(event):
            event.ignore()
            return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Move the slider also by the left and right arrows; ignore text, meant for the field."""
        steps = _STEPS.get(Qt.Key(event.key()))
        if steps is not None:
            self.stepBy(-steps if self.isRightToLeft() else steps)
        elif event.key() == Qt.Key.Key_Home:
            self.setValue(self._span[0])
        elif event.key() == Qt.Key.Key_End:
            self.setValue(self._span[1])
        elif event.key() in _RESETTING:
            self.reset.emit()
        elif event.text().isprintable() and event.text():
            event.ignore()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Set the value at the pointer."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._go_to(event.position().x())
        else:
            event.ignore()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Ask for the usual value; the first of the two clicks has set another."""
        if event.button() is Qt.MouseButton.LeftButton:
            self.reset.emit()
        else:
            event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Set the value at the pointer while the mouse drags."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go_to(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Ignore the release: the value is already set."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the groove, its part up to the handle, and the handle."""
        role, colours, middle = QPalette.ColorRole, self.palette(), self.handle()
        groove = QRectF(0, (self.height() - _GROOVE) / 2, self.width(), _GROOVE)
        passed = QRectF(groove)
        if self.isRightToLeft():
            passed.setLeft(middle.x())
        else:
            passed.setRight(middle.x())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            # All of it is grey while the value is of no use; stylesheets have no disabled palette.
            is_used = self.isEnabled()
            before = role.PlaceholderText if is_used else role.Mid
            for part, colour in ((groove, role.Mid), (passed, before)):
                painter.setBrush(colours.color(colour))
                painter.drawRoundedRect(part, _GROOVE / 2, _GROOVE / 2)
            handle = role.Highlight if self.underMouse() else role.Text
            painter.setBrush(colours.color(handle if is_used else role.Mid))
            painter.drawEllipse(middle, _HANDLE / 2, _HANDLE / 2)
            if self.hasFocus():
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(colours.color(role.Accent), _RING))
                painter.drawEllipse(middle, _HANDLE / 2 + _RING, _HANDLE / 2 + _RING)

    def _go_to(self, x: float) -> None:
        low, high = self._span
        room = self.width() - _HANDLE - 2 * _EDGE
        share = min(max((x - _EDGE - _HANDLE / 2) / room, 0.0), 1.0)
        if self.isRightToLeft():
            share = 1 - share
        step = self.singleStep()
        self.setValue(round((low + share * (high - low)) / step) * step)


def _is_of_text(event: QKeyEvent) -> bool:
    """Return True for a question whether a field takes a key that undoes or redoes text."""
    is_asked = event.type() is QEvent.Type.ShortcutOverride
    return is_asked and any(event.matches(key) for key in _OF_TEXT)
