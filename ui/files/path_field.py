"""The field for a path: folders and files that complete what is typed are offered below it."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent

from app.background import Background
from app.form.completions import Completion, NameKind
from app.library.folder_entries import list_names
from ui.escape_key import is_escape_wanted
from ui.picture_facts import seen
from ui.theme.theme import Theme
from ui.widgets.completion_list import CompletionList
from ui.widgets.line_field import LineField

_MOST = 50
_UP_AND_DOWN = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class PathField(LineField):
    """A field for a path, whose names Tab completes: the first that fits, or a chosen one.

    Enter takes a name only after the arrow keys have chosen it, so that it goes to a path that is
    typed in whole.
    """

    def __init__(
        self, theme: Theme, folder: Callable[[], Path], patterns: Callable[[], Sequence[str]]
    ) -> None:
        """`folder` returns where a relative path begins, `patterns` those of files to offer."""
        super().__init__()
        self._theme, self._folder, self._patterns = theme, folder, patterns
        self._background = Background(2, self)
        self._chose_by_keys = False
        # Made when names are first offered: a child of the window, above its other widgets.
        self.names: CompletionList | None = None
        self.textEdited.connect(self._look)

    def stop(self) -> None:
        """Offer no more; wait for what is being read."""
        self._hide_names()
        self._background.close()

    def event(self, e: QEvent) -> bool:
        """Keep Esc from the dialog while names are offered, and let their list have its keys."""
        if is_escape_wanted(e) and self._is_offering:
            e.accept()
            return True
        # Tab does not reach `keyPressEvent` as it leaves the field.
        if e.type() is QEvent.Type.KeyPress and isinstance(e, QKeyEvent) and self._takes(e):
            return True
        return super().event(e)

    def focusOutEvent(self, arg__1: QFocusEvent) -> None:  # noqa: N802 (Qt's name)
        """Hide the names when typing goes elsewhere."""
        super().focusOutEvent(arg__1)
        self._hide_names()

    @property
    def _is_offering(self) -> bool:
        return self.names is not None and self.names.isVisible()

    def _takes(self, event: QKeyEvent) -> bool:
        """Let the list of names have a key; return True if it is for the list."""
        names, key = self.names, Qt.Key(event.key())
        if names is None or not self._is_offering:
            return False
        if (rows := _UP_AND_DOWN.get(key)) is not None:
            # The first is highlighted for Tab: the first press chooses it.
            if self._chose_by_keys or rows < 0:
                names.move_by(rows)
            self._chose_by_keys = True
            return True
        if key is Qt.Key.Key_Escape:
            self._hide_names()
            return True
        is_taken = key is Qt.Key.Key_Tab or (key in _ENTER and self._chose_by_keys)
        if is_taken and names.current is not None:
            self._take(names.current)
            return True
        if key in _ENTER:
            self._hide_names()
        return False

    def _look(self, typed: str) -> None:
        """Find the names that complete a text."""
        beginning = os.path.basename(typed)  # noqa: PTH119 (the text stays as it was typed)
        before = typed[: len(typed) - len(beginning)]
        folder = self._folder() / os.path.expanduser(before)  # noqa: PTH111
        patterns = self._patterns()

        def read() -> tuple[str, tuple[tuple[str, bool], ...]]:
            return typed, list_names(folder, beginning, patterns, _MOST) if typed else ()

        self._background.look(read, self._offer)

    def _offer(self, found: tuple[str, tuple[tuple[str, bool], ...]]) -> None:
        typed, listed = found
        if typed != self.text() or not self.hasFocus():
            return
        before = typed[: len(typed) - len(os.path.basename(typed))]  # noqa: PTH119
        completions = [
            Completion(NameKind.FOLDER, seen(name), f"{before}{name}{os.sep}")
            if is_folder
            else Completion(NameKind.FILE, seen(name), before + name)
            for name, is_folder in listed
            if before + name != typed or is_folder
        ]
        if self.names is None:
            self.names = CompletionList(self._theme, self.window())
            self.names.chosen.connect(self._take)
        self._chose_by_keys = False
        self.names.offer(completions, self._place(before))

    def _place(self, before: str) -> QRect:
        """Return the rectangle, in the window, below which names stand: where theirs begins."""
        cursor = self.cursorRect()
        written = self.text()[: self.cursorPosition()]
        name = self.fontMetrics().horizontalAdvance(written[len(before) :])
        corner = self.mapTo(self.window(), QPoint(max(0, cursor.left() - name), 0))
        return QRect(corner, self.size())

    def _take(self, completion: Completion) -> None:
        self._hide_names()
        self.setText(completion.text)
        # The next names are those in the folder.
        self.textEdited.emit(completion.text)

    def _hide_names(self) -> None:
        if self.names is not None:
            self.names.hide()
