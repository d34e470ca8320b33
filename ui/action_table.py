"""The one table of keys: what each does, its words, and where it works."""

import sys

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence

from ui.action_entry import Entry
from ui.action_names import ActionName
from ui.key_scopes import Scope

# Actions that the window has one of: buttons and menus have them, too.
_SHARED = {
    ActionName.CREATE: Entry(QT_TRANSLATE_NOOP("Actions", "Go to Create"), "Ctrl+1"),
    ActionName.GALLERY: Entry(QT_TRANSLATE_NOOP("Actions", "Go to the gallery"), "Ctrl+2"),
    ActionName.MODELS: Entry(QT_TRANSLATE_NOOP("Actions", "Go to the models"), "Ctrl+3"),
    ActionName.SETTINGS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Go to the settings"), "Ctrl+4", also=("Ctrl+,",)
    ),
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
    ActionName.UNDO_IN_FORM: Entry(
        QT_TRANSLATE_NOOP("Actions", "Undo in the form"),
        "Ctrl+Z",
        Scope.FORM_AND_DOCK,
        repeats=True,
    ),
    ActionName.REDO_IN_FORM: Entry(
        QT_TRANSLATE_NOOP("Actions", "Redo in the form"),
        "Ctrl+Shift+Z",
        Scope.FORM_AND_DOCK,
        also=("Ctrl+Y",),
        also_on_mac=(),
        repeats=True,
    ),
    ActionName.OPEN: Entry(QT_TRANSLATE_NOOP("Actions", "Open a model or a picture…"), "Ctrl+O"),
    ActionName.OPEN_START: Entry(
        QT_TRANSLATE_NOOP("Actions", "Start from a picture…"), "Ctrl+Shift+O"
    ),
    ActionName.EDIT_PROMPT: Entry(QT_TRANSLATE_NOOP("Actions", "Edit the prompt"), "Ctrl+E"),
    ActionName.OLDER_PROMPT: Entry(
        QT_TRANSLATE_NOOP("Actions", "The prompt before"), "Alt+Up", Scope.CREATE, repeats=True
    ),
    ActionName.NEWER_PROMPT: Entry(
        QT_TRANSLATE_NOOP("Actions", "The prompt after"), "Alt+Down", Scope.CREATE, repeats=True
    ),
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
    ActionName.COPY_PICTURE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Copy picture"), "Ctrl+Shift+C", also=("Ctrl+C",)
    ),
    ActionName.COPY_PATH: Entry(QT_TRANSLATE_NOOP("Actions", "Copy path"), "Ctrl+Alt+C"),
    ActionName.REVEAL: Entry(QT_TRANSLATE_NOOP("Actions", "Show in file manager"), "Ctrl+Shift+F"),
    ActionName.TRASH: Entry(
        QT_TRANSLATE_NOOP("Actions", "Move to trash"),
        "Del",
        Scope.PICTURES,
        on_mac="Ctrl+Backspace",
        also_on_mac=("Del",),
    ),
    ActionName.COPY_SETTINGS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Copy settings as text"), "Ctrl+Alt+S", Scope.GALLERY
    ),
    ActionName.FAVOURITE: Entry(QT_TRANSLATE_NOOP("Actions", "Favourite"), "P", Scope.GALLERY),
    ActionName.REJECT: Entry(QT_TRANSLATE_NOOP("Actions", "Reject"), "X", Scope.GALLERY),
    ActionName.RATE_0: Entry(QT_TRANSLATE_NOOP("Actions", "No stars"), "0", Scope.GALLERY),
    ActionName.RATE_1: Entry(QT_TRANSLATE_NOOP("Actions", "1 star"), "1", Scope.GALLERY),
    ActionName.RATE_2: Entry(QT_TRANSLATE_NOOP("Actions", "2 stars"), "2", Scope.GALLERY),
    ActionName.RATE_3: Entry(QT_TRANSLATE_NOOP("Actions", "3 stars"), "3", Scope.GALLERY),
    ActionName.RATE_4: Entry(QT_TRANSLATE_NOOP("Actions", "4 stars"), "4", Scope.GALLERY),
    ActionName.RATE_5: Entry(QT_TRANSLATE_NOOP("Actions", "5 stars"), "5", Scope.GALLERY),
    ActionName.COMPARE: Entry(QT_TRANSLATE_NOOP("Actions", "Compare"), "C", Scope.GALLERY),
    ActionName.TRASH_REJECTED: Entry(
        QT_TRANSLATE_NOOP("Actions", "Move all rejected to the trash"), "Ctrl+Alt+X", Scope.GALLERY
    ),
    ActionName.FIND: Entry(QT_TRANSLATE_NOOP("Actions", "Search"), "Ctrl+F", Scope.SEARCHED),
    ActionName.READ_FOLDERS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Read the folders again"), "F5", Scope.GALLERY
    ),
    ActionName.GALLERY_FOLDERS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Folders of pictures"), "F", Scope.GALLERY
    ),
    ActionName.LARGER_TILES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Larger thumbnails"), "+", Scope.THUMBNAILS, repeats=True
    ),
    ActionName.SMALLER_TILES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Smaller thumbnails"), "-", Scope.THUMBNAILS, repeats=True
    ),
    ActionName.FULL_SCREEN: Entry(
        QT_TRANSLATE_NOOP("Actions", "Full screen"), "F11", Scope.GALLERY, on_mac="Ctrl+Alt+Y"
    ),
    ActionName.ZOOM_IN: Entry(
        QT_TRANSLATE_NOOP("Actions", "Zoom in"), "Ctrl++", also=("Ctrl+=",), repeats=True
    ),
    ActionName.ZOOM_OUT: Entry(QT_TRANSLATE_NOOP("Actions", "Zoom out"), "Ctrl+-", repeats=True),
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
    ActionName.BRUSH: Entry(QT_TRANSLATE_NOOP("Actions", "Brush"), "B", Scope.MASK),
    ActionName.ERASER: Entry(QT_TRANSLATE_NOOP("Actions", "Eraser"), "E", Scope.MASK),
    ActionName.LASSO: Entry(QT_TRANSLATE_NOOP("Actions", "Lasso"), "L", Scope.MASK),
    ActionName.GROW: Entry(QT_TRANSLATE_NOOP("Actions", "Grow the canvas"), "G", Scope.MASK),
    ActionName.SMALLER_BRUSH: Entry(
        QT_TRANSLATE_NOOP("Actions", "Smaller brush"), "[", Scope.MASK, repeats=True
    ),
    ActionName.LARGER_BRUSH: Entry(
        QT_TRANSLATE_NOOP("Actions", "Larger brush"), "]", Scope.MASK, repeats=True
    ),
    ActionName.UNDO_STROKE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Undo the stroke"), "Ctrl+Z", Scope.MASK, repeats=True
    ),
    ActionName.REDO_STROKE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Redo the stroke"),
        "Ctrl+Shift+Z",
        Scope.MASK,
        also=("Ctrl+Y",),
        also_on_mac=(),
        repeats=True,
    ),
    ActionName.INVERT_MASK: Entry(QT_TRANSLATE_NOOP("Actions", "Invert the mask"), "I", Scope.MASK),
    ActionName.CLEAR_MASK: Entry(
        QT_TRANSLATE_NOOP("Actions", "Clear the mask"), "Ctrl+Backspace", Scope.MASK
    ),
    ActionName.VEIL_COLOUR: Entry(
        QT_TRANSLATE_NOOP("Actions", "Next colour of the mask"), "V", Scope.MASK
    ),
    ActionName.RUNTIMES: Entry(QT_TRANSLATE_NOOP("Actions", "Runtimes…"), "Ctrl+R", Scope.ANYWHERE),
    ActionName.DEVICES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Devices…"), "Ctrl+Shift+R", Scope.ANYWHERE
    ),
    ActionName.DOWNLOADS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Downloads…"), "Ctrl+J", Scope.ANYWHERE
    ),
    ActionName.MESSAGES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Earlier messages…"), "Ctrl+Shift+J", Scope.ANYWHERE
    ),
    ActionName.UPDATES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Check for updates…"), "Ctrl+Alt+U", Scope.ANYWHERE
    ),
    ActionName.SHORTCUTS: Entry(
        QT_TRANSLATE_NOOP("Actions", "Keyboard shortcuts"), "F1", also=("Ctrl+/",)
    ),
    ActionName.QUIT: Entry(QT_TRANSLATE_NOOP("Actions", "Quit"), "Ctrl+Q"),
}
# What widgets bind to keys for themselves, by `bind_key`.
_BOUND = {
    ActionName.HEAVIER: Entry(
        QT_TRANSLATE_NOOP("Actions", "More weight"), "Ctrl+Up", Scope.PROMPT, repeats=True
    ),
    ActionName.LIGHTER: Entry(
        QT_TRANSLATE_NOOP("Actions", "Less weight"), "Ctrl+Down", Scope.PROMPT, repeats=True
    ),
    ActionName.A_LITTLE_HEAVIER: Entry(
        QT_TRANSLATE_NOOP("Actions", "A little more weight"),
        "Ctrl+Shift+Up",
        Scope.PROMPT,
        repeats=True,
    ),
    ActionName.A_LITTLE_LIGHTER: Entry(
        QT_TRANSLATE_NOOP("Actions", "A little less weight"),
        "Ctrl+Shift+Down",
        Scope.PROMPT,
        repeats=True,
    ),
    ActionName.CLOSER: Entry(
        QT_TRANSLATE_NOOP("Actions", "Zoom in"), "+", Scope.VIEWS, also=("=",), repeats=True
    ),
    ActionName.FARTHER: Entry(
        QT_TRANSLATE_NOOP("Actions", "Zoom out"), "-", Scope.VIEWS, repeats=True
    ),
    ActionName.HOLD_START: Entry(
        QT_TRANSLATE_NOOP("Actions", "The start picture, while held"), "B", Scope.CANVAS
    ),
    ActionName.HOLD_NEXT: Entry(
        QT_TRANSLATE_NOOP("Actions", "The next picture in the same place, while held"),
        "B",
        Scope.COMPARISON,
    ),
    ActionName.DIVIDE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Large, with the next picture beside a divider"),
        "D",
        Scope.COMPARISON,
    ),
    ActionName.HOLD_TO_MOVE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Move the picture by the mouse, while held"),
        "Space",
        Scope.MASK,
    ),
    ActionName.MAKE_NEXT: Entry(
        QT_TRANSLATE_NOOP("Actions", "Make it next"), "Alt+Home", Scope.QUEUE
    ),
    ActionName.MAKE_EARLIER: Entry(
        QT_TRANSLATE_NOOP("Actions", "Make it earlier"), "Alt+Up", Scope.QUEUE, repeats=True
    ),
    ActionName.MAKE_LATER: Entry(
        QT_TRANSLATE_NOOP("Actions", "Make it later"), "Alt+Down", Scope.QUEUE, repeats=True
    ),
    ActionName.DUPLICATE_JOB: Entry(QT_TRANSLATE_NOOP("Actions", "Duplicate"), "D", Scope.QUEUE),
    ActionName.EDIT_JOB: Entry(QT_TRANSLATE_NOOP("Actions", "Edit in the form"), "E", Scope.QUEUE),
    ActionName.RETRY_JOB: Entry(QT_TRANSLATE_NOOP("Actions", "Try again"), "R", Scope.QUEUE),
    ActionName.REMOVE_JOB: Entry(
        QT_TRANSLATE_NOOP("Actions", "Remove"),
        "Del",
        Scope.QUEUE,
        on_mac="Backspace",
        also_on_mac=("Del",),
        repeats=True,
    ),
    ActionName.UNDO_IN_GALLERY: Entry(
        QT_TRANSLATE_NOOP("Actions", "Undo the last change"), "Ctrl+Z", Scope.GALLERY
    ),
    ActionName.SHOW_LARGE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Show it large"), "Return", Scope.THUMBNAILS, also=("Space",)
    ),
    ActionName.PICTURE_BEFORE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Picture before"),
        "Left",
        Scope.VIEWER,
        also=("Up", "PgUp", "Backspace"),
        repeats=True,
    ),
    ActionName.PICTURE_AFTER: Entry(
        QT_TRANSLATE_NOOP("Actions", "Picture after"),
        "Right",
        Scope.VIEWER,
        also=("Down", "PgDown"),
        repeats=True,
    ),
    ActionName.FIRST_PICTURE: Entry(
        QT_TRANSLATE_NOOP("Actions", "First picture"), "Home", Scope.VIEWER
    ),
    ActionName.LAST_PICTURE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Last picture"), "End", Scope.VIEWER
    ),
    ActionName.ALL_PICTURES: Entry(
        QT_TRANSLATE_NOOP("Actions", "Back to all pictures"),
        "Return",
        Scope.VIEWER,
        also=("Space",),
    ),
    ActionName.TRASH_MODEL: Entry(
        QT_TRANSLATE_NOOP("Actions", "Move to trash"),
        "Del",
        Scope.MODELS,
        on_mac="Backspace",
        also_on_mac=("Del",),
    ),
    ActionName.USE_CARD: Entry(
        QT_TRANSLATE_NOOP("Actions", "Use, or use no longer"), "Space", Scope.CARDS
    ),
    ActionName.USE_EARLIER: Entry(QT_TRANSLATE_NOOP("Actions", "Use"), "Return", Scope.EARLIER),
    ActionName.FORGET_EARLIER: Entry(
        QT_TRANSLATE_NOOP("Actions", "Forget"),
        "Del",
        Scope.EARLIER,
        on_mac="Backspace",
        also_on_mac=("Del",),
    ),
    ActionName.RENAME_PRESET: Entry(QT_TRANSLATE_NOOP("Actions", "Rename"), "F2", Scope.PRESETS),
    ActionName.REMOVE_PRESET: Entry(
        QT_TRANSLATE_NOOP("Actions", "Remove"),
        "Del",
        Scope.PRESETS,
        on_mac="Backspace",
        also_on_mac=("Del",),
    ),
    ActionName.PRESET_EARLIER: Entry(
        QT_TRANSLATE_NOOP("Actions", "Further up"), "Alt+Up", Scope.PRESETS, repeats=True
    ),
    ActionName.PRESET_LATER: Entry(
        QT_TRANSLATE_NOOP("Actions", "Further down"), "Alt+Down", Scope.PRESETS, repeats=True
    ),
    ActionName.FOLDER_ABOVE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Folder above"),
        "Alt+Up",
        Scope.FILES,
        also=("Backspace",),
        repeats=True,
    ),
    ActionName.FOLDER_BEFORE: Entry(
        QT_TRANSLATE_NOOP("Actions", "Folder before"), "Alt+Left", Scope.FILES, repeats=True
    ),
    ActionName.LIST_AGAIN: Entry(
        QT_TRANSLATE_NOOP("Actions", "List the folder again"), "F5", Scope.FILES
    ),
    ActionName.EDIT_PATH: Entry(QT_TRANSLATE_NOOP("Actions", "Type a path"), "Ctrl+L", Scope.FILES),
}
_ENTRIES = _SHARED | _BOUND
SHARED = tuple(_SHARED)
_MIRRORED = {"Left": "Right", "Right": "Left"}


def entry_of(name: ActionName) -> Entry:
    """Return the row of an action."""
    return _ENTRIES[name]


def text_of(name: ActionName) -> str:
    """Return the words of an action in the user's language."""
    return QCoreApplication.translate("Actions", str(_ENTRIES[name].text))


def usual_keys(name: ActionName, system: str = sys.platform) -> tuple[QKeySequence, ...]:
    """Return the keys that an action has unless the user chose another, the shown one first."""
    entry = _ENTRIES[name]
    texts = (entry.key, *entry.also)
    if system == "darwin":
        also = entry.also if entry.also_on_mac is None else entry.also_on_mac
        texts = (entry.on_mac or entry.key, *also)
    if QGuiApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        texts = tuple(_MIRRORED.get(text, text) for text in texts)
    return tuple(QKeySequence(text) for text in texts)


def meet(name: ActionName, other: ActionName) -> bool:
    """Return True if there is a place where the keys of both actions work."""
    return bool(_ENTRIES[name].scope & _ENTRIES[other].scope)
