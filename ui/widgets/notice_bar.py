"""A bar that says what happened and what to do, with buttons for it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from ui.theme.metrics import ICON, M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, plain_label


class NoticeBar(QFrame):
    """Text is plain, whatever it looks like. A failure has another colour and another sign."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._failure = False
        self._sign = QLabel()
        self._sign.setFixedWidth(ICON)
        self.message = plain_label("", wrap=True)
        self.hint = plain_label("", "label", wrap=True)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(S)
        self.dismiss = IconButton(theme, "close", self.tr("Dismiss"))
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.message)
        words.addWidget(self.hint)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(M, S, S, S)
        layout.setSpacing(S)
        layout.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addLayout(words, 1)
        layout.addLayout(self._buttons)
        layout.addWidget(self.dismiss)
        theme.changed.connect(self._draw)
        self.hide()

    def tell(self, message: str, hint: str, *, failure: bool) -> None:
        """Say something else."""
        self._failure = failure
        self.message.setText(breakable(message))
        self.hint.setText(breakable(hint))
        self.hint.setVisible(bool(hint))
        self.setAccessibleName(self.message.text())
        self.setAccessibleDescription(self.hint.text())
        self.setProperty("role", "failure" if failure else "notice")
        self.style().unpolish(self)
        self.style().polish(self)
        self._draw()
        # Screen readers say it at once.
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def add_button(self, text: str) -> QPushButton:
        """Offer something to do."""
        button = QPushButton(text)
        self._buttons.addWidget(button)
        return button

    def _draw(self) -> None:
        colours = self._theme.colours
        name, colour = ("warning", colours.error) if self._failure else ("note", colours.muted)
        self._sign.setPixmap(self._theme.icon(name, colour).pixmap(ICON, ICON))
