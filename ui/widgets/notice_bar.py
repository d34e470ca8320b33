"""A bar with a message, a hint and buttons for remedies."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from ui.spoken import say
from ui.theme.metrics import ICON, M, S
from ui.theme.theme import Theme
from ui.widgets.folding_row import FoldingRow
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, plain_label

_MOST_LINES, _LONGEST_LINE = 5, 200
# The least width in pixels of the text beside the buttons.
_LEAST_WORDS = 240


class NoticeBar(QFrame):
    """A bar of plain text; a failure has another colour and icon than a notice.

    `says_all` is False if details are shortened or left out.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._failure = False
        self.says_all = True
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
        row = FoldingRow(words, self._buttons, _LEAST_WORDS)
        row.setSpacing(S)
        layout.addLayout(row, 1)
        layout.addWidget(self.dismiss)
        theme.changed.connect(self._draw)
        self.hide()

    def tell(self, message: str, hint: str, *, failure: bool, details: Sequence[str] = ()) -> None:
        """Show a message, a hint, and the first few details, each on its own line."""
        self._failure = failure
        self.message.setText(breakable(message))
        lines = [breakable(hint)] if hint else []
        shown = details if len(details) <= _MOST_LINES else details[: _MOST_LINES - 1]
        sign = "· " if len(details) > 1 else ""
        lines += (sign + breakable(_shortened(line)) for line in shown)
        if len(shown) < len(details):
            lines.append(self.tr("And {n} more.").format(n=len(details) - len(shown)))
        self.says_all = len(shown) == len(details) and all(
            len(line) <= _LONGEST_LINE for line in details
        )
        self.hint.setText("\n".join(lines))
        self.hint.setVisible(bool(lines))
        self.setAccessibleName(self.message.text())
        self.setAccessibleDescription(self.hint.text())
        self.setProperty("role", "failure" if failure else "notice")
        self.style().unpolish(self)
        self.style().polish(self)
        self._draw()
        # A failure interrupts what a screen reader says; a note waits for its end.
        say(self, " ".join(filter(None, (message, hint))), urgent=failure)

    def add_button(self, text: str) -> QPushButton:
        """Add a button to the bar and return it."""
        button = QPushButton(text)
        self._buttons.addWidget(button)
        return button

    def _draw(self) -> None:
        colours = self._theme.colours
        name, colour = ("warning", colours.error) if self._failure else ("note", colours.muted)
        self._sign.setPixmap(self._theme.icon(name, colour).pixmap(ICON, ICON))


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1].rstrip()}…"
