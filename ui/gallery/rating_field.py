"""Stars to click, built on a number field, so that screen readers read their number."""

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QSpinBox

from app.gallery.rows import MOST_STARS
from ui.gallery.labels import stars_label
from ui.theme.metrics import CONTROL_HEIGHT, ICON, RADIUS, XS
from ui.theme.theme import Theme
from ui.widgets.line_field import MOST_IN_NUMBER
from ui.widgets.wheel import PassedByWheel


class RatingField(PassedByWheel, QSpinBox):
    """0 to 5 stars; a click on the present number takes them all away."""

    # The number of stars that the user chose.
    rated = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.lineEdit().setMaxLength(MOST_IN_NUMBER)
        self._theme = theme
        self.setRange(0, MOST_STARS)
        self.lineEdit().hide()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(self.tr("Rating"))
        self.setToolTip(self.tr("Rating (0 to 5)"))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the room of the stars."""
        return QSize(MOST_STARS * ICON + 2 * XS, CONTROL_HEIGHT)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the room of the stars."""
        return self.sizeHint()

    def textFromValue(self, val: int) -> str:  # noqa: N802 (Qt's name)
        """Return the rating as it is spoken."""
        return stars_label(val)

    def star(self, number: int) -> QRect:
        """Return the place of a star, 1 to 5."""
        left = XS + (number - 1) * ICON
        if self.isRightToLeft():
            left = self.width() - left - ICON
        return QRect(left, (self.height() - ICON) // 2, ICON, ICON)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Give as many stars as the clicked one stands for."""
        x = event.position().x()
        along = self.width() - x if self.isRightToLeft() else x
        number = min(max(int((along - XS) // ICON) + 1, 1), MOST_STARS)
        self.rated.emit(0 if number == self.value() else number)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Ignore the pointer."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Ignore the release: the stars are given."""

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Change the stars by arrows; digits are keys of the Gallery."""
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None:
            event.ignore()
            return
        is_mirrored = self.isRightToLeft() and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        wanted = self.value() + (-step if is_mirrored else step)
        self.rated.emit(min(max(wanted, 0), MOST_STARS))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the stars: full ones, then empty ones."""
        colours = self._theme.colours
        shade = colours.accent if self.isEnabled() else colours.disabled
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for number in range(1, MOST_STARS + 1):
                is_full = number <= self.value()
                name, colour = ("star_full", shade) if is_full else ("star", colours.muted)
                self._theme.icon(name, colour).paint(painter, self.star(number))
            if self.hasFocus():
                painter.setPen(QPen(QColor(colours.focus), 2))
                painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), RADIUS, RADIUS)


_STEPS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: 1,
}
