"""The window's actions and their keyboard shortcuts."""

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget


class ActionName(StrEnum):
    """The names of the window's actions."""

    GENERATE = "generate"
    GENERATE_FIRST = "generate_first"
    CANCEL = "cancel"
    CANCEL_ALL = "cancel_all"
    OPEN = "open"
    OPEN_START = "open_start"
    EDIT_PROMPT = "edit_prompt"
    NEW_SEED = "new_seed"
    KEEP_SEED = "keep_seed"
    USE_SETTINGS = "use_settings"
    USE_PROMPT = "use_prompt"
    USE_SEED = "use_seed"
    USE_EVERYTHING = "use_everything"
    START_FROM = "start_from"
    COPY_PICTURE = "copy_picture"
    COPY_PATH = "copy_path"
    REVEAL = "reveal"
    TRASH = "trash"
    RUNTIMES = "runtimes"
    DEVICES = "devices"
    DOWNLOADS = "downloads"
    UPDATES = "updates"
    QUIT = "quit"


@dataclass(frozen=True, slots=True)
class _Entry:
    text: object
    key: str
    # Actions whose keys text fields need: the keys work in the strip only.
    in_strip: bool = False
    # Actions that open windows beside the main one: their keys work in each of those, too.
    everywhere: bool = False


_ENTRIES = {
    ActionName.GENERATE: _Entry(QT_TRANSLATE_NOOP("Actions", "Generate"), "Ctrl+Return"),
    ActionName.GENERATE_FIRST: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Generate before all others"), "Ctrl+Shift+Return"
    ),
    ActionName.CANCEL: _Entry(QT_TRANSLATE_NOOP("Actions", "Cancel"), "Esc"),
    ActionName.CANCEL_ALL: _Entry(QT_TRANSLATE_NOOP("Actions", "Cancel all"), "Shift+Esc"),
    ActionName.OPEN: _Entry(QT_TRANSLATE_NOOP("Actions", "Open a model or a picture…"), "Ctrl+O"),
    ActionName.OPEN_START: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Start from a picture…"), "Ctrl+Shift+O"
    ),
    ActionName.EDIT_PROMPT: _Entry(QT_TRANSLATE_NOOP("Actions", "Edit the prompt"), "Ctrl+E"),
    ActionName.NEW_SEED: _Entry(
        QT_TRANSLATE_NOOP("Actions", "A new seed for each picture"), "Ctrl+D"
    ),
    ActionName.KEEP_SEED: _Entry(QT_TRANSLATE_NOOP("Actions", "Keep this seed"), "Ctrl+L"),
    ActionName.USE_SETTINGS: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Use all settings but the seed"), "Ctrl+U"
    ),
    ActionName.USE_PROMPT: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Use the prompt only"), "Ctrl+Shift+P"
    ),
    ActionName.USE_SEED: _Entry(QT_TRANSLATE_NOOP("Actions", "Use the seed only"), "Ctrl+Shift+D"),
    ActionName.USE_EVERYTHING: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Use everything, with the seed"), "Ctrl+Shift+E"
    ),
    ActionName.START_FROM: _Entry(QT_TRANSLATE_NOOP("Actions", "Start from this"), "Ctrl+I"),
    ActionName.COPY_PICTURE: _Entry(QT_TRANSLATE_NOOP("Actions", "Copy picture"), "Ctrl+Shift+C"),
    ActionName.COPY_PATH: _Entry(QT_TRANSLATE_NOOP("Actions", "Copy path"), "Ctrl+Alt+C"),
    ActionName.REVEAL: _Entry(QT_TRANSLATE_NOOP("Actions", "Show in file manager"), "Ctrl+Shift+F"),
    ActionName.TRASH: _Entry(QT_TRANSLATE_NOOP("Actions", "Move to trash"), "Del", in_strip=True),
    ActionName.RUNTIMES: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Runtimes…"), "Ctrl+R", everywhere=True
    ),
    ActionName.DEVICES: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Devices…"), "Ctrl+Shift+R", everywhere=True
    ),
    ActionName.DOWNLOADS: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Downloads…"), "Ctrl+J", everywhere=True
    ),
    ActionName.UPDATES: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Check for updates…"), "Ctrl+Alt+U", everywhere=True
    ),
    ActionName.QUIT: _Entry(QT_TRANSLATE_NOOP("Actions", "Quit"), "Ctrl+Q"),
}
# Actions that reuse a picture's settings, the most usual first.
REUSING = (
    ActionName.USE_SETTINGS,
    ActionName.USE_PROMPT,
    ActionName.USE_SEED,
    ActionName.USE_EVERYTHING,
)
# Qt treats the numeric keypad's Enter and Return as different keys.
_ALSO = {ActionName.GENERATE: "Ctrl+Enter", ActionName.GENERATE_FIRST: "Ctrl+Shift+Enter"}


class Actions(QObject):
    """The window's actions by name; each has a key, and no two have the same."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._actions = {name: self._make(name, entry) for name, entry in _ENTRIES.items()}
        for name, action in self._actions.items():
            if not _ENTRIES[name].in_strip:
                window.addAction(action)

    def __getitem__(self, name: ActionName) -> QAction:
        return self._actions[name]

    def all(self) -> tuple[QAction, ...]:
        """Every action."""
        return tuple(self._actions.values())

    def key(self, name: ActionName) -> str:
        """The action's shortcut as text in the system's notation."""
        text = self[name].shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        # The label of the key on most keyboards.
        return text.replace("Return", "Enter")

    def _make(self, name: ActionName, entry: _Entry) -> QAction:
        action = QAction(QCoreApplication.translate("Actions", str(entry.text)), self)
        action.setObjectName(name.value)
        keys = [QKeySequence(entry.key)]
        if name in _ALSO:
            keys.append(QKeySequence(_ALSO[name]))
        action.setShortcuts(keys)
        action.setShortcutContext(_context(entry))
        return action


def _context(entry: _Entry) -> Qt.ShortcutContext:
    if entry.in_strip:
        return Qt.ShortcutContext.WidgetShortcut
    if entry.everywhere:
        return Qt.ShortcutContext.ApplicationShortcut
    return Qt.ShortcutContext.WindowShortcut
