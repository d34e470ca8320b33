"""Words as small buttons that are pressed into a text and out of it again."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from ui.theme.metrics import XS
from ui.widgets.flow_layout import FlowLayout

# Chips beyond these are shown on request.
_FEW = 6
_LONGEST = 28


class WordChips(QWidget):
    """A chip for each word or phrase; those that the text has are checked."""

    # Emits a word that was clicked.
    clicked = Signal(str)

    def __init__(self, name: str) -> None:
        """`name` is the accessible name of the group."""
        super().__init__()
        self.setAccessibleName(name)
        self._words: tuple[str, ...] = ()
        self.chips: list[QPushButton] = []
        self.more = QPushButton(self)
        self.more.hide()
        self.more.setProperty("role", "link")
        self.more.clicked.connect(self._show_all)
        self._flow = FlowLayout(XS)
        self.setLayout(self._flow)

    def show_words(self, words: Sequence[str], is_used: Callable[[str], bool]) -> None:
        """Show these words, and which of them are used."""
        if tuple(words) != self._words:
            self._words = tuple(words)
            self._fill()
        for word, chip in zip(self._words, self.chips, strict=True):
            chip.setChecked(is_used(word))

    def _fill(self) -> None:
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._flow.removeWidget(self.more)
        self.chips = [self._chip(word) for word in self._words]
        hidden = max(0, len(self._words) - _FEW)
        for number, chip in enumerate(self.chips):
            self._flow.addWidget(chip)
            chip.setVisible(number < _FEW)
        self._flow.addWidget(self.more)
        self.more.setText(self.tr("{n} more").format(n=hidden))
        self.more.setVisible(hidden > 0)

    def _chip(self, word: str) -> QPushButton:
        shown = word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1].rstrip()}…"
        # A single & would underline the next letter.
        chip = QPushButton(shown.replace("&", "&&"), self)
        chip.setProperty("role", "chip")
        chip.setCheckable(True)
        chip.setAccessibleName(self.tr("Trigger word {word}").format(word=word))
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        chip.clicked.connect(lambda _checked=False, word=word: self.clicked.emit(word))
        return chip

    def _show_all(self) -> None:
        for chip in self.chips:
            chip.show()
        self.more.hide()
        self.chips[_FEW].setFocus()
