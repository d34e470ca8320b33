"""A scroll bar that keeps its room, and is seen only where there is something to scroll."""

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QScrollBar


class QuietBar(QScrollBar):
    """A scroll bar that draws nothing while everything is in view."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the bar, unless it cannot be moved."""
        if self.maximum() > self.minimum():
            super().paintEvent(event)
