"""The list of a dialog's files and folders."""

from PySide6.QtCore import Signal

from ui.widgets.card_view import CardView

# The signs that a path begins with, and hardly a name.
_BEGINNINGS = ("/", "~", "\\")


class FileList(CardView):
    """A list that is searched by typing; a path that is begun in it is told instead."""

    # Emits the sign that was typed.
    path_begun = Signal(str)

    def keyboardSearch(self, search: str) -> None:  # noqa: N802 (Qt's name)
        """Find the entry whose name begins with what is typed, unless it is a path."""
        if search in _BEGINNINGS:
            self.path_begun.emit(search)
        else:
            super().keyboardSearch(search)
