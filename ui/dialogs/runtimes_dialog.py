"""The list of runtimes: what this computer has, what is in use, and the packs that can be added."""

from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.commands.pack_rows import PackRow
from app.session import Session
from ui.device_labels import device_name
from ui.files.chooser import FileChooser
from ui.machine_labels import adapter_words, processor_words
from ui.panels.pack_card import PackCard
from ui.slices import Slices
from ui.theme.metrics import XS, L, M, S
from ui.theme.theme import Theme
from ui.widgets.labels import breakable, plain_label, rule
from ui.widgets.scroll_area import scroll_area
from ui.window_place import room_for

_SIZE = QSize(680, 620)


class RuntimesDialog(QDialog):
    """A dialog beside the window, which stays usable; closing it stops nothing."""

    def __init__(
        self,
        session: Session,
        theme: Theme,
        parent: QWidget,
        show_devices: Callable[[], object],
    ) -> None:
        """Create the dialog; `show_devices` opens the list of devices and their times."""
        super().__init__(parent)
        self._session, self._theme = session, theme
        self.cards: dict[str, PackCard] = {}
        # The cards as they are laid out: each pack's id, and if it is for other computers.
        self._order: list[tuple[str, bool]] = []
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Runtimes"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.facts = QGridLayout()
        self.nothing = plain_label(
            self.tr("Safelight has what it needs for this computer: there is nothing to add."),
            wrap=True,
        )
        self.suited, self.others = QVBoxLayout(), QVBoxLayout()
        self.others_shown = QPushButton()
        self.others_shown.setCheckable(True)
        self.others_shown.setProperty("role", "link")
        self.rows = scroll_area(self.tr("Runtimes"))
        self.devices = QPushButton(self.tr("All devices…"))
        self.from_file = QPushButton(self.tr("Install from a file…"))
        self.close_button = QPushButton(self.tr("Close"))
        self._lay_out()
        self._connect()
        self.devices.clicked.connect(show_devices)
        self._refresh_machine()
        self._refresh_rows()

    def reveal(self, pack: str) -> None:
        """Scroll to a pack's card and put the focus on its first button."""
        row = next((row for row in self._session.packs.rows if row.id == pack), None)
        if row is None:
            return
        if row.reason:
            self.others_shown.setChecked(True)
            for _ in self._make_others():
                pass
        card = self.cards[pack]
        self.rows.ensureWidgetVisible(card)
        button = next(
            (button for button in card.buttons.values() if not button.isHidden()), card.more
        )
        button.setFocus()

    def _connect(self) -> None:
        session = self._session
        session.packs.changed.connect(self._refresh_rows)
        devices = session.devices
        for signal in (
            devices.devices_changed,
            devices.choice_changed,
            devices.checking_changed,
            devices.machine_changed,
        ):
            signal.connect(self._refresh_machine)
        self.others_shown.toggled.connect(self._show_others)
        self.from_file.clicked.connect(self._choose_file)
        self.close_button.clicked.connect(self.accept)

    def _lay_out(self) -> None:
        self.facts.setContentsMargins(0, 0, 0, S)
        self.facts.setHorizontalSpacing(M)
        self.facts.setVerticalSpacing(XS)
        self.facts.setColumnStretch(1, 1)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(L, L, L, M)
        column.setSpacing(M)
        column.addLayout(self.facts)
        for cards in (self.suited, self.others):
            cards.setSpacing(S)
        column.addWidget(self.nothing)
        column.addLayout(self.suited)
        column.addWidget(self.others_shown, 0, Qt.AlignmentFlag.AlignLeading)
        column.addLayout(self.others)
        column.addStretch()
        self.rows.setWidget(content)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(L, M, L, M)
        buttons.setSpacing(S)
        buttons.addWidget(self.from_file)
        buttons.addWidget(self.devices)
        buttons.addStretch()
        buttons.addWidget(self.close_button)
        whole = QVBoxLayout(self)
        whole.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.rows, 1)
        whole.addWidget(rule(Qt.Orientation.Horizontal))
        whole.addLayout(buttons)
        # Enter must not close the list while a card's button has the focus.
        for button in (self.from_file, self.devices, self.close_button):
            button.setAutoDefault(False)

    def _refresh_machine(self) -> None:
        while (item := self.facts.takeAt(0)) is not None:  # pyright: ignore[reportUnnecessaryComparison] (Qt may have none)
            widget = item.widget()
            if widget is not None:  # pyright: ignore[reportUnnecessaryComparison] (Qt may have none)
                widget.deleteLater()
        for number, (name, text) in enumerate(self._machine_facts()):
            label = plain_label(name, "label")
            self.facts.addWidget(label, number, 0, Qt.AlignmentFlag.AlignTop)
            self.facts.addWidget(plain_label(breakable(text), wrap=True), number, 1)

    def _machine_facts(self) -> list[tuple[str, str]]:
        devices = self._session.devices
        if devices.machine is None:
            return [(self.tr("This computer"), self.tr("Looking at its hardware…"))]
        facts = [(self.tr("Processor"), processor_words(devices.machine))]
        cards = [adapter_words(adapter) for adapter in devices.machine.adapters]
        none = self.tr("None was found: the processor makes the pictures.")
        facts += ((self.tr("Graphics card"), words) for words in cards or [none])
        chosen = devices.chosen
        if devices.checking:
            facts.append((self.tr("In use"), self.tr("Checking your hardware, once…")))
        elif chosen is not None:
            facts.append((self.tr("In use"), device_name(chosen)))
        return facts

    def _refresh_rows(self) -> None:
        rows = self._session.packs.rows
        for row in rows:
            if row.id in self.cards:
                self.cards[row.id].show_row(row)
            elif not row.reason:
                self._make_card(row)
        order = [(row.id, bool(row.reason)) for row in rows if row.id in self.cards]
        if order != self._order:
            self._order = order
            for name, is_other in order:
                (self.others if is_other else self.suited).addWidget(self.cards[name])
        self.others_shown.setVisible(any(row.reason for row in rows))
        self.nothing.setVisible(bool(rows) and all(row.reason for row in rows))
        self._show_others()

    def _make_card(self, row: PackRow) -> PackCard:
        card = self.cards[row.id] = PackCard(self._theme, row, self._session.packs.act)
        return card

    def _make_others(self) -> Iterator[None]:
        """Make the cards of packs for other computers, one for each value."""
        for row in self._session.packs.rows:
            if row.reason and row.id not in self.cards:
                card = self._make_card(row)
                self._order.append((row.id, True))
                self.others.addWidget(card)
                card.setVisible(self.others_shown.isChecked())
                yield

    def _show_others(self, *_: object) -> None:
        shown = self.others_shown.isChecked()
        others = [row for row in self._session.packs.rows if row.reason]
        if shown and any(row.id not in self.cards for row in others):
            Slices(self._make_others(), self)
        text = (
            self.tr("Hide what is for other computers")
            if shown
            else self.tr("Show what is for other computers ({n})").format(n=len(others))
        )
        self.others_shown.setText(text)
        for card in self.cards.values():
            card.setVisible(shown or not card.row.reason)

    def _choose_file(self) -> None:
        name = FileChooser.open_file(
            self,
            self.tr("A runtime that was downloaded elsewhere"),
            str(Path.home()),
            self.tr("Runtimes (*.whl *.zip);;All files (*)"),
        )
        if name:
            self._session.packs.install_file(Path(name))
