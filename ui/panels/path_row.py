"""A named file that may be chosen: its name, and the buttons to choose another and to drop it."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ui.theme.metrics import XS, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, plain_label, plain_tooltip


class PathRow(QWidget):
    """A row for a file; without one it says `unset`."""

    wants_file = Signal()
    dropped = Signal()

    def __init__(self, theme: Theme, name: str, unset: str) -> None:
        super().__init__()
        self._unset = unset
        self.label, self.file = plain_label(name, "label"), ElidedLabel()
        self.choose = IconButton(theme, "folder", "", outlined=True)
        self.choose.set_name(self.tr("{part}: choose a file…").format(part=name))
        self.drop = IconButton(theme, "close", "")
        self.drop.set_name(f"{name}: {unset}")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.label)
        row.addWidget(self.file, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(XS)
        buttons.addWidget(self.drop)
        buttons.addWidget(self.choose)
        row.addLayout(buttons)
        self.choose.clicked.connect(self.wants_file)
        self.drop.clicked.connect(self.dropped)
        self.show_file(None)

    def show_file(self, path: str | None) -> None:
        """Show the name of a file; None for none."""
        self.file.setText(self._unset if path is None else Path(path).name)
        self.file.setToolTip(plain_tooltip(path or ""))
        self.drop.setVisible(path is not None)
