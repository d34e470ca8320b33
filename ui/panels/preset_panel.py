"""The row below the prompts: the menu of presets, and the list of earlier prompts."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QWidget

from app.session import Session
from ui.actions import ActionName, Actions
from ui.key_tips import show_key
from ui.theme.metrics import S
from ui.theme.theme import Theme

if TYPE_CHECKING:
    from ui.dialogs.preset_dialog import PresetDialog
    from ui.dialogs.presets_dialog import PresetsDialog
    from ui.dialogs.prompts_dialog import PromptsDialog

# A longer name is cut off in the menu.
_MOST_SHOWN = 40


class PresetPanel(QWidget):
    """A button with the menu of presets, and a button for the list of earlier prompts."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session, self._theme, self._actions = session, theme, actions
        self.presets = QPushButton(self.tr("Presets"))
        self.presets.setToolTip(self.tr("Named sets of settings"))
        self.menu = QMenu(self.presets)
        self.presets.setMenu(self.menu)
        self.earlier = QPushButton(self.tr("Earlier prompts"))
        show_key(self.earlier, ActionName.EARLIER_PROMPTS)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.presets, 1)
        row.addWidget(self.earlier, 1)
        self.menu.aboutToShow.connect(self._fill)
        self.earlier.clicked.connect(actions[ActionName.EARLIER_PROMPTS].trigger)
        actions[ActionName.EARLIER_PROMPTS].triggered.connect(self.show_earlier)
        actions[ActionName.OLDER_PROMPT].triggered.connect(session.earlier.recall.older)
        actions[ActionName.NEWER_PROMPT].triggered.connect(session.earlier.recall.newer)
        actions[ActionName.SAVE_PRESET].triggered.connect(self.save)
        actions[ActionName.PRESETS].triggered.connect(self.show_list)
        theme.changed.connect(self._draw)
        self._draw()

    def save(self) -> "PresetDialog":
        """Ask for a name and the parts, and keep them as a preset."""
        # Here and below, as the window starts sooner without its dialogs.
        from ui.dialogs.preset_dialog import PresetDialog

        dialog = PresetDialog(self._session, self.window())
        dialog.open()
        return dialog

    def show_list(self) -> "PresetsDialog":
        """Open the list of presets."""
        from ui.dialogs.presets_dialog import PresetsDialog

        dialog = PresetsDialog(self._session, self.window())
        dialog.open()
        return dialog

    def show_earlier(self) -> "PromptsDialog":
        """Open the list of earlier prompts."""
        from ui.dialogs.prompts_dialog import PromptsDialog

        dialog = PromptsDialog(self._session, self._theme, self.window())
        dialog.open()
        return dialog

    def _draw(self) -> None:
        self.presets.setIcon(self._theme.icon("bookmark"))
        self.earlier.setIcon(self._theme.icon("history"))

    def _fill(self) -> None:
        self.menu.clear()
        presets = self._session.presets
        for preset in presets.store.presets:
            name = preset.name if len(preset.name) <= _MOST_SHOWN else f"{preset.name[:39]}…"
            action = self.menu.addAction(name.replace("&", "&&"))
            action.triggered.connect(partial(presets.use, preset))
        if presets.store.presets:
            self.menu.addSeparator()
        self.menu.addAction(self._actions[ActionName.SAVE_PRESET])
        self.menu.addAction(self._actions[ActionName.PRESETS])
