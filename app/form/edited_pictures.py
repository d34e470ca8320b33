"""The pictures that the form names, and which of them other programs have changed in place."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Background
from app.form.generation import GenerationState
from app.form.masks import KEPT_NAME

# A program may still be writing what it has begun to change: it is looked at again after so long.
_UNSETTLED_MS = 3000
# The latest pictures that are known.
_MOST = 1000
_NAMING = frozenset({"inputs", "controls", "image_prompts"})
# A file's time of change in ns and its size in bytes; None for one that is not there.
_Stamp = tuple[int, int] | None


class EditedPictures(QObject):
    """Looks at the form's pictures when they are named, and whenever the window is used again.

    Whoever keeps what a picture looks like keeps it with the picture's edition.
    """

    # The paths of pictures that are others than before.
    changed = Signal(object)

    def __init__(
        self, form: GenerationState, background: Background, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._form, self._background = form, background
        self._stamps: dict[str, _Stamp] = {}
        self._editions: dict[str, int] = {}
        self._unsettled = QTimer(self, singleShot=True, interval=_UNSETTLED_MS)
        self._unsettled.timeout.connect(self.look_again)
        form.changed.connect(self._on_form)
        self.look_again()

    def edition(self, path: str) -> int:
        """Return how often a picture was found to be changed."""
        return self._editions.get(path, 0)

    def is_known(self, path: str) -> bool:
        """Return True for a picture whose changes are noticed from now on."""
        return path in self._stamps

    def look_again(self) -> None:
        """Look at the form's pictures, on another thread."""
        paths = frozenset(filter(_may_change, _named(self._form)))
        if paths:
            self._background.look(lambda: _stamps(paths), self._take)

    def _on_form(self, names: frozenset[str]) -> None:
        if names & _NAMING:
            self.look_again()

    def _take(self, stamps: Mapping[str, _Stamp]) -> None:
        edited = frozenset(
            path
            for path, stamp in stamps.items()
            if path in self._stamps and self._stamps[path] != stamp
        )
        self._stamps |= stamps
        for earlier in tuple(self._stamps)[:-_MOST]:
            del self._stamps[earlier]
        if not edited:
            return
        for path in edited:
            self._editions[path] = self.edition(path) + 1
        self.changed.emit(edited)
        self._unsettled.start()


def _named(form: GenerationState) -> Iterator[str]:
    """Yield the paths of all pictures that a form names; some may be empty."""
    for image in form.inputs:
        yield image.path
    for layer in form.controls:
        yield from (layer.image, layer.mask or "")
    for prompt in form.image_prompts:
        yield from (prompt.image, *prompt.further, prompt.mask or "")


def _may_change(path: str) -> bool:
    """Return False for no path, and for files of ours, which are named after their content."""
    return bool(path) and re.fullmatch(KEPT_NAME, Path(path).name) is None


def _stamps(paths: Iterable[str]) -> dict[str, _Stamp]:
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> _Stamp:
    try:
        facts = os.stat(path)  # noqa: PTH116 (a Path with a null character is none)
    except (OSError, ValueError):
        return None
    return facts.st_mtime_ns, facts.st_size
