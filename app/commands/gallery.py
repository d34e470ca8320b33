"""Commands of the Gallery: mark pictures and move them to the trash, each to be undone."""

from collections.abc import Sequence

from PySide6.QtCore import QLocale, QObject

from app.commands.picture_trash import PictureTrash
from app.gallery.index import GalleryIndex
from app.gallery.query import GalleryQuery, Rejected
from app.gallery.rows import GalleryRow, Marking, Results
from app.notices.notices import NoticeState
from app.notices.remedies import NoticeAction

_PAGE = 500


class GalleryCommands(QObject):
    """Acts on pictures of the index. A change of one picture is undone by the same key.

    A change of several is told, with a button to undo it.
    """

    def __init__(
        self, index: GalleryIndex, notices: NoticeState, trash: PictureTrash, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._index = index
        self._notices = notices
        self._trash = trash

    def rate(self, ids: Sequence[int], stars: int) -> None:
        """Give pictures 0 to 5 stars."""
        self._tell(self._index.rate(ids, stars), self._stars(stars))

    def _stars(self, stars: int) -> str:
        """Return the message about several pictures that got so many stars."""
        match stars:
            case 0:
                return self.tr("{n} pictures have no stars any more.")
            case 1:
                return self.tr("{n} pictures have 1 star now.")
            case _:
                text = self.tr("{n} pictures have {stars} stars now.")
                return text.replace("{stars}", str(stars))

    def favour(self, ids: Sequence[int], *, favourite: bool) -> None:
        """Make pictures favourites, or ordinary ones."""
        message = (
            self.tr("{n} pictures are favourites.")
            if favourite
            else self.tr("{n} pictures are favourites no more.")
        )
        self._tell(self._index.favourite(ids, favourite), message)

    def reject(self, ids: Sequence[int], *, rejected: bool) -> None:
        """Reject pictures, which hides them, or take them back."""
        message = (
            self.tr("{n} pictures are rejected.")
            if rejected
            else self.tr("{n} pictures are taken back.")
        )
        self._tell(self._index.reject(ids, rejected), message)

    def trash(self, rows: Sequence[GalleryRow]) -> None:
        """Move pictures to the system's trash."""
        self._trash.move([row.path for row in rows])

    def trash_rejected(self) -> None:
        """Move all rejected pictures to the system's trash, in whatever folder they are."""

        def move(found: Results) -> None:
            ids = found.ids
            rows = [
                row
                for start in range(0, len(ids), _PAGE)
                for row in self._index.rows(ids[start : start + _PAGE])
                # One that was taken back a moment ago may be found still.
                if row.marks.rejected
            ]
            if rows:
                self.trash(rows)
            else:
                self._notices.tell(self.tr("No picture is rejected."))

        self._index.collect(GalleryQuery(rejected=Rejected.ONLY), move)

    def _tell(self, marking: Marking, message: str) -> None:
        count = len(marking)
        if count > 1:
            self._notices.tell(
                message.format(n=QLocale().toString(count)),
                actions=(NoticeAction.UNDO_CHANGE,),
                undo=lambda: self._undo(marking),
            )
        elif count:
            # It is seen on the picture; a rejected one gives way to the next.
            self._notices.keep_change(lambda: self._undo(marking))

    def _undo(self, marking: Marking) -> None:
        self._index.undo(marking)
