"""A part of a form that folds: a heading with a summary, and below it the content."""

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from ui.theme.metrics import CONTROL_HEIGHT, ICON, RADIUS, XS, S
from ui.theme.theme import SCALES, Theme
from ui.widgets.labels import plain_tooltip


class SectionHead(QAbstractButton):
    """A heading that opens and closes a section; its summary is beside it, cut off if too long.

    It is not checkable: screen readers would call it a check box.
    """

    # bool: it is open now.
    opened = Signal(bool)

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self._theme, self._title, self._summary = theme, title, ""
        self._is_open = False
        self.setText(title)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.changed.connect(self.update)
        self._name()

    @property
    def is_open(self) -> bool:
        """True if the section is open."""
        return self._is_open

    def open(self, is_open: bool) -> None:
        """Point the arrow, and name the state, for an open or a closed section."""
        if is_open != self._is_open:
            self._is_open = is_open
            self._name()
            self.update()
            self.opened.emit(is_open)

    @property
    def summary(self) -> str:
        """The settings in the section that differ from the defaults."""
        return self._summary

    def tell(self, summary: str) -> None:
        """Show a new summary."""
        if summary != self._summary:
            self._summary = summary
            self.setToolTip(plain_tooltip(summary))
            self._name()
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the height of a control."""
        return QSize(CONTROL_HEIGHT, CONTROL_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the arrow, the heading, the summary, and a frame around all if it has the focus."""
        colours, room = self._theme.colours, self.rect()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.underMouse():
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(colours.hover))
                painter.drawRoundedRect(room, RADIUS, RADIUS)
            if self.hasFocus():
                painter.setPen(QPen(QColor(colours.focus), 2.0))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(room.adjusted(1, 1, -1, -1), RADIUS, RADIUS)
            self._draw_arrow(painter)
            at = self._draw_words(painter, self._title, ICON + S, colours.text, 1.0)
            self._draw_words(painter, self._summary, at + S, colours.muted, SCALES["caption"])

    def event(self, e: QEvent) -> bool:
        """Redraw the heading in the direction of the window."""
        if e.type() is QEvent.Type.LayoutDirectionChange:
            self.update()
        return super().event(e)

    def _draw_arrow(self, painter: QPainter) -> None:
        place = self._mirrored(QRect(XS, (self.height() - ICON) // 2, ICON, ICON))
        middle = place.center()
        painter.save()
        painter.translate(middle)
        if not self._is_open:
            painter.rotate(90 if self.isRightToLeft() else -90)
        icon = self._theme.icon("chevron", self._theme.colours.muted)
        icon.paint(painter, -ICON // 2, -ICON // 2, ICON, ICON)
        painter.restore()

    def _draw_words(
        self, painter: QPainter, words: str, start: int, colour: str, scale: float
    ) -> int:
        """Draw a text in one line from `start` on; return where it ends."""
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * scale)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        width = max(0, self.width() - start - S)
        shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, width)
        place = self._mirrored(QRect(start, 0, width, self.height()))
        side = Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        aligned = side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, int(aligned), shown)
        return start + painter.fontMetrics().horizontalAdvance(shown)

    def _mirrored(self, place: QRect) -> QRect:
        if self.isRightToLeft():
            place.moveLeft(self.width() - place.right() - 1)
        return place

    def _name(self) -> None:
        self.setAccessibleName(self._title)
        state = self.tr("open") if self._is_open else self.tr("closed")
        self.setAccessibleDescription(", ".join(filter(None, (state, self._summary))))


class Section(QWidget):
    """A heading, and a content that is shown while the section is open.

    `folded` emits True when the user opens it, False when the user closes it.
    """

    folded = Signal(bool)

    def __init__(self, theme: Theme, title: str, content: QWidget) -> None:
        super().__init__()
        self.head, self.content = SectionHead(theme, title), content
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addWidget(self.head)
        column.addWidget(content)
        content.hide()
        self.head.opened.connect(content.setVisible)
        self.head.clicked.connect(self._fold)

    @property
    def is_open(self) -> bool:
        """True if the content is shown."""
        return self.head.is_open

    def open(self, is_open: bool = True) -> None:
        """Open or close the section, as the program and not the user does."""
        self.head.open(is_open)

    def _fold(self) -> None:
        self.head.open(not self.head.is_open)
        self.folded.emit(self.head.is_open)
