"""A line of text that stays quick, whatever is pasted into it."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from ui.theme.colours import ROLES
from ui.theme.icons import draw_icon

# As a path may be; a paste of the 32,767 characters that Qt takes would stop the window.
MOST_CHARACTERS = 4096
# Of a line of words to search for.
MOST_SEARCHED = 500
# Of a number with its unit.
MOST_IN_NUMBER = 64
# Qt's name of what its button does that empties a line.
_CLEAR = "_q_qlineeditclearaction"
_RECOLOURS = (QEvent.Type.PaletteChange, QEvent.Type.StyleChange)


class LineField(QLineEdit):
    """A line of text that takes the beginning of a text that is too long."""

    def __init__(self, most: int = MOST_CHARACTERS, parent: QWidget | None = None) -> None:
        """`most` is the number of characters that it has room for."""
        super().__init__(parent)
        self.setMaxLength(most)

    def setClearButtonEnabled(self, enable: bool) -> None:  # noqa: N802 (Qt's name)
        """Have a button that empties the line; Qt gives it no name for screen readers."""
        super().setClearButtonEnabled(enable)
        for button in self.findChildren(QToolButton):
            button.setAccessibleName(self.tr("Clear"))
        self._draw_clear()

    def changeEvent(self, arg__1: QEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the button anew in other colours."""
        super().changeEvent(arg__1)
        if arg__1.type() in _RECOLOURS:
            self._draw_clear()

    def _draw_clear(self) -> None:
        """Give the button the theme's icon: Qt's own is a picture of 16 pixels in grey."""
        clear = self.findChild(QAction, _CLEAR) if self.isClearButtonEnabled() else None
        if isinstance(clear, QAction):
            palette = QGuiApplication.palette()
            muted, disabled = (palette.color(ROLES[name]).name() for name in ("muted", "disabled"))
            clear.setIcon(draw_icon("close", muted, disabled))
