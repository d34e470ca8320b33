"""The choice among the user's files, in groups, and of any file that lies elsewhere."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QSignalBlocker, Signal

from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox


class FileEntry(NamedTuple):
    """An entry: its title, the value that choosing it stands for, and a sentence about it."""

    title: str
    value: object
    about: str = ""


class FileGroup(NamedTuple):
    """Entries below a heading, which may be empty."""

    heading: str
    entries: tuple[FileEntry, ...]


class FileChoice(ChoiceBox):
    """A list of files, searched by typing, and of a way to any other file."""

    # Emits the value of an entry, unless it is the one in use.
    picked = Signal(object)
    wants_file = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, of_files=True)
        self._groups: tuple[FileGroup, ...] = ()
        self._of: tuple[object, ...] | None = None
        self._used = 0
        self.activated.connect(self._on_activated)

    def show_files(
        self, make: Callable[[], Sequence[FileGroup]], used: object, *of: object
    ) -> None:
        """Show the files that `make` returns, which is asked again once they are `of` other things.

        `used` is the value of the entry in use, by default the first.
        """
        with QSignalBlocker(self):
            if of != self._of:
                self._of = of
                self._groups = tuple(group for group in make() if group.entries)
                self._fill()
            self._used = max(0, self._row_of(used))
            self.setCurrentIndex(self._used)

    def _fill(self) -> None:
        self.clear()
        for group in self._groups:
            if group.heading:
                self.add_heading(group.heading)
            for entry in group.entries:
                self.add_choice(entry.title, entry.value, entry.about)
        self.add_heading(self.tr("Elsewhere"))
        self.add_choice(self.tr("Choose a file…"), None, "")

    def _row_of(self, value: object) -> int:
        """Return the row of a value: not by Qt, which makes other objects of some values."""
        row = 0
        for group in self._groups:
            row += bool(group.heading)
            for entry in group.entries:
                if entry.value == value:
                    return row
                row += 1
        return -1

    def _on_activated(self, row: int) -> None:
        value = self.itemData(row)
        # A dialog may end without a choice; an entry is shown once it is in use.
        self.setCurrentIndex(self._used)
        if row == self.count() - 1:
            self.wants_file.emit()
        elif row != self._used:
            self.picked.emit(value)
