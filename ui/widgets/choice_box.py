"""A combo box with headings, a list of our own, and Safelight's arrow."""

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QWidget

from ui.theme.metrics import CONTROL_HEIGHT, ICON, XS
from ui.theme.theme import Theme
from ui.widgets.choice_popup import ChoicePopup
from ui.widgets.choice_rows import ABOUT_ROLE
from ui.widgets.labels import tell_cut_off
from ui.widgets.wheel import PassedByWheel

# So many entries are asked for sentences.
_TELLING = 50


class ChoiceBox(PassedByWheel, QComboBox):
    """A combo box whose list is searched by typing and shows the sentence about each entry."""

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, *, of_files: bool = False
    ) -> None:
        """Create an empty box; the ends of the names `of_files` tell them apart, too."""
        super().__init__(parent)
        self._theme = theme
        self._of_files = of_files
        # Made when it is opened for the first time.
        self.popup: ChoicePopup | None = None
        self.setFixedHeight(CONTROL_HEIGHT)
        # A stylesheet's sides are of the screen: they are not mirrored.
        self.setProperty("mirrored", self.isRightToLeft())
        # Long names are cut off rather than widening the panel.
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        theme.changed.connect(self.update)

    def add_choice(self, text: str, value: object, about: str) -> None:
        """Add an entry with the sentence `about` it, a trusted text."""
        self.addItem(text, value)
        self.setItemData(self.count() - 1, about, ABOUT_ROLE)

    def add_heading(self, text: str) -> None:
        """Begin a group with a heading, which can be selected neither by mouse nor by typing."""
        self.insertSeparator(self.count())
        self.setItemData(self.count() - 1, text, Qt.ItemDataRole.AccessibleTextRole)

    def showPopup(self) -> None:  # noqa: N802 (Qt's name)
        """Open the list within the window."""
        if not self.count():
            return
        if self.popup is None:
            self.popup = ChoicePopup(self._theme, self, of_files=self._of_files)
            self.popup.chosen.connect(self._on_chosen)
            self.popup.closed.connect(self.update)
        self.popup.open_in(self._room(), has_sentences=self._has_sentences())

    def hidePopup(self) -> None:  # noqa: N802 (Qt's name)
        """Close the list."""
        if self.popup is not None:
            self.popup.close()

    def _on_chosen(self, row: int) -> None:
        self.setFocus()
        self.setCurrentIndex(row)
        self.activated.emit(row)
        self.textActivated.emit(self.itemText(row))

    def _has_sentences(self) -> bool:
        """Return True where there is a sentence about some entry; of many, the first tell."""
        return any(self.itemData(row, ABOUT_ROLE) for row in range(min(self.count(), _TELLING)))

    def _room(self) -> QRect:
        """Return the room for the list: the part of the window that is on the screen."""
        window = self.window()
        place = QRect(window.mapToGlobal(window.rect().topLeft()), window.size())
        return place & self.screen().availableGeometry()

    def event(self, event: QEvent) -> bool:
        """Tell the whole text where the mouse rests on one that is cut off."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            text = self.currentText()
            return tell_cut_off(self, event, text, self.text_room) or super().event(event)
        return super().event(event)

    @property
    def text_room(self) -> int:
        """The width for the text, in pixels."""
        return self._room_for_text(self._option()).width()

    def _option(self) -> QStyleOptionComboBox:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return option

    def _room_for_text(self, option: QStyleOptionComboBox) -> QRect:
        part = QStyle.SubControl.SC_ComboBoxEditField
        return self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the box, the text, elided if it is too long, and the arrow."""
        option, style = self._option(), self.style()
        room = self._room_for_text(option)
        with QPainter(self) as painter:
            style.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option, painter, self)
            elide = Qt.TextElideMode.ElideMiddle if self._of_files else Qt.TextElideMode.ElideRight
            option.currentText = self.fontMetrics().elidedText(
                option.currentText, elide, room.width()
            )
            style.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option, painter, self)
            left = XS + 1 if self.isRightToLeft() else self.width() - ICON - XS - 1
            icon = self._theme.icon("chevron", self._theme.colours.muted)
            icon.paint(painter, left, (self.height() - ICON) // 2, ICON, ICON)
