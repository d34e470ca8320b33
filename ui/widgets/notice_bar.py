"""A bar with a title, a message, a hint, buttons for remedies, and a report that can be shown."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ui.copying import copy_text
from ui.spoken import say
from ui.theme.metrics import ICON, XS, M, S
from ui.theme.theme import Theme
from ui.widgets.flow_layout import FlowLayout
from ui.widgets.folding_row import FoldingRow
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, plain_label

_MOST_LINES, _LONGEST_LINE = 5, 200
# The most letters of a message, and of a hint: about four lines; our own sentences are shorter.
_LONGEST_TEXT = 300
# The least width in pixels of the text beside the buttons.
_LEAST_WORDS = 240
# The height in pixels of a report, which scrolls.
_REPORT_HEIGHT = 132


class NoticeBar(QFrame):
    """A bar of plain text; a failure has another colour and icon than a notice.

    `says_all` is False if words are shortened or left out. `report` returns the text of a report,
    which two buttons show and copy while the bar tells a failure; its buttons are below its words.
    """

    def __init__(self, theme: Theme, report: Callable[[], str] | None = None) -> None:
        super().__init__()
        self._report = report
        self._theme = theme
        self._failure = False
        self.says_all = True
        self._sign = QLabel()
        self._sign.setFixedWidth(ICON)
        self.title = plain_label("", "heading", wrap=True)
        self.message = plain_label("", wrap=True)
        self.hint = plain_label("", "label", wrap=True)
        # How many others wait until this one is dismissed.
        self.behind = plain_label("", "caption", wrap=True)
        self.behind.hide()
        self._buttons: QLayout = QHBoxLayout() if report is None else FlowLayout(S)
        self._buttons.setSpacing(S)
        self.dismiss = IconButton(theme, "close", self.tr("Dismiss"))
        self.show_report = QPushButton(self.tr("Details"))
        self.copy_report = QPushButton(self.tr("Copy report"))
        self.report = QPlainTextEdit()
        # The two stay together where the buttons take several lines.
        self._about_report = QWidget()
        self._lay_out()
        self._prepare_report()
        theme.changed.connect(self._draw)
        self.hide()

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(XS if self._report else 2)
        for label in (self.title, self.message, self.hint, self.behind):
            words.addWidget(label)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(M, S, S, S)
        layout.setSpacing(S)
        top = Qt.AlignmentFlag.AlignTop
        middle = Qt.AlignmentFlag.AlignVCenter
        layout.addWidget(self._sign, 0, middle if self._report is None else top)
        if self._report is None:
            row = FoldingRow(words, self._buttons, _LEAST_WORDS)
            row.setSpacing(S)
            layout.addLayout(row, 1)
        else:
            column = QVBoxLayout()
            column.setSpacing(S)
            column.addLayout(words)
            column.addLayout(self._buttons)
            column.addWidget(self.report)
            beside = QHBoxLayout(self._about_report)
            beside.setContentsMargins(0, 0, 0, 0)
            beside.setSpacing(0)
            beside.addWidget(self.show_report)
            beside.addWidget(self.copy_report)
            self._buttons.addWidget(self._about_report)
            layout.addLayout(column, 1)
            layout.setContentsMargins(M, M - XS, S, M - XS)
        layout.addWidget(self.dismiss, 0, middle if self._report is None else top)

    def _prepare_report(self) -> None:
        self.report.setReadOnly(True)
        self.report.setTabChangesFocus(True)
        self.report.setFixedHeight(_REPORT_HEIGHT)
        self.report.setAccessibleName(self.tr("Report"))
        self.show_report.setCheckable(True)
        for button in (self.show_report, self.copy_report):
            button.setProperty("role", "quiet")
        for widget in (self._about_report, self.report):
            widget.hide()
        self.show_report.toggled.connect(self._show_report)
        self.copy_report.clicked.connect(self._copy_report)

    def _show_report(self, shown: bool) -> None:
        self.report.setPlainText(self._report() if shown and self._report else "")
        self.report.setVisible(shown)

    def _copy_report(self) -> None:
        if self._report is not None:
            copy_text(self._report(), self.copy_report)

    def tell(
        self,
        message: str,
        hint: str,
        *,
        failure: bool,
        title: str = "",
        details: Sequence[str] = (),
    ) -> None:
        """Show a title, a message, a hint, and the first few details, each on its own line."""
        self._failure = failure
        self.title.setText(breakable(title))
        self.title.setVisible(bool(title))
        self.message.setText(breakable(_shortened(message, _LONGEST_TEXT)))
        lines = [breakable(_shortened(hint, _LONGEST_TEXT))] if hint else []
        shown = details if len(details) <= _MOST_LINES else details[: _MOST_LINES - 1]
        sign = "· " if len(details) > 1 else ""
        lines += (sign + breakable(_shortened(line)) for line in shown)
        if len(shown) < len(details):
            lines.append(self.tr("And {n} more.").format(n=len(details) - len(shown)))
        is_whole = max(len(message), len(hint)) <= _LONGEST_TEXT
        are_whole = all(len(line) <= _LONGEST_LINE for line in details)
        self.says_all = is_whole and are_whole and len(shown) == len(details)
        self.hint.setText("\n".join(lines))
        self.hint.setVisible(bool(lines))
        self.setAccessibleName(self.title.text() or self.message.text())
        described = (self.message.text() if title else "", self.hint.text())
        self.setAccessibleDescription(" ".join(filter(None, described)))
        self._about_report.setVisible(failure and self._report is not None)
        self.setProperty("role", "failure" if failure else "notice")
        self.style().unpolish(self)
        self.style().polish(self)
        self._draw()
        # A failure interrupts what a screen reader says; a note waits for its end.
        heard = f"{title}." if title else ""
        say(self, " ".join(filter(None, (heard, message, hint))), urgent=failure)

    def add_button(self, text: str) -> QPushButton:
        """Add a button to the bar, before those of the report, and return it."""
        button = QPushButton(text)
        self._buttons.addWidget(button)
        if self._report is not None:
            # They stay the last.
            self._buttons.removeWidget(self._about_report)
            self._buttons.addWidget(self._about_report)
        return button

    def _draw(self) -> None:
        colours = self._theme.colours
        name, colour = ("warning", colours.error) if self._failure else ("note", colours.muted)
        self._sign.setPixmap(self._theme.icon(name, colour).pixmap(ICON, ICON))


def _shortened(text: str, most: int = _LONGEST_LINE) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
