"""A button that shows a whole picture in a frame, with words below it."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from ui.theme.metrics import ICON, RADIUS, XS, S
from ui.theme.theme import SCALES, Theme
from ui.widgets.labels import plain_tooltip
from ui.widgets.placing import fitted

_HEIGHT, _LEAST_WIDTH = 104, 64
# The opacity of the plate behind the icon, of 255.
_PLATE = 190


class PictureFrame(QAbstractButton):
    """A picture as a button; an icon in its corner says what a click does."""

    def __init__(self, theme: Theme, caption: str, icon: str = "", *, checkable: bool = False):
        super().__init__()
        self._theme, self._icon = theme, icon
        self._image = QImage()
        self._words = ""
        self._caption = caption
        self.setCheckable(checkable)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.update)

    @property
    def image(self) -> QImage:
        """The picture that is shown; a null image without one."""
        return self._image

    @property
    def words(self) -> str:
        """The words in place of the picture, or over it."""
        return self._words

    def show_image(self, image: QImage, words: str = "") -> None:
        """Show a picture, and words over it; a null image is none."""
        self._image, self._words = image, words
        self.update()

    def set_name(self, name: str, about: str = "") -> None:
        """Set the name for screen readers, and the tooltip."""
        self.setAccessibleName(name)
        self.setAccessibleDescription(about)
        self.setToolTip(plain_tooltip(name, about))

    def sizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return a preferred size, whose width the row may stretch."""
        return QSize(2 * _LEAST_WIDTH, _HEIGHT + self._line())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the least usable size."""
        return QSize(_LEAST_WIDTH, _HEIGHT + self._line())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the frame, the picture within it, the icon, the words and the caption."""
        colours = self._theme.colours
        frame = self.rect().adjusted(0, 0, 0, -self._line())
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(frame).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.fillPath(shape, QColor(colours.canvas))
            painter.setClipPath(shape)
            if not self._image.isNull():
                painter.drawImage(fitted(self._image.size(), frame), self._image)
            self._draw_words(painter, frame)
            painter.setClipping(False)
            is_marked = self.hasFocus() or self.isChecked()
            outline = colours.focus if is_marked else colours.outline
            painter.setPen(QPen(QColor(outline), 2 if is_marked else 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(shape)
            self._draw_icon(painter, frame)
            self._draw_caption(painter)

    def _draw_words(self, painter: QPainter, frame: QRect) -> None:
        if not self._words:
            return
        if not self._image.isNull():
            veil = QColor(self._theme.colours.canvas)
            veil.setAlpha(_PLATE)
            painter.fillRect(frame, veil)
        painter.setPen(QColor(self._theme.colours.muted))
        flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
        painter.drawText(frame.adjusted(S, S, -S, -S), flags, self._words)

    def _draw_icon(self, painter: QPainter, frame: QRect) -> None:
        shown = self.isCheckable() or self.underMouse() or self.hasFocus()
        if not self._icon or not shown or not self.isEnabled():
            return
        side = ICON + XS
        place = QRect(0, XS, side, side)
        place.moveLeft(XS if self.isRightToLeft() else frame.right() - side - XS)
        plate = QColor(self._theme.colours.window)
        plate.setAlpha(_PLATE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(plate)
        painter.drawRoundedRect(place, RADIUS, RADIUS)
        colour = self._theme.colours.accent if self.isChecked() else self._theme.colours.text
        icon = self._theme.icon(self._icon, colour)
        icon.paint(painter, place.adjusted(XS // 2, XS // 2, -XS // 2, -XS // 2))

    def _draw_caption(self, painter: QPainter) -> None:
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * SCALES["caption"])
        painter.setFont(font)
        painter.setPen(QColor(self._theme.colours.muted))
        line = self.rect().adjusted(0, self.height() - self._line(), 0, 0)
        shown = painter.fontMetrics().elidedText(
            self._caption, Qt.TextElideMode.ElideMiddle, line.width()
        )
        painter.drawText(line, int(Qt.AlignmentFlag.AlignCenter), shown)

    def _line(self) -> int:
        """Return the height of the caption's line."""
        return self.fontMetrics().height() + XS
