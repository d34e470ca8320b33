"""What is seen while something is dragged over the window."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from ui.theme.metrics import L, S
from ui.theme.theme import Theme
from ui.widgets.labels import plain_label

_CARD = (440, 144)
# How much of the window shows through.
_VEIL = 215


class DropOverlay(QWidget):
    """Veils its parent and says what a drop would do; the drop itself goes to the parent."""

    def __init__(self, theme: Theme, title: str, sentence: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._covered = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        card = QFrame()
        card.setProperty("role", "drop")
        card.setFixedSize(*_CARD)
        words = QVBoxLayout(card)
        words.setContentsMargins(L, L, L, L)
        words.setSpacing(S)
        words.addStretch()
        for text, role in ((title, "title"), (sentence, "label")):
            label = plain_label(text, role, wrap=True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            words.addWidget(label)
        words.addStretch()
        layout = QVBoxLayout(self)
        layout.addWidget(card, 0, Qt.AlignmentFlag.AlignCenter)
        self.hide()
        parent.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Keep to the parent's size."""
        if event.type() is QEvent.Type.Resize:
            self.setGeometry(self._covered.rect())
        return False

    def appear(self) -> None:
        """Show it above everything."""
        self.setGeometry(self._covered.rect())
        self.raise_()
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the veil."""
        veil = QColor(self._theme.colours.canvas)
        veil.setAlpha(_VEIL)
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), veil)
