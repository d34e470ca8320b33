"""The words and keys of an action, and the part of the window in which the keys work."""

from dataclasses import dataclass

from PySide6.QtCore import Qt


@dataclass(frozen=True, slots=True)
class Entry:
    """The words, the keys and the place of an action."""

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
    # The key on a Mac where `key` is the system's there, or not on its keyboards. Ctrl is ⌘.
    on_mac: str = ""

    @property
    def place(self) -> str | None:
        """The part of the window where the key works; None for all of it."""
        places = {"strip": self.in_strip, "canvas": self.on_canvas, "page": self.on_page}
        return next((place for place, works in places.items() if works), None)

    @property
    def context(self) -> Qt.ShortcutContext:
        """The same for Qt."""
        if self.in_strip:
            return Qt.ShortcutContext.WidgetShortcut
        if self.on_canvas or self.on_page:
            return Qt.ShortcutContext.WidgetWithChildrenShortcut
        if self.everywhere:
            return Qt.ShortcutContext.ApplicationShortcut
        return Qt.ShortcutContext.WindowShortcut
