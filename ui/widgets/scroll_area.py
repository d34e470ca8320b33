"""A pane that scrolls up and down."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea


def scroll_area(accessible_name: str) -> QScrollArea:
    """Make a frameless pane that scrolls only vertically and fits its content to its width."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setAccessibleName(accessible_name)
    return area
