"""The window's actions and their keyboard shortcuts."""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QObject, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from ui.action_entry import Entry
from ui.key_texts import is_key, pastes, portable, shown_key, with_keypad


class ActionName(StrEnum):
    """The names of the window's actions."""

    CREATE = "create"
    GALLERY = "gallery"
    MODELS = "models"
    SETTINGS = "settings"
    GENERATE = "generate"
    GENERATE_FIRST = "generate_first"
    CANCEL = "cancel"
    CANCEL_ALL = "cancel_all"
    QUEUE = "queue"
    FOLD_SIDE = "fold_side"
    UNDO_LATEST = "undo_latest"
    OPEN = "open"
    OPEN_START = "open_start"
    EDIT_PROMPT = "edit_prompt"
    OLDER_PROMPT = "older_prompt"
    NEWER_PROMPT = "newer_prompt"
    EARLIER_PROMPTS = "earlier_prompts"
    SAVE_PRESET = "save_preset"
    PRESETS = "presets"
    NEW_SEED = "new_seed"
    KEEP_SEED = "keep_seed"
    USE_SETTINGS = "use_settings"
    USE_PROMPT = "use_prompt"
    USE_SEED = "use_seed"
    USE_EVERYTHING = "use_everything"
    START_FROM = "start_from"
    FOLLOW = "follow"
    PROMPT_BY = "prompt_by"
    UPSCALE = "upscale"
    SHOW_ORIGINAL = "show_original"
    COPY_PICTURE = "copy_picture"
    COPY_PATH = "copy_path"
    REVEAL = "reveal"
    TRASH = "trash"
    COPY_SETTINGS = "copy_settings"
    FAVOURITE = "favourite"
    REJECT = "reject"
    RATE_0 = "rate_0"
    RATE_1 = "rate_1"
    RATE_2 = "rate_2"
    RATE_3 = "rate_3"
    RATE_4 = "rate_4"
    RATE_5 = "rate_5"
    COMPARE = "compare"
    TRASH_REJECTED = "trash_rejected"
    FIND = "find"
    GALLERY_FOLDERS = "gallery_folders"
    READ_FOLDERS = "read_folders"
    LARGER_TILES = "larger_tiles"
    SMALLER_TILES = "smaller_tiles"
    FULL_SCREEN = "full_screen"
    ZOOM_IN = "zoom_in"
    ZOOM_OUT = "zoom_out"
    ZOOM_FIT = "zoom_fit"
    ZOOM_ACTUAL = "zoom_actual"
    DETAILS = "details"
    COMPARE_START = "compare_start"
    PAINT = "paint"
    BRUSH = "brush"
    ERASER = "eraser"
    LASSO = "lasso"
    GROW = "grow"
    SMALLER_BRUSH = "smaller_brush"
    LARGER_BRUSH = "larger_brush"
    UNDO_STROKE = "undo_stroke"
    REDO_STROKE = "redo_stroke"
    INVERT_MASK = "invert_mask"
    CLEAR_MASK = "clear_mask"
    VEIL_COLOUR = "veil_colour"
    RUNTIMES = "runtimes"
    DEVICES = "devices"
    DOWNLOADS = "downloads"
    UPDATES = "updates"
    SHORTCUTS = "shortcuts"
    QUIT = "quit"


_ENTRIES = {
    ActionName.CREATE: Entry(QT_TRANSLATE_NOOP("Actions", "Go to Create"), "Ctrl+1"),
    ActionName.GALLERY: Entry(QT_TRANSLATE_NOOP("Actions", "Go to the gallery"), "Ctrl+2"),
    ActionName.MODELS: Entry(QT_TRANSLATE_NOOP("Actions", "Go to the models"), "Ctrl+3"),
    ActionName.SETTINGS: Entry(QT_TRANSLATE_NOOP("Actions", "Go to the settings"), "Ctrl+4"),
    ActionName.GENERATE: Entry(QT_TRANSLATE_NOOP("Actions", "Generate"), "Ctrl+Return"),
    ActionName.GENERATE_FIRST: Entry(
        QT_TRANSLATE_NOOP("Actions", "Generate before all others"), "Ctrl+Shift+Return"
    ),
    ActionName.CANCEL: Entry(QT_TRANSLATE_NOOP("Actions", "Cancel"), "Esc"),
    ActionName.CANCEL_ALL: Entry(QT_TRANSLATE_NOOP("Actions", "Cancel all"), "Shift+Esc"),
    ActionName.QUEUE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Show the queue"), "Ctrl+Shift+Q", on_mac="Ctrl+K"
    ),
    ActionName.FOLD_SIDE: Entry(QT_TRANSLATE_NOOP("Actions", "Fold the form away"), "Ctrl+B"),
    ActionName.UNDO_LATEST: Entry(
        QT_TRANSLATE_NOOP("Actions", "Undo the last change"), "Ctrl+Alt+Z"
    ),
    ActionName.OPEN: Entry(QT_TRANSLATE_NOOP("Actions", "Open a model or a picture…"), "Ctrl+O"),
    ActionName.OPEN_START: Entry(
        QT_TRANSLATE_NOOP("Actions", "Start from a picture…"), "Ctrl+Shift+O"
    ),
    ActionName.EDIT_PROMPT: Entry(QT_TRANSLATE_NOOP("Actions", "Edit the prompt"), "Ctrl+E"),
    ActionName.OLDER_PROMPT: Entry(QT_TRANSLATE_NOOP("Actions", "The prompt before"), "Alt+Up"),
    ActionName.NEWER_PROMPT: Entry(QT_TRANSLATE_NOOP("Actions", "The prompt after"), "Alt+Down"),
    ActionName.EARLIER_PROMPTS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Earlier prompts…"), "Ctrl+H", on_mac="Ctrl+Y"
    ),
    ActionName.SAVE_PRESET: Entry(QT_TRANSLATE_NOOP("Actions", "Save as a preset…"), "Ctrl+S"),
    ActionName.PRESETS: Entry(QT_TRANSLATE_NOOP("Actions", "Presets…"), "Ctrl+Shift+S"),
    ActionName.NEW_SEED: Entry(
        QT_TRANSLATE_NOOP("Actions", "A new seed for each picture"), "Ctrl+D"
    ),
    ActionName.KEEP_SEED: Entry(QT_TRANSLATE_NOOP("Actions", "Keep this seed"), "Ctrl+L"),
    ActionName.USE_SETTINGS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Use all settings but the seed"), "Ctrl+U"
    ),
    ActionName.USE_PROMPT: Entry(
        QT_TRANSLATE_NOOP("Actions", "Use the prompt only"), "Ctrl+Shift+P"
    ),
    ActionName.USE_SEED: Entry(QT_TRANSLATE_NOOP("Actions", "Use the seed only"), "Ctrl+Shift+D"),
    ActionName.USE_EVERYTHING: Entry(
        QT_TRANSLATE_NOOP("Actions", "Use everything, with the seed"), "Ctrl+Shift+E"
    ),
    ActionName.START_FROM: Entry(QT_TRANSLATE_NOOP("Actions", "Start from this"), "Ctrl+I"),
    ActionName.FOLLOW: Entry(
        QT_TRANSLATE_NOOP("Actions", "Use as a control picture"), "Ctrl+Alt+F"
    ),
    ActionName.PROMPT_BY: Entry(
        QT_TRANSLATE_NOOP("Actions", "Use as an image prompt"), "Ctrl+Alt+P"
    ),
    ActionName.UPSCALE: Entry(QT_TRANSLATE_NOOP("Actions", "Upscale…"), "Ctrl+Shift+L"),
    ActionName.SHOW_ORIGINAL: Entry(
        QT_TRANSLATE_NOOP("Actions", "Show the picture before it was upscaled"), "Ctrl+Alt+O"
    ),
    ActionName.COPY_PICTURE: Entry(QT_TRANSLATE_NOOP("Actions", "Copy picture"), "Ctrl+Shift+C"),
    ActionName.COPY_PATH: Entry(QT_TRANSLATE_NOOP("Actions", "Copy path"), "Ctrl+Alt+C"),
    ActionName.REVEAL: Entry(QT_TRANSLATE_NOOP("Actions", "Show in file manager"), "Ctrl+Shift+F"),
    ActionName.TRASH: Entry(
        QT_TRANSLATE_NOOP("Actions", "Move to trash"), "Del", in_strip=True, on_mac="Ctrl+Backspace"
    ),
    ActionName.COPY_SETTINGS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Copy settings as text"), "Ctrl+Alt+S", on_page=True
    ),
    ActionName.FAVOURITE: Entry(QT_TRANSLATE_NOOP("Actions", "Favourite"), "P", on_page=True),
    ActionName.REJECT: Entry(QT_TRANSLATE_NOOP("Actions", "Reject"), "X", on_page=True),
    ActionName.RATE_0: Entry(QT_TRANSLATE_NOOP("Actions", "No stars"), "0", on_page=True),
    ActionName.RATE_1: Entry(QT_TRANSLATE_NOOP("Actions", "1 star"), "1", on_page=True),
    ActionName.RATE_2: Entry(QT_TRANSLATE_NOOP("Actions", "2 stars"), "2", on_page=True),
    ActionName.RATE_3: Entry(QT_TRANSLATE_NOOP("Actions", "3 stars"), "3", on_page=True),
    ActionName.RATE_4: Entry(QT_TRANSLATE_NOOP("Actions", "4 stars"), "4", on_page=True),
    ActionName.RATE_5: Entry(QT_TRANSLATE_NOOP("Actions", "5 stars"), "5", on_page=True),
    ActionName.COMPARE: Entry(QT_TRANSLATE_NOOP("Actions", "Compare"), "C", on_page=True),
    ActionName.TRASH_REJECTED: Entry(
        QT_TRANSLATE_NOOP("Actions", "Move all rejected to the trash"), "Ctrl+Alt+X", on_page=True
    ),
    ActionName.FIND: Entry(QT_TRANSLATE_NOOP("Actions", "Search"), "Ctrl+F", on_page=True),
    ActionName.READ_FOLDERS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Read the folders again"), "F5", on_page=True
    ),
    ActionName.GALLERY_FOLDERS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Folders of pictures"), "F", on_page=True
    ),
    ActionName.LARGER_TILES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Larger thumbnails"), "+", on_page=True
    ),
    ActionName.SMALLER_TILES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Smaller thumbnails"), "-", on_page=True
    ),
    ActionName.FULL_SCREEN: Entry(
        QT_TRANSLATE_NOOP("Actions", "Full screen"), "F11", on_page=True, on_mac="Ctrl+Alt+Y"
    ),
    ActionName.ZOOM_IN: Entry(QT_TRANSLATE_NOOP("Actions", "Zoom in"), "Ctrl++"),
    ActionName.ZOOM_OUT: Entry(QT_TRANSLATE_NOOP("Actions", "Zoom out"), "Ctrl+-"),
    ActionName.ZOOM_FIT: Entry(QT_TRANSLATE_NOOP("Actions", "Fit into the window"), "Ctrl+0"),
    ActionName.ZOOM_ACTUAL: Entry(QT_TRANSLATE_NOOP("Actions", "Show at 100 %"), "Ctrl+Alt+0"),
    ActionName.DETAILS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Show how the picture was made"), "Ctrl+Shift+I"
    ),
    ActionName.COMPARE_START: Entry(
        QT_TRANSLATE_NOOP("Actions", "Compare with the start picture"), "Ctrl+Shift+B"
    ),
    ActionName.PAINT: Entry(
        QT_TRANSLATE_NOOP("Actions", "Redraw a part (mask)"), "Ctrl+M", on_mac="Ctrl+Shift+K"
    ),
    ActionName.BRUSH: Entry(QT_TRANSLATE_NOOP("Actions", "Brush"), "B", on_canvas=True),
    ActionName.ERASER: Entry(QT_TRANSLATE_NOOP("Actions", "Eraser"), "E", on_canvas=True),
    ActionName.LASSO: Entry(QT_TRANSLATE_NOOP("Actions", "Lasso"), "L", on_canvas=True),
    ActionName.GROW: Entry(QT_TRANSLATE_NOOP("Actions", "Grow the canvas"), "G", on_canvas=True),
    ActionName.SMALLER_BRUSH: Entry(
        QT_TRANSLATE_NOOP("Actions", "Smaller brush"), "[", on_canvas=True
    ),
    ActionName.LARGER_BRUSH: Entry(
        QT_TRANSLATE_NOOP("Actions", "Larger brush"), "]", on_canvas=True
    ),
    ActionName.UNDO_STROKE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Undo the stroke"), "Ctrl+Z", on_canvas=True
    ),
    ActionName.REDO_STROKE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Redo the stroke"), "Ctrl+Shift+Z", on_canvas=True
    ),
    ActionName.INVERT_MASK: Entry(
        QT_TRANSLATE_NOOP("Actions", "Invert the mask"), "I", on_canvas=True
    ),
    ActionName.CLEAR_MASK: Entry(
        QT_TRANSLATE_NOOP("Actions", "Clear the mask"), "Ctrl+Backspace", on_canvas=True
    ),
    ActionName.VEIL_COLOUR: Entry(
        QT_TRANSLATE_NOOP("Actions", "Next colour of the mask"), "V", on_canvas=True
    ),
    ActionName.RUNTIMES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Runtimes…"), "Ctrl+R", everywhere=True
    ),
    ActionName.DEVICES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Devices…"), "Ctrl+Shift+R", everywhere=True
    ),
    ActionName.DOWNLOADS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Downloads…"), "Ctrl+J", everywhere=True
    ),
    ActionName.UPDATES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Check for updates…"), "Ctrl+Alt+U", everywhere=True
    ),
    ActionName.SHORTCUTS: Entry(QT_TRANSLATE_NOOP("Actions", "Keyboard shortcuts"), "F1"),
    ActionName.QUIT: Entry(QT_TRANSLATE_NOOP("Actions", "Quit"), "Ctrl+Q"),
}
# Actions that reuse a picture's settings, the most usual first.
REUSING = (
    ActionName.USE_SETTINGS,
    ActionName.USE_PROMPT,
    ActionName.USE_SEED,
    ActionName.USE_EVERYTHING,
)
# Actions by which a picture steers the next ones.
STEERING = (ActionName.START_FROM, ActionName.FOLLOW, ActionName.PROMPT_BY)
# Actions that work while the start picture is painted on.
PAINTING = (
    ActionName.BRUSH,
    ActionName.ERASER,
    ActionName.LASSO,
    ActionName.GROW,
    ActionName.SMALLER_BRUSH,
    ActionName.LARGER_BRUSH,
    ActionName.UNDO_STROKE,
    ActionName.REDO_STROKE,
    ActionName.INVERT_MASK,
    ActionName.CLEAR_MASK,
    ActionName.VEIL_COLOUR,
)
# Actions that go on while their keys are held; of the others one press is one deed.
_REPEATED = frozenset({
    ActionName.OLDER_PROMPT, ActionName.NEWER_PROMPT, ActionName.LARGER_TILES,
    ActionName.SMALLER_TILES, ActionName.ZOOM_IN, ActionName.ZOOM_OUT, ActionName.SMALLER_BRUSH,
    ActionName.LARGER_BRUSH, ActionName.UNDO_STROKE, ActionName.REDO_STROKE,
})  # fmt: skip
# Further keys of an action; + is typed with Shift or not.
_ALSO = {
    ActionName.SETTINGS: "Ctrl+,",
    ActionName.SHORTCUTS: "Ctrl+/",
    ActionName.ZOOM_IN: "Ctrl+=",
    ActionName.REDO_STROKE: "Ctrl+Y",
    # A field with a selection copies that.
    ActionName.COPY_PICTURE: "Ctrl+C",
}
# On a Mac ⌘Y is for what was earlier, and Del is a key of large keyboards alone.
_ALSO_ON_MAC = _ALSO | {ActionName.REDO_STROKE: "", ActionName.TRASH: "Del"}
# Actions that a Mac has in the menu of the application itself.
_ROLES = {
    ActionName.SETTINGS: QAction.MenuRole.PreferencesRole,
    ActionName.QUIT: QAction.MenuRole.QuitRole,
}
# The actions that give stars, by their number.
RATING = tuple(ActionName(f"rate_{stars}") for stars in range(6))


class Actions(QObject):
    """The window's actions by name; no two have the same key, and the user may choose others."""

    # The keys of some actions are others now.
    keys_changed = Signal()

    def __init__(self, window: QWidget, chosen: Mapping[str, str] = MappingProxyType({})) -> None:
        """Make the actions; `chosen` are keys as for `use_keys`."""
        super().__init__(window)
        self._actions = {name: self._make(name, entry) for name, entry in _ENTRIES.items()}
        self._chosen = dict(chosen)
        # Titles of menus by the keys that open them.
        self._menus: dict[str, str] = {}
        self._set_keys()
        for name, action in self._actions.items():
            if _ENTRIES[name].place is None:
                window.addAction(action)

    def __getitem__(self, name: ActionName) -> QAction:
        return self._actions[name]

    def all(self) -> tuple[QAction, ...]:
        """Every action."""
        return tuple(self._actions.values())

    def key(self, name: ActionName) -> str:
        """The action's shortcut as text in the system's notation; empty if it has none."""
        return shown_key(self[name].shortcut())

    def use_keys(self, chosen: Mapping[str, str]) -> None:
        """Use other keys than the usual ones: portable texts by an action's name, "" for none.

        A key that another action or a menu has, that pastes, or that is none, is passed over; so
        is an unknown name.
        """
        if chosen != self._chosen:
            self._chosen = dict(chosen)
            self._set_keys()
            self.keys_changed.emit()

    def leave_to_menus(self, titles: Sequence[str]) -> None:
        """Leave the keys that open menus to them: those of the letters after & in their titles."""
        keys = {portable(QKeySequence.mnemonic(title)): title.replace("&", "") for title in titles}
        self._menus = {key: title for key, title in keys.items() if key}
        if any(portable(QKeySequence(key)) in self._menus for key in self._chosen.values()):
            self._set_keys()

    def opened_by(self, key: QKeySequence) -> str:
        """Return the title of the menu that a key opens; empty if it opens none."""
        return self._menus.get(portable(key), "")

    def owner(self, key: QKeySequence, wanting: ActionName) -> ActionName | None:
        """Return the action that has this key where `wanting` would work; None if it is free."""
        text = portable(key)
        for name, action in self._actions.items():
            if meet(name, wanting) and text in map(portable, action.shortcuts()):
                return name
        return None

    def _set_keys(self) -> None:
        taken: dict[str, list[ActionName]] = {}
        # What the user chose comes first: a usual key gives way to it.
        for name in sorted(self._actions, key=lambda name: name not in self._chosen):
            chosen = self._chosen.get(name)
            wanted = usual_keys(name) if chosen is None else (QKeySequence(chosen),)
            keys: list[str] = []
            for key in map(portable, filter(is_key, wanted)):
                is_free = key not in self._menus and not pastes(QKeySequence(key))
                if is_free and not any(meet(name, other) for other in taken.get(key, ())):
                    keys.append(key)
                    taken.setdefault(key, []).append(name)
            self[name].setShortcuts([same for key in keys for same in with_keypad(key)])

    def _make(self, name: ActionName, entry: Entry) -> QAction:
        action = QAction(QCoreApplication.translate("Actions", str(entry.text)), self)
        action.setObjectName(name.value)
        action.setShortcutContext(entry.context)
        action.setAutoRepeat(name in _REPEATED)
        # Else Qt guesses by the words, which are translated.
        action.setMenuRole(_ROLES.get(name, QAction.MenuRole.NoRole))
        return action


def usual_keys(name: ActionName, system: str = sys.platform) -> tuple[QKeySequence, ...]:
    """Return the keys that an action has unless the user chose another, the shown one first."""
    entry, is_mac = _ENTRIES[name], system == "darwin"
    also = (_ALSO_ON_MAC if is_mac else _ALSO).get(name, "")
    texts = (entry.on_mac or entry.key if is_mac else entry.key, also)
    return tuple(QKeySequence(text) for text in texts if text)


def meet(name: ActionName, other: ActionName) -> bool:
    """Return True if there is a place where the keys of both actions work."""
    places = _ENTRIES[name].place, _ENTRIES[other].place
    return places[0] == places[1] or None in places


def takes_letters(name: ActionName) -> bool:
    """Return True for an action whose key works only where nothing is typed."""
    return _ENTRIES[name].place is not None
