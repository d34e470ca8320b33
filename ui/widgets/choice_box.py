"""A combo box with our own arrow."""

from PySide6.QtGui import QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyledItemDelegate, QWidget

from ui.theme.metrics import CONTROL_HEIGHT, ICON, XS
from ui.theme.theme import Theme


class ChoiceBox(QComboBox):
    """A drop-down list. Turning the wheel over it scrolls the form, not the choice."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(CONTROL_HEIGHT)
        # Long names are cut off rather than widening the panel.
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        # Its own one ignores the stylesheet.
        self.setItemDelegate(QStyledItemDelegate(self))
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the box, then the arrow."""
        super().paintEvent(event)
        with QPainter(self) as painter:
            left = XS + 1 if self.isRightToLeft() else self.width() - ICON - XS - 1
            icon = self._theme.icon("chevron", self._theme.colours.muted)
            icon.paint(painter, left, (self.height() - ICON) // 2, ICON, ICON)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 (Qt's name)
        """Leave the wheel to the form."""
        event.ignore()
