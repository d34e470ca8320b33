"""Labels of plain text, in which HTML is not interpreted."""

import html
import re
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QLabel, QSizePolicy, QToolTip, QWidget

from ui.theme.metrics import S

# The longest text of a label; an error's report has the whole text.
_LONGEST = 400
_PIECE = 24
_AFTER_SEPARATOR = re.compile(r"(?<=[/\\])")
_ZERO_WIDTH_SPACE, _NO_BREAK = "\u200b", "\u00a0"
# Signs that turn what follows, by which a file's name can seem to end otherwise; isolates, which
# our own sentences have, end with what they hold.
_TURNING = dict.fromkeys(range(0x202A, 0x202F))
# Between the parts of a line, such as a size and a number format.
PARTED = " · "
# The most characters of a line of a tooltip, which Qt wraps only where the text is HTML.
# Characters on one line of a control's name.
_MOST_OF_A_NAME = 15
_MOST_OF_A_LINE = 100


class _PlainLabel(QLabel):
    """A label of plain text, aligned by the window's direction and not by the text's own.

    A click on the name of a box ticks it.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._align()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 (Qt's name)
        """Align the text anew when the window's direction changes."""
        super().changeEvent(event)
        if event.type() is not QEvent.Type.LayoutDirectionChange:
            return
        if not self.alignment() & Qt.AlignmentFlag.AlignHCenter:
            self._align()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Take a press where there is a box to tick, and leave any other to what lies below."""
        if self._pressed_box(event) is None:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Tick the box, if the button is let go over its name."""
        box = self._pressed_box(event)
        if box is not None and self.rect().contains(event.position().toPoint()):
            box.click()

    def _pressed_box(self, event: QMouseEvent) -> QCheckBox | None:
        buddy, is_left = self.buddy(), event.button() is Qt.MouseButton.LeftButton
        return buddy if is_left and isinstance(buddy, QCheckBox) else None

    def _align(self) -> None:
        side = Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        # Qt would align by the text: a Latin name in an Arabic form would be on the wrong side.
        self.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)


def plain_label(text: str = "", role: str = "", *, wrap: bool = False) -> QLabel:
    """Make a label of plain text; `role` selects its style in the stylesheet."""
    label = _PlainLabel(text)
    label.setWordWrap(wrap)
    if role:
        label.setProperty("role", role)
    return label


def buddy_label(text: str, buddy: QWidget, role: str = "label") -> QLabel:
    """Make the label of a control; its text also becomes the control's accessible name."""
    label = plain_label(text, role)
    label.setBuddy(buddy)
    if not buddy.accessibleName():
        buddy.setAccessibleName(text)
    return label


def plain_tooltip(*lines: str) -> str:
    """Return lines as a tooltip that shows HTML in them as text; empty lines are left out.

    Qt shows a tooltip that looks like HTML as such; then this one is HTML, and has none in it.
    """
    shown = [line for text in lines if text for line in text.split("\n")]
    if all("<" not in line and len(line) <= _MOST_OF_A_LINE for line in shown):
        return "\n".join(shown)
    return f"<qt>{'<br>'.join(map(html.escape, shown))}</qt>"


def align(labels: Sequence[QLabel], later: Iterable[str] = ()) -> None:
    """Make the labels of stacked rows as wide as the widest; long names take two lines.

    The controls beside them need the room: names of samplers are long. `later` are the names of
    rows that are made later.
    """
    metrics = labels[0].fontMetrics()
    most = _MOST_OF_A_NAME * metrics.averageCharWidth()

    def width(name: str) -> int:
        """Return the width in pixels that a name takes; its widest word is never broken."""
        widest_word = max(map(metrics.horizontalAdvance, name.split()), default=0)
        return min(_width(metrics, name), max(most, widest_word))

    widest = max(width(name) for name in (*(label.text() for label in labels), *later))
    for label in labels:
        label.setWordWrap(_width(metrics, label.text()) > widest)
        label.setFixedWidth(widest + S)


def _width(metrics: QFontMetrics, name: str) -> int:
    """Return the width in pixels of a name on one line, as a label asks for."""
    return metrics.size(0, name).width()


def rule(orientation: Qt.Orientation) -> QFrame:
    """Make a separator line."""
    line = QFrame()
    line.setProperty("role", "rule")
    if orientation is Qt.Orientation.Horizontal:
        line.setFixedHeight(1)
    else:
        line.setFixedWidth(1)
    return line


def breakable(text: str) -> str:
    """Prepare text for a label that wraps: shortened, one paragraph, long words breakable.

    An unbreakable word would make the whole window as wide as itself.
    """
    words = " ".join(text[:_LONGEST].translate(_TURNING).split()).split(" ")
    return " ".join(_ZERO_WIDTH_SPACE.join(_pieces(word)) for word in words)


def whole_parts(text: str) -> str:
    """Keep the parts of a text like "5.1 GB · f16" from being broken inside: "5.1" and "GB"."""
    parts = text.split(PARTED)
    if len(parts) == 1:
        return text
    return f"{_NO_BREAK}· ".join(part.replace(" ", _NO_BREAK) for part in parts)


def _pieces(word: str) -> list[str]:
    """Return the parts of a word between which a line may end: of a path its folders."""
    parts = _AFTER_SEPARATOR.split(word) if len(word) > _PIECE else [word]
    return [part[start : start + _PIECE] for part in parts for start in range(0, len(part), _PIECE)]


def tell_cut_off(widget: QWidget, event: QHelpEvent, text: str, room: int) -> bool:
    """Show a text of a widget as its tooltip if it is wider than its room, else return False."""
    if widget.fontMetrics().horizontalAdvance(text) <= room:
        return False
    QToolTip.showText(event.globalPos(), plain_tooltip(text[:_LONGEST], widget.toolTip()), widget)
    return True


class ElidedLabel(QLabel):
    """A label of one line of plain text, elided with … if it is too long."""

    def __init__(self, role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def event(self, event: QEvent) -> bool:
        """Tell the whole text where the mouse rests on one that is cut off."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            return tell_cut_off(self, event, self._line, self.width()) or super().event(event)
        return super().event(event)

    @property
    def _line(self) -> str:
        # A prompt may have a million characters; only the beginning is visible.
        return " ".join(self.text()[:2000].translate(_TURNING).split())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the text, elided to the label's width."""
        elide = Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self._line, elide, self.width())
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            painter.drawText(self.rect(), int(self.alignment()), shown)
