"""Controls that ignore the mouse wheel, so that it scrolls the pane around them."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    _Control = QWidget
else:
    _Control = object


class PassedByWheel(_Control):
    """A mixin, before Qt's class in the bases of lists, number fields and sliders.

    Qt's own controls change their value by the wheel, or at least take the focus, so that the next
    typed text would go to them.
    """

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # pyright: ignore[reportCallIssue, reportArgumentType]
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 (Qt's name)
        """Pass the event on to the widget around the control."""
        event.ignore()
