"""The canvas without a picture: a drawing and an invitation."""

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QRadialGradient
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ui.theme.icons import draw, icon_source
from ui.theme.metrics import L, S
from ui.theme.theme import Theme
from ui.widgets.labels import plain_label

_SIDE = 96
_TEXT_WIDTH = 400
_GLOW = 280


class EmptyState(QWidget):
    """A drawing of a lamp, a title, a sentence on the first thing to do, and a button for it."""

    def __init__(
        self, theme: Theme, title: str, sentence: str, button: QPushButton | None = None
    ) -> None:
        """`button` does the first thing, where a click can."""
        super().__init__()
        self._theme = theme
        self._lamp = QLabel()
        self._lamp.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._title = heading = plain_label(title, "title")
        self._sentence = text = plain_label(sentence, "label", wrap=True)
        text.setFixedWidth(_TEXT_WIDTH)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(L, L, L, L)
        layout.setSpacing(S)
        layout.addStretch()
        for label in (self._lamp, heading, text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout.addWidget(self._lamp)
        layout.addSpacing(S)
        layout.addWidget(heading)
        # No alignment in the layout, so that the label gets the height that its lines need.
        row = QHBoxLayout()
        row.addStretch()
        row.addWidget(text)
        row.addStretch()
        layout.addLayout(row)
        if button is not None:
            layout.addSpacing(S)
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch()
        theme.changed.connect(self._draw)
        self._draw()

    def say(self, title: str, sentence: str) -> None:
        """Show another title and sentence."""
        self._title.setText(title)
        self._sentence.setText(sentence)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the lamp's light around it."""
        colours = self._theme.colours
        canvas, light = QColor(colours.canvas), QColor(colours.accent)
        # In the light scheme the lamp is off.
        strength = 0 if canvas.lightness() > light.lightness() else 1
        centre = QPointF(self._lamp.geometry().center())
        glow = QRadialGradient(centre, _GLOW)
        for place, alpha in ((0, 36), (0.35, 15), (1, 0)):
            light.setAlpha(alpha * strength)
            glow.setColorAt(place, light)
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), canvas)
            painter.fillRect(self.rect(), glow)

    def _draw(self) -> None:
        colour = self._theme.colours.accent
        pixmap = draw(icon_source("lamp"), colour, _SIDE, self.devicePixelRatioF())
        self._lamp.setPixmap(pixmap)
