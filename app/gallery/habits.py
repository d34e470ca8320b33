"""The Gallery's view, kept in a file: the size of thumbnails, panes, recent searches."""

from pathlib import Path

import msgspec

from app.gallery.query import GalleryQuery
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
    # The latest first, without folder and order; a text stands for its words alone.
    searches: tuple[GalleryQuery | str, ...] = ()

    @property
    def recent(self) -> tuple[GalleryQuery, ...]:
        """The searches as queries, the latest first."""
        return tuple(
            GalleryQuery(words=search) if isinstance(search, str) else search
            for search in self.searches
        )


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

    def keep_search(self, query: GalleryQuery, before: GalleryQuery | None = None) -> None:
        """Keep a search as the latest one, in place of the one `before` that it goes on from."""
        query, before = _bare(query), before and _bare(before)
        if query == GalleryQuery():
            return
        others = (search for search in self._habits.recent if search not in (query, before))
        searches = (query, *others)[:_MOST_SEARCHES]
        self.keep(msgspec.structs.replace(self._habits, searches=searches))


def _bare(query: GalleryQuery) -> GalleryQuery:
    """Return a query as it is kept: with words in one form, in any folder, in the usual order."""
    usual = GalleryQuery()
    return msgspec.structs.replace(
        query,
        words=" ".join(query.words.split()),
        folder=usual.folder,
        with_subfolders=usual.with_subfolders,
        order=usual.order,
    )
