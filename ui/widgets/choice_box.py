"""A combo box with headings, tooltips and Safelight's arrow."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QWidget,
)

from ui.theme.fonts import scaled
from ui.theme.metrics import CONTROL_HEIGHT, ICON, XS, S
from ui.theme.theme import Theme
from ui.widgets.wheel import PassedByWheel

MOST_ROWS = 12
# The accessible description by which Qt marks the separators of a combo box.
_SEPARATOR = "separator"
# The distance in pixels between the padding of an entry and its text.
_TEXT = 3
AnyIndex = QModelIndex | QPersistentModelIndex


class ChoiceBox(PassedByWheel, QComboBox):
    """A combo box whose popup shows whole rows, a dozen at most, within the window."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(CONTROL_HEIGHT)
        # Long names are cut off rather than widening the panel.
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setMaxVisibleItems(MOST_ROWS)
        # Qt's own delegate ignores the stylesheet.
        self.setItemDelegate(_ChoiceDelegate(theme, self))
        theme.changed.connect(self.update)

    def add_choice(self, text: str, value: object, about: str) -> None:
        """Add an entry with the tooltip `about`, a trusted text."""
        self.addItem(text, value)
        self.setItemData(self.count() - 1, about, Qt.ItemDataRole.ToolTipRole)

    def add_heading(self, text: str) -> None:
        """Begin a group with a heading, which can be selected neither by mouse nor by typing."""
        self.insertSeparator(self.count())
        self.setItemData(self.count() - 1, text, Qt.ItemDataRole.AccessibleTextRole)

    def showPopup(self) -> None:  # noqa: N802 (Qt's name)
        """Open the list at a height that Qt would miscalculate.

        Qt ignores the stylesheet's paddings and the window's bounds.
        """
        super().showPopup()
        view = self.view()
        popup = view.window()
        row = view.sizeHintForRow(0)
        if popup is self.window() or row <= 0:
            return
        around = popup.height() - view.viewport().height()
        room = self._room()
        top = self.mapToGlobal(self.rect().topLeft()).y()
        below, above = room.bottom() - top - self.height(), top - room.top()
        wanted = min(self.count(), MOST_ROWS) * row + around
        is_below = wanted <= below or below >= above
        rows = max(1, (min(wanted, below if is_below else above) - around) // row)
        height = rows * row + around
        left = self.mapToGlobal(self.rect().topLeft()).x()
        popup.setGeometry(
            left, top + self.height() if is_below else top - height, self.width(), height
        )
        view.scrollTo(view.currentIndex())

    def _room(self) -> QRect:
        """Return the room for the list: the part of the window that is on the screen."""
        window = self.window()
        place = QRect(window.mapToGlobal(window.rect().topLeft()), window.size())
        return place & self.screen().availableGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the box, the text, elided in the middle if it is too long, and the arrow."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        style = self.style()
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self)
        with QPainter(self) as painter:
            style.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option, painter, self)
            option.currentText = self.fontMetrics().elidedText(
                option.currentText, Qt.TextElideMode.ElideMiddle, room.width()
            )
            style.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option, painter, self)
            left = XS + 1 if self.isRightToLeft() else self.width() - ICON - XS - 1
            icon = self._theme.icon("chevron", self._theme.colours.muted)
            icon.paint(painter, left, (self.height() - ICON) // 2, ICON, ICON)


class _ChoiceDelegate(QStyledItemDelegate):
    """A delegate that draws entries by the stylesheet, and headings in small muted text."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(  # noqa: N802 (Qt's name)
        self, option: QStyleOptionViewItem, index: AnyIndex
    ) -> QSize:
        """Return an entry's size also for headings, so that the list always shows whole rows."""
        return super().sizeHint(option, index.model().index(0, index.column()))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw an entry or a heading."""
        if not _is_heading(index):
            super().paint(painter, option, index)
            return
        room: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        font = scaled(option.font, "caption")  # pyright: ignore[reportAttributeAccessIssue]
        painter.save()
        painter.setFont(font)
        painter.setPen(QColor(self._theme.colours.muted))
        aligned = Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeading
        words = room.adjusted(S + _TEXT, 0, -S, -XS)
        painter.drawText(words, int(aligned), index.data(Qt.ItemDataRole.AccessibleTextRole) or "")
        painter.restore()


def _is_heading(index: AnyIndex) -> bool:
    return index.data(Qt.ItemDataRole.AccessibleDescriptionRole) == _SEPARATOR
