"""The actions that the window has one of each, which buttons and menus have, too."""

from collections.abc import Mapping
from types import MappingProxyType

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from ui.action_names import PAINTING, RATING, REUSING, STEERING, ActionName
from ui.action_table import SHARED, entry_of
from ui.keys import KeyAction, keys

__all__ = ["PAINTING", "RATING", "REUSING", "STEERING", "ActionName", "Actions"]

# Actions that a Mac has in the menu of the application itself.
_ROLES = {
    ActionName.SETTINGS: QAction.MenuRole.PreferencesRole,
    ActionName.QUIT: QAction.MenuRole.QuitRole,
}


class Actions(QObject):
    """The window's actions by name, with the keys that the user chose."""

    def __init__(self, window: QWidget, chosen: Mapping[str, str] = MappingProxyType({})) -> None:
        """Make the actions; `chosen` are keys as for `Keys.use`."""
        super().__init__(window)
        keys().use(chosen)
        self._actions = {name: KeyAction(name, self) for name in SHARED}
        for name, role in _ROLES.items():
            self[name].setMenuRole(role)
        for name, action in self._actions.items():
            if not entry_of(name).scope.is_part:
                window.addAction(action)

    def __getitem__(self, name: ActionName) -> QAction:
        return self._actions[name]

    def all(self) -> tuple[QAction, ...]:
        """Every action."""
        return tuple(self._actions.values())
