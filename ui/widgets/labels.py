"""Labels that show text as it is: what looks like HTML is text, too."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from ui.theme.metrics import S

# The whole of it is in the report.
_LONGEST = 400
_PIECE = 24
_ZERO_WIDTH_SPACE = "\u200b"


class _PlainLabel(QLabel):
    """Plain text that begins where the window's words begin, whatever direction it has itself."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._align()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 (Qt's name)
        """The window's direction may change."""
        super().changeEvent(event)
        is_centred = self.alignment() & Qt.AlignmentFlag.AlignHCenter
        if event.type() is QEvent.Type.LayoutDirectionChange and not is_centred:
            self._align()

    def _align(self) -> None:
        side = Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        # Qt would take the side from the text: a Latin name in an Arabic form would float away.
        self.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)


def plain_label(text: str = "", role: str = "", *, wrap: bool = False) -> QLabel:
    """A label of plain text; `role` is its look in the stylesheet."""
    label = _PlainLabel(text)
    label.setWordWrap(wrap)
    if role:
        label.setProperty("role", role)
    return label


def buddy_label(text: str, buddy: QWidget, role: str = "label") -> QLabel:
    """The label of a control, which is its accessible name, too."""
    label = plain_label(text, role)
    label.setBuddy(buddy)
    if not buddy.accessibleName():
        buddy.setAccessibleName(text)
    return label


def align(labels: Sequence[QLabel]) -> None:
    """Make labels of rows above each other as wide as the widest, in whatever font."""
    widest = max(label.sizeHint().width() for label in labels)
    for label in labels:
        label.setFixedWidth(widest + S)


def rule(orientation: Qt.Orientation) -> QFrame:
    """A line between two parts."""
    line = QFrame()
    line.setProperty("role", "rule")
    if orientation is Qt.Orientation.Horizontal:
        line.setFixedHeight(1)
    else:
        line.setFixedWidth(1)
    return line


def breakable(text: str) -> str:
    """Text for a label that wraps: of bearable length, in one paragraph, with no endless word.

    A word that cannot be broken would make the whole window as wide as itself.
    """
    words = " ".join(text[:_LONGEST].split()).split(" ")
    return " ".join(_ZERO_WIDTH_SPACE.join(_pieces(word)) for word in words)


def _pieces(word: str) -> list[str]:
    return [word[start : start + _PIECE] for start in range(0, len(word), _PIECE)]


class ElidedLabel(QLabel):
    """One line of plain text that ends in … where there is no room for more."""

    def __init__(self, role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw what fits."""
        # Of a prompt of a million characters only the beginning can be seen.
        line = " ".join(self.text()[:2000].split())
        shown = self.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, self.width())
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            painter.drawText(self.rect(), int(self.alignment()), shown)
