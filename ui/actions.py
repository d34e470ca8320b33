"""The window's actions and their keyboard shortcuts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

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


@dataclass(frozen=True, slots=True)
class _Entry:
    text: object
    key: str
    # Actions whose keys text fields need: the keys work in the strip and on the picture only.
    in_strip: bool = False
    # Keys without Ctrl or those of text fields: they work while the canvas has the focus.
    on_canvas: bool = False
    # Actions of one page: their keys, single letters among them, work nowhere else.
    on_page: bool = False
    # Actions that open windows beside the main one: their keys work in each of those, too.
    everywhere: bool = False


_ENTRIES = {
    ActionName.CREATE: _Entry(QT_TRANSLATE_NOOP("Actions", "Go to Create"), "Ctrl+1"),
    ActionName.GALLERY: _Entry(QT_TRANSLATE_NOOP("Actions", "Go to the gallery"), "Ctrl+2"),
    ActionName.MODELS: _Entry(QT_TRANSLATE_NOOP("Actions", "Go to the models"), "Ctrl+3"),
    ActionName.SETTINGS: _Entry(QT_TRANSLATE_NOOP("Actions", "Go to the settings"), "Ctrl+4"),
    ActionName.GENERATE: _Entry(QT_TRANSLATE_NOOP("Actions", "Generate"), "Ctrl+Return"),
    ActionName.GENERATE_FIRST: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Generate before all others"), "Ctrl+Shift+Return"
    ),
    ActionName.CANCEL: _Entry(QT_TRANSLATE_NOOP("Actions", "Cancel"), "Esc"),
    ActionName.CANCEL_ALL: _Entry(QT_TRANSLATE_NOOP("Actions", "Cancel all"), "Shift+Esc"),
    ActionName.QUEUE: _Entry(QT_TRANSLATE_NOOP("Actions", "Show the queue"), "Ctrl+Shift+Q"),
    ActionName.FOLD_SIDE: _Entry(QT_TRANSLATE_NOOP("Actions", "Fold the form away"), "Ctrl+B"),
    ActionName.UNDO_LATEST: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Undo the last change"), "Ctrl+Alt+Z"
    ),
    ActionName.OPEN: _Entry(QT_TRANSLATE_NOOP("Actions", "Open a model or a picture…"), "Ctrl+O"),
    ActionName.OPEN_START: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Start from a picture…"), "Ctrl+Shift+O"
    ),
    ActionName.EDIT_PROMPT: _Entry(QT_TRANSLATE_NOOP("Actions", "Edit the prompt"), "Ctrl+E"),
    ActionName.OLDER_PROMPT: _Entry(QT_TRANSLATE_NOOP("Actions", "The prompt before"), "Alt+Up"),
    ActionName.NEWER_PROMPT: _Entry(QT_TRANSLATE_NOOP("Actions", "The prompt after"), "Alt+Down"),
    ActionName.EARLIER_PROMPTS: _Entry(QT_TRANSLATE_NOOP("Actions", "Earlier prompts…"), "Ctrl+H"),
    ActionName.SAVE_PRESET: _Entry(QT_TRANSLATE_NOOP("Actions", "Save as a preset…"), "Ctrl+S"),
    ActionName.PRESETS: _Entry(QT_TRANSLATE_NOOP("Actions", "Presets…"), "Ctrl+Shift+S"),
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
    ActionName.FOLLOW: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Use as a control picture"), "Ctrl+Alt+F"
    ),
    ActionName.PROMPT_BY: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Use as an image prompt"), "Ctrl+Alt+P"
    ),
    ActionName.UPSCALE: _Entry(QT_TRANSLATE_NOOP("Actions", "Upscale…"), "Ctrl+Shift+L"),
    ActionName.SHOW_ORIGINAL: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Show the picture before it was upscaled"), "Ctrl+Alt+O"
    ),
    ActionName.COPY_PICTURE: _Entry(QT_TRANSLATE_NOOP("Actions", "Copy picture"), "Ctrl+Shift+C"),
    ActionName.COPY_PATH: _Entry(QT_TRANSLATE_NOOP("Actions", "Copy path"), "Ctrl+Alt+C"),
    ActionName.REVEAL: _Entry(QT_TRANSLATE_NOOP("Actions", "Show in file manager"), "Ctrl+Shift+F"),
    ActionName.TRASH: _Entry(QT_TRANSLATE_NOOP("Actions", "Move to trash"), "Del", in_strip=True),
    ActionName.COPY_SETTINGS: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Copy settings as text"), "Ctrl+Alt+S", on_page=True
    ),
    ActionName.FAVOURITE: _Entry(QT_TRANSLATE_NOOP("Actions", "Favourite"), "P", on_page=True),
    ActionName.REJECT: _Entry(QT_TRANSLATE_NOOP("Actions", "Reject"), "X", on_page=True),
    ActionName.RATE_0: _Entry(QT_TRANSLATE_NOOP("Actions", "No stars"), "0", on_page=True),
    ActionName.RATE_1: _Entry(QT_TRANSLATE_NOOP("Actions", "1 star"), "1", on_page=True),
    ActionName.RATE_2: _Entry(QT_TRANSLATE_NOOP("Actions", "2 stars"), "2", on_page=True),
    ActionName.RATE_3: _Entry(QT_TRANSLATE_NOOP("Actions", "3 stars"), "3", on_page=True),
    ActionName.RATE_4: _Entry(QT_TRANSLATE_NOOP("Actions", "4 stars"), "4", on_page=True),
    ActionName.RATE_5: _Entry(QT_TRANSLATE_NOOP("Actions", "5 stars"), "5", on_page=True),
    ActionName.COMPARE: _Entry(QT_TRANSLATE_NOOP("Actions", "Compare"), "C", on_page=True),
    ActionName.TRASH_REJECTED: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Move all rejected to the trash"), "Ctrl+Alt+X", on_page=True
    ),
    ActionName.FIND: _Entry(QT_TRANSLATE_NOOP("Actions", "Search"), "Ctrl+F", on_page=True),
    ActionName.READ_FOLDERS: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Read the folders again"), "F5", on_page=True
    ),
    ActionName.GALLERY_FOLDERS: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Folders of pictures"), "F", on_page=True
    ),
    ActionName.LARGER_TILES: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Larger thumbnails"), "+", on_page=True
    ),
    ActionName.SMALLER_TILES: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Smaller thumbnails"), "-", on_page=True
    ),
    ActionName.FULL_SCREEN: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Full screen"), "F11", on_page=True
    ),
    ActionName.ZOOM_IN: _Entry(QT_TRANSLATE_NOOP("Actions", "Zoom in"), "Ctrl++"),
    ActionName.ZOOM_OUT: _Entry(QT_TRANSLATE_NOOP("Actions", "Zoom out"), "Ctrl+-"),
    ActionName.ZOOM_FIT: _Entry(QT_TRANSLATE_NOOP("Actions", "Fit into the window"), "Ctrl+0"),
    ActionName.ZOOM_ACTUAL: _Entry(QT_TRANSLATE_NOOP("Actions", "Show at 100 %"), "Ctrl+Alt+0"),
    ActionName.DETAILS: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Show how the picture was made"), "Ctrl+Shift+I"
    ),
    ActionName.COMPARE_START: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Compare with the start picture"), "Ctrl+Shift+B"
    ),
    ActionName.PAINT: _Entry(QT_TRANSLATE_NOOP("Actions", "Redraw a part (mask)"), "Ctrl+M"),
    ActionName.BRUSH: _Entry(QT_TRANSLATE_NOOP("Actions", "Brush"), "B", on_canvas=True),
    ActionName.ERASER: _Entry(QT_TRANSLATE_NOOP("Actions", "Eraser"), "E", on_canvas=True),
    ActionName.LASSO: _Entry(QT_TRANSLATE_NOOP("Actions", "Lasso"), "L", on_canvas=True),
    ActionName.GROW: _Entry(QT_TRANSLATE_NOOP("Actions", "Grow the canvas"), "G", on_canvas=True),
    ActionName.SMALLER_BRUSH: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Smaller brush"), "[", on_canvas=True
    ),
    ActionName.LARGER_BRUSH: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Larger brush"), "]", on_canvas=True
    ),
    ActionName.UNDO_STROKE: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Undo the stroke"), "Ctrl+Z", on_canvas=True
    ),
    ActionName.REDO_STROKE: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Redo the stroke"), "Ctrl+Shift+Z", on_canvas=True
    ),
    ActionName.INVERT_MASK: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Invert the mask"), "I", on_canvas=True
    ),
    ActionName.CLEAR_MASK: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Clear the mask"), "Ctrl+Backspace", on_canvas=True
    ),
    ActionName.VEIL_COLOUR: _Entry(
        QT_TRANSLATE_NOOP("Actions", "Next colour of the mask"), "V", on_canvas=True
    ),
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
    ActionName.SHORTCUTS: _Entry(QT_TRANSLATE_NOOP("Actions", "Keyboard shortcuts"), "F1"),
    ActionName.QUIT: _Entry(QT_TRANSLATE_NOOP("Actions", "Quit"), "Ctrl+Q"),
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
            entry = _ENTRIES[name]
            if not (entry.in_strip or entry.on_canvas or entry.on_page):
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

    def _make(self, name: ActionName, entry: _Entry) -> QAction:
        action = QAction(QCoreApplication.translate("Actions", str(entry.text)), self)
        action.setObjectName(name.value)
        action.setShortcutContext(_context(entry))
        action.setAutoRepeat(name in _REPEATED)
        return action


def usual_keys(name: ActionName) -> tuple[QKeySequence, ...]:
    """Return the keys that an action has unless the user chose another, the shown one first."""
    texts = (_ENTRIES[name].key, _ALSO.get(name, ""))
    return tuple(QKeySequence(text) for text in texts if text)


def meet(name: ActionName, other: ActionName) -> bool:
    """Return True if there is a place where the keys of both actions work."""
    places = _place(_ENTRIES[name]), _place(_ENTRIES[other])
    return places[0] == places[1] or None in places


def takes_letters(name: ActionName) -> bool:
    """Return True for an action whose key works only where nothing is typed."""
    return _place(_ENTRIES[name]) is not None


def _place(entry: _Entry) -> str | None:
    """Return the part of the window where an action's key works; None for all of it."""
    places = {"strip": entry.in_strip, "canvas": entry.on_canvas, "page": entry.on_page}
    return next((place for place, works in places.items() if works), None)


def _context(entry: _Entry) -> Qt.ShortcutContext:
    if entry.in_strip:
        return Qt.ShortcutContext.WidgetShortcut
    if entry.on_canvas or entry.on_page:
        return Qt.ShortcutContext.WidgetWithChildrenShortcut
    if entry.everywhere:
        return Qt.ShortcutContext.ApplicationShortcut
    return Qt.ShortcutContext.WindowShortcut
