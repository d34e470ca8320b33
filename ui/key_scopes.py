"""The parts of the windows in which keys work, and which of them can have the focus at once."""

from enum import Flag, auto

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt


class Scope(Flag):
    """The places of the focus in which a key works.

    The first ones are places that exclude each other, the others are unions of them: two scopes
    with a place in common cannot have the same key.
    """

    PROMPT = auto()
    # The canvas with a picture, and with the start picture that is painted on.
    CANVAS = auto()
    MASK = auto()
    STRIP = auto()
    FORM = auto()
    DOCK = auto()
    QUEUE = auto()
    THUMBNAILS = auto()
    VIEWER = auto()
    COMPARISON = auto()
    GALLERY_BESIDE = auto()
    MODELS = auto()
    SETTINGS = auto()
    ELSEWHERE = auto()
    # Windows of their own.
    CARDS = auto()
    EARLIER = auto()
    PRESETS = auto()
    FILES = auto()
    BESIDE = auto()

    CREATE = PROMPT | CANVAS | MASK | STRIP | FORM | DOCK
    FORM_AND_DOCK = FORM | DOCK
    GALLERY = THUMBNAILS | VIEWER | COMPARISON | GALLERY_BESIDE
    # Lists of pictures, and one of their pictures alone.
    PICTURES = CANVAS | STRIP | THUMBNAILS | VIEWER
    VIEWS = CANVAS | MASK | VIEWER | COMPARISON
    SEARCHED = GALLERY | MODELS | SETTINGS | FILES
    WINDOW = CREATE | GALLERY | QUEUE | MODELS | SETTINGS | ELSEWHERE
    ANYWHERE = WINDOW | CARDS | EARLIER | PRESETS | FILES | BESIDE

    @property
    def context(self) -> Qt.ShortcutContext:
        """The scope for Qt, of an action that the widgets of the scope have."""
        contexts = Qt.ShortcutContext
        given = {
            Scope.ANYWHERE: contexts.ApplicationShortcut,
            Scope.WINDOW: contexts.WindowShortcut,
            Scope.PICTURES: contexts.WidgetShortcut,
        }
        return given.get(self, contexts.WidgetWithChildrenShortcut)

    @property
    def is_part(self) -> bool:
        """True for a part of a window, False for a whole one or all."""
        return self not in (Scope.WINDOW, Scope.ANYWHERE)

    @property
    def takes_letters(self) -> bool:
        """True where a letter alone can be a key: text is typed in fields only, which keep it."""
        return self in _LETTERED

    @property
    def words(self) -> str:
        """The scope in the user's language."""
        return QCoreApplication.translate("Scopes", str(_WORDS[self]))


_LETTERED = frozenset({
    Scope.CANVAS, Scope.MASK, Scope.QUEUE, Scope.THUMBNAILS, Scope.VIEWER, Scope.GALLERY,
    Scope.PICTURES, Scope.VIEWS, Scope.SEARCHED, Scope.MODELS, Scope.COMPARISON,
})  # fmt: skip
# The scopes that keys have, in the order in which they are listed.
_WORDS = {
    Scope.WINDOW: QT_TRANSLATE_NOOP("Scopes", "In the whole window"),
    Scope.ANYWHERE: QT_TRANSLATE_NOOP("Scopes", "In every window"),
    Scope.CREATE: QT_TRANSLATE_NOOP("Scopes", "In Create"),
    Scope.FORM_AND_DOCK: QT_TRANSLATE_NOOP("Scopes", "In the form"),
    Scope.PROMPT: QT_TRANSLATE_NOOP("Scopes", "In a prompt"),
    Scope.PICTURES: QT_TRANSLATE_NOOP("Scopes", "On pictures"),
    Scope.VIEWS: QT_TRANSLATE_NOOP("Scopes", "In a picture that is shown large"),
    Scope.CANVAS: QT_TRANSLATE_NOOP("Scopes", "On the canvas"),
    Scope.MASK: QT_TRANSLATE_NOOP("Scopes", "While a mask is painted"),
    Scope.QUEUE: QT_TRANSLATE_NOOP("Scopes", "In the queue"),
    Scope.GALLERY: QT_TRANSLATE_NOOP("Scopes", "In the gallery"),
    Scope.THUMBNAILS: QT_TRANSLATE_NOOP("Scopes", "Among the gallery's thumbnails"),
    Scope.VIEWER: QT_TRANSLATE_NOOP("Scopes", "In the gallery's viewer"),
    Scope.COMPARISON: QT_TRANSLATE_NOOP("Scopes", "Among compared pictures"),
    Scope.SEARCHED: QT_TRANSLATE_NOOP("Scopes", "Where there is a search"),
    Scope.MODELS: QT_TRANSLATE_NOOP("Scopes", "Among your models"),
    Scope.CARDS: QT_TRANSLATE_NOOP("Scopes", "Among LoRAs and embeddings"),
    Scope.EARLIER: QT_TRANSLATE_NOOP("Scopes", "Among earlier prompts"),
    Scope.PRESETS: QT_TRANSLATE_NOOP("Scopes", "Among presets"),
    Scope.FILES: QT_TRANSLATE_NOOP("Scopes", "In questions for files"),
}
# The scopes in the order of the list of keys.
LISTED = tuple(_WORDS)
