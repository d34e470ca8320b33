"""A line of text that stays quick, whatever is pasted into it."""

from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

# As a path may be; a paste of the 32,767 characters that Qt takes would stop the window.
MOST_CHARACTERS = 4096
# Of a line of words to search for.
MOST_SEARCHED = 500
# Of a number with its unit.
MOST_IN_NUMBER = 64


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
