"""The keys of the application: the usual ones of the table, or those that the user chose."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from ui.action_names import ActionName
from ui.action_table import entry_of, meet, text_of, usual_keys
from ui.key_texts import is_key, pastes, portable, shown_key, with_keypad


class Keys(QObject):
    """The keys by the names of what they do; no two work in one place with the same."""

    # Some keys are others now.
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # What the user chose, and the direction in which the keys are.
        self._found_for: tuple[dict[str, str], Qt.LayoutDirection] | None = None
        # Titles of menus by the keys that open them.
        self._menus: dict[str, str] = {}
        self._keys: dict[ActionName, tuple[QKeySequence, ...]] = {}
        self.use({})

    @property
    def _chosen(self) -> Mapping[str, str]:
        return self._found_for[0] if self._found_for is not None else {}

    def of(self, name: ActionName) -> tuple[QKeySequence, ...]:
        """Return the keys of an action, the shown one first; the keypad's are among them."""
        return self._keys[name]

    def shown(self, name: ActionName) -> str:
        """Return the action's key as text in the system's notation; empty if it has none."""
        return shown_key(self.first(name))

    def first(self, name: ActionName) -> QKeySequence:
        """Return the action's key that is shown; an empty one if it has none."""
        return next(iter(self._keys[name]), QKeySequence())

    def use(self, chosen: Mapping[str, str]) -> None:
        """Use other keys than the usual ones: portable texts by an action's name, "" for none.

        A key that another action or a menu has, that pastes, or that is none, is passed over; so
        is an unknown name.
        """
        if (chosen, direction := QGuiApplication.layoutDirection()) != self._found_for:
            self._found_for = dict(chosen), direction
            self._find()

    def leave_to_menus(self, titles: Sequence[str]) -> None:
        """Leave the keys that open menus to them: those of the letters after & in their titles."""
        keys = {portable(QKeySequence.mnemonic(title)): title.replace("&", "") for title in titles}
        self._menus = {key: title for key, title in keys.items() if key}
        if any(portable(QKeySequence(key)) in self._menus for key in self._chosen.values()):
            self._find()

    def opened_by(self, key: QKeySequence) -> str:
        """Return the title of the menu that a key opens; empty if it opens none."""
        return self._menus.get(portable(key), "")

    def owner(self, key: QKeySequence, wanting: ActionName) -> ActionName | None:
        """Return the action that has this key where `wanting` would work; None if it is free."""
        text = portable(key)
        for name, keys in self._keys.items():
            if meet(name, wanting) and text in map(portable, keys):
                return name
        return None

    def _find(self) -> None:
        """Give every action its keys, as far as they are free."""
        taken: dict[str, list[ActionName]] = {}
        found: dict[ActionName, tuple[QKeySequence, ...]] = {}
        # What the user chose comes first: a usual key gives way to it.
        for name in sorted(ActionName, key=lambda name: name not in self._chosen):
            chosen = self._chosen.get(name)
            wanted = usual_keys(name) if chosen is None else (QKeySequence(chosen),)
            keys: list[str] = []
            for key in map(portable, filter(is_key, wanted)):
                is_free = key not in self._menus and not pastes(QKeySequence(key))
                if is_free and not any(meet(name, other) for other in taken.get(key, ())):
                    keys.append(key)
                    taken.setdefault(key, []).append(name)
            found[name] = tuple(same for key in keys for same in with_keypad(key))
        if found != self._keys:
            self._keys = found
            self.changed.emit()


@cache
def keys() -> Keys:
    """Return the keys of the application, which all of its windows have."""
    return Keys(QCoreApplication.instance())


class KeyAction(QAction):
    """An action with the keys that its name has now."""

    def __init__(self, name: ActionName, parent: QObject) -> None:
        super().__init__(text_of(name), parent)
        entry = entry_of(name)
        self._name = name
        self.setObjectName(name.value)
        self.setShortcutContext(entry.scope.context)
        self.setAutoRepeat(entry.repeats)
        # Else Qt guesses by the words, which are translated.
        self.setMenuRole(QAction.MenuRole.NoRole)
        keys().changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        self.setShortcuts(keys().of(self._name))


def bind_key(widget: QWidget, name: ActionName, act: Callable[[], object]) -> KeyAction:
    """Have a key do something while a widget, or one in it, has the focus."""
    action = KeyAction(name, widget)
    action.triggered.connect(lambda: act())
    widget.addAction(action)
    return action


class HeldKey(QObject):
    """A key of a widget that acts for as long as it is held: `hold` is called with True, False."""

    def __init__(self, widget: QWidget, name: ActionName, hold: Callable[[bool], None]) -> None:
        super().__init__(widget)
        self.name, self._hold = name, hold
        # The key that is held; None while none is.
        self._held: int | None = None
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Follow the key; when the focus goes, another widget sees its end."""
        if event.type() is QEvent.Type.FocusOut:
            self._end()
        if not isinstance(event, QKeyEvent):
            return False
        if event.type() is QEvent.Type.KeyRelease and event.key() == self._held:
            if not event.isAutoRepeat():
                self._end()
            return True
        pressed = QKeySequence(event.keyCombination())
        if event.type() is QEvent.Type.KeyPress and pressed in keys().of(self.name):
            self._held = event.key()
            self._hold(True)
            return True
        return False

    def _end(self) -> None:
        if self._held is not None:
            self._held = None
            self._hold(False)
