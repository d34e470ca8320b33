"""The Gallery's view, kept in a file: the size of thumbnails, panes, recent searches."""

from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from app.storage.kept_file import KeptFile
from engine.api.sentences import sentence
from engine.api.texts import encode_json

FILE = "gallery_view.json"
_MOST_BYTES = 1 << 20
_MOST_SEARCHES = 12
_USUAL_SIDE = 160


class Habits(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file. `side` is that of thumbnails, in device-independent pixels."""

    side: int = _USUAL_SIDE
    folders_shown: bool = True
    details_shown: bool = True
    # The latest first.
    searches: tuple[str, ...] = ()


_KIND = DocumentKind(
    msgspec.json.Decoder(Habits),
    _MOST_BYTES,
    damaged=sentence("What was kept of the Gallery's view cannot be read; it is as at first."),
)


class GalleryHabits:
    """Habits that are written at every change."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist. A file that cannot be read is put aside, as `problem` says."""
        content, self.problem = _KIND.read(folder / FILE)
        self._file = KeptFile(folder / FILE)
        self._habits = content or Habits()

    @property
    def habits(self) -> Habits:
        """The present habits."""
        return self._habits

    def keep(self, habits: Habits) -> None:
        """Keep other habits."""
        if habits == self._habits:
            return
        self._habits = habits
        self._file.write(encode_json(habits))

    def close(self) -> None:
        """Write what the disk did not take."""
        self._file.flush()

    def keep_search(self, words: str) -> None:
        """Keep a search as the latest one."""
        words = " ".join(words.split())
        if words:
            others = (search for search in self._habits.searches if search != words)
            searches = (words, *others)[:_MOST_SEARCHES]
            self.keep(msgspec.structs.replace(self._habits, searches=searches))
