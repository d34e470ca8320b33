"""Controls that the wheel passes over: it scrolls what is around, and gives no focus."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    _Control = QWidget
else:
    _Control = object


class PassedByWheel(_Control):
    """Comes before Qt's class among the bases of every list, number field and slider.

    Qt's own change by the wheel, and those that ignore it still take the focus by it, so that what
    is typed next goes to them.
    """

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # pyright: ignore[reportCallIssue, reportArgumentType]
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 (Qt's name)
        """Leave the wheel to what is around."""
        event.ignore()
