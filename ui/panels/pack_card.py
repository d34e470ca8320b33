"""A pack in the list of runtimes: its facts, the state of its installation, and its buttons."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QProgressBar, QPushButton, QVBoxLayout

from app.commands.pack_rows import PackAction, PackRow, PackStage, actions_of
from ui.pack_labels import action_label, cost, problem_sentences, purpose, stage_sentence
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.widgets.folding_row import FoldingRow
from ui.widgets.labels import breakable, plain_label, plain_tooltip

# Actions that are wanted rarely, and behind a button of their own.
_RARE = frozenset({PackAction.REPAIR, PackAction.GO_BACK, PackAction.REMOVE})
# The least width in pixels of the text beside the buttons.
_LEAST_WORDS = 320
_STEPS = 1000


class PackCard(QFrame):
    """A card that shows a `PackRow`; `act` is called with the action of a pressed button.

    The widgets stay the same from row to row, so that the focus stays where it is.
    """

    def __init__(self, theme: Theme, row: PackRow, act: Callable[[str, PackAction], None]) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("role", "card")
        self.title = plain_label("", "heading", wrap=True)
        self.purpose = plain_label("", wrap=True)
        self.cost = plain_label("", "caption", wrap=True)
        self.stage = plain_label("", "caption", wrap=True)
        self.problem = plain_label("", "error", wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, _STEPS)
        self.buttons = {action: QPushButton() for action in PackAction if action not in _RARE}
        self.buttons[PackAction.USE_NOW].setToolTip(
            self.tr("The picture that is being made then begins anew.")
        )
        self.licences = [
            self._licence(terms.name, terms.url) for terms in row.licences if terms.is_proprietary
        ]
        self.more = QPushButton(self.tr("Manage"))
        self.menu = QMenu(self.more)
        self.more.setMenu(self.menu)
        self.rare = {action: self.menu.addAction("") for action in PackAction if action in _RARE}
        for action, button in self.buttons.items():
            button.clicked.connect(partial(self._act, act, action))
        for action, entry in self.rare.items():
            entry.triggered.connect(partial(self._act, act, action))
        self.row = row
        self._lay_out()
        theme.changed.connect(self._draw)
        self._draw()
        self.show_row(row)

    def show_row(self, row: PackRow) -> None:
        """Show a pack's present state."""
        self.row = row
        self.title.setText(breakable(row.title))
        self.purpose.setText(breakable(purpose(row)))
        self.purpose.setToolTip(plain_tooltip(row.gain_source))
        self.cost.setText(breakable(cost(row)))
        self.cost.setVisible(bool(row.download_bytes) and row.stage is not PackStage.INSTALLED)
        for label, text in (
            (self.stage, stage_sentence(row)),
            (self.problem, problem_sentences(row)),
        ):
            label.setText(breakable(text))
            label.setVisible(bool(text))
        self._show_progress(row)
        self._show_buttons(row)
        self.setAccessibleName(row.title)
        self.setAccessibleDescription(f"{self.purpose.text()} {stage_sentence(row)}".strip())

    def _show_progress(self, row: PackRow) -> None:
        total = row.progress.total_bytes
        counts = row.stage in (PackStage.DOWNLOADING, PackStage.PAUSED) and total > 0
        # A range of nothing makes a bar that runs to and fro.
        self.bar.setRange(0, _STEPS if counts else 0)
        if counts:
            self.bar.setValue(row.progress.done_bytes * _STEPS // total)
        still = (PackStage.AVAILABLE, PackStage.WAITING, PackStage.READY, PackStage.INSTALLED)
        self.bar.setVisible(row.stage not in still)
        self.bar.setAccessibleName(self.tr("Installation of {title}").format(title=row.title))

    def _show_buttons(self, row: PackRow) -> None:
        offered = actions_of(row)
        for action, button in self.buttons.items():
            button.setText(action_label(action, row))
            # Beside other packs' buttons of the same words, a name says which pack it is for.
            button.setAccessibleName(f"{button.text()}: {row.title}")
        for action, entry in self.rare.items():
            entry.setText(action_label(action, row))
            entry.setVisible(action in offered)
        self.more.setAccessibleName(f"{self.more.text()}: {row.title}")
        for licence in self.licences:
            licence.setVisible(PackAction.INSTALL in offered)
        shown = [button for action, button in self.buttons.items() if action in offered]
        shown += [self.more] if _RARE & set(offered) else []
        self._show_only(shown)

    def _show_only(self, shown: list[QPushButton]) -> None:
        """Show these buttons alone; the focus of one that goes stays in the card."""
        every = (*self.buttons.values(), self.more)
        loses_focus = any(button.hasFocus() for button in every if button not in shown)
        for button in shown:
            button.show()
        if loses_focus and shown:
            shown[0].setFocus()
        for button in every:
            button.setVisible(button in shown)

    def _draw(self) -> None:
        self.more.setIcon(self._theme.icon("chevron"))

    def _act(self, act: Callable[[str, PackAction], None], action: PackAction) -> None:
        act(self.row.id, action)

    def _licence(self, name: str, url: str) -> QPushButton:
        button = QPushButton(self.tr("Read the licence: {name}").format(name=name))
        button.setProperty("role", "link")
        button.setToolTip(url)
        button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(url)))
        return button

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(XS)
        for label in (self.title, self.purpose, self.cost):
            words.addWidget(label)
        for licence in self.licences:
            row = QHBoxLayout()
            row.addWidget(licence)
            row.addStretch()
            words.addLayout(row)
        buttons = QHBoxLayout()
        buttons.setSpacing(S)
        for button in (*self.buttons.values(), self.more):
            buttons.addWidget(button)
        first = FoldingRow(words, buttons, _LEAST_WORDS)
        first.setSpacing(M)
        column = QVBoxLayout(self)
        column.setContentsMargins(M, M, M, M)
        column.setSpacing(S)
        column.addLayout(first)
        column.addWidget(self.bar)
        column.addWidget(self.stage)
        column.addWidget(self.problem)
