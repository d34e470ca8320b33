"""Rows of the settings: a name, a sentence, a control; and the sections that they are in."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.settings.values import stated
from app.settings_state import SettingsState
from ui.bind import bind_shown
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.folding_row import FoldingRow
from ui.widgets.labels import breakable, plain_label
from ui.widgets.tick_box import TickBox

# The least width in pixels of sentences beside a control, and the width of wide controls.
_WORDS_WIDTH = 260
CONTROL_WIDTH = 320


class SettingRow(QWidget):
    """A setting that the search can find: its name, its sentence, and its control beside them."""

    def __init__(
        self,
        title: str,
        sentence: str,
        controls: Sequence[QWidget] = (),
        *,
        below: QWidget | None = None,
        words: str = "",
        least: int = _WORDS_WIDTH,
    ) -> None:
        """Make the row; `words` are further ones that the search finds it by.

        The controls are below the texts where these would be narrower than `least` pixels.

        The first control gets the title as its accessible name, and the sentence as description.
        """
        super().__init__()
        self.setProperty("role", "setting")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = plain_label(title, wrap=True)
        self._is_found = False
        self._words = f"{title} {sentence} {words}".casefold()
        self._lay_out(sentence, controls, below, least)
        if controls:
            self.title.setBuddy(controls[0])
            if not controls[0].accessibleName():
                controls[0].setAccessibleName(title)
            controls[0].setAccessibleDescription(sentence)

    def matches(self, words: Sequence[str]) -> bool:
        """Return True if every one of these words, in lower case, is in the row's texts."""
        return all(word in self._words for word in words)

    def mark(self, found: bool) -> None:
        """Mark the row as found by the search, or not."""
        if found is self._is_found:
            return
        self._is_found = found
        self.setProperty("found", found)
        self.style().unpolish(self)
        self.style().polish(self)

    def _lay_out(
        self, sentence: str, controls: Sequence[QWidget], below: QWidget | None, least: int
    ) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(XS)
        texts.addWidget(self.title)
        if sentence:
            texts.addWidget(plain_label(breakable(sentence), "caption", wrap=True))
        beside = QHBoxLayout()
        beside.setSpacing(S)
        for control in controls:
            beside.addWidget(control, 0, Qt.AlignmentFlag.AlignTop)
        row = FoldingRow(texts, beside, least)
        row.setSpacing(M)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(S, S, S, S)
        self.column.setSpacing(S)
        self.column.addLayout(row)
        if below is not None:
            self.column.addWidget(below)


class Section:
    """A part of the settings, with its name; its rows are made one after another."""

    def __init__(self, title: str, rows: Iterable[SettingRow]) -> None:
        """Name the section; `rows` makes each row when it is asked for the next."""
        self.title = title
        self.made: list[SettingRow] = []
        self._rest = iter(rows)

    def make_next(self) -> SettingRow | None:
        """Make the next row; None if there is no further one."""
        row = next(self._rest, None)
        if row is not None:
            self.made.append(row)
        return row


class Choice(NamedTuple):
    """A value to choose, its name and the sentence about it."""

    value: object
    text: str
    about: str


def about(name: str) -> str:
    """Return the sentence about a setting in the user's language."""
    return QCoreApplication.translate("Settings", stated()[name].about)


def switch_row(settings: SettingsState, name: str, title: str, words: str = "") -> SettingRow:
    """Make the row of a setting that is on or off."""
    box = TickBox()
    bind_shown(box, settings.changed, lambda: getattr(settings.now, name), box.setChecked)

    def take(on: bool) -> None:
        settings.change(**{name: on})

    box.clicked.connect(take)
    return SettingRow(title, about(name), [box], words=words)


def choice_row(
    theme: Theme,
    settings: SettingsState,
    name: str,
    title: str,
    choices: Sequence[Choice],
    words: str = "",
) -> SettingRow:
    """Make the row of a setting with a few values."""
    box = ChoiceBox(theme)
    box.setMinimumWidth(CONTROL_WIDTH // 2)
    for choice in choices:
        box.add_choice(choice.text, choice.value, choice.about)

    def show(value: Any) -> None:
        box.setCurrentIndex(box.findData(value))

    def take(_row: int) -> None:
        settings.change(**{name: box.currentData()})

    bind_shown(box, settings.changed, lambda: getattr(settings.now, name), show)
    box.activated.connect(take)
    found_by = " ".join(f"{choice.text} {choice.about}" for choice in choices)
    return SettingRow(title, about(name), [box], words=f"{words} {found_by}")


def note(text: str, role: str = "caption") -> QLabel:
    """Make a paragraph of plain text."""
    return plain_label(text, role, wrap=True)
