"""A button that is filled with the accent's colour: the one that goes on."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QPushButton

_INSET, _WIDTH, _ROUND = 4.0, 2.0, 4.0


class FilledButton(QPushButton):
    """The button. With the focus it has a ring inside.

    At its edge, no colour stands out from the filling and from the window as well.
    """

    def __init__(self, text: str = "", role: str = "action") -> None:
        """`role` selects the style in the stylesheet."""
        super().__init__(text)
        self.setProperty("role", role)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the button and the ring."""
        super().paintEvent(event)
        if self.hasFocus():
            ring = QRectF(self.rect()).adjusted(_INSET, _INSET, -_INSET, -_INSET)
            colour = self.palette().color(QPalette.ColorRole.HighlightedText)
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(colour, _WIDTH))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(ring, _ROUND, _ROUND)
