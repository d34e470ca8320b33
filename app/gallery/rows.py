"""Values of the gallery: a picture's row, its marks, and the state of the folders."""

from enum import StrEnum
from pathlib import Path

import msgspec

MOST_STARS = 5
# The characters of a prompt that a row carries; the picture's file has all of it.
SHOWN_CHARACTERS = 500


class Trouble(StrEnum):
    """A reason why a picture cannot be shown; the window words it."""

    MISSING = "missing"  # its folder cannot be reached at present
    UNREADABLE = "unreadable"  # the system does not let it be read
    EMPTY = "empty"  # a file without a byte
    OTHER_FORMAT = "other_format"  # no PNG, JPEG, WebP or GIF, whatever its name says
    DAMAGED = "damaged"  # its header makes no sense, or its pixels are missing
    TOO_LARGE = "too_large"  # more pixels than are ever decoded


class Marks(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A person's judgement of a picture: 0 to 5 stars, a favourite or not, rejected or not."""

    rating: int = 0
    favourite: bool = False
    rejected: bool = False


NO_MARKS = Marks()


class GalleryRow(msgspec.Struct, frozen=True, kw_only=True):
    """A picture of the gallery, for lists; texts from files are plain text and may be hostile.

    Width and height are in pixels, 0 if unknown. `model`, `tool` and `loras` are names without
    folders, empty if the file does not tell. Prompts are cut to SHOWN_CHARACTERS.
    """

    id: int
    path: str
    # The file's time of change, in ns since 1970.
    modified_ns: int
    # The file's size in bytes.
    size: int
    width: int
    height: int
    # A digest of the pixels' bytes, which survives renaming; None if the file cannot be read.
    identity: bytes | None
    prompt: str
    negative: str
    model: str
    loras: tuple[str, ...]
    seed: int | None
    tool: str
    marks: Marks
    trouble: Trouble | None

    @property
    def is_picture(self) -> bool:
        """True for a file that can be shown, copied and started from."""
        return self.trouble is None

    @property
    def may_tell_settings(self) -> bool:
        """True unless there is nothing to reuse of a file that cannot be shown."""
        return self.is_picture or bool(self.tool)

    @property
    def rating(self) -> int:
        """The stars, 0 to 5."""
        return self.marks.rating

    @property
    def favourite(self) -> bool:
        """True for a favourite."""
        return self.marks.favourite

    @property
    def rejected(self) -> bool:
        """True for a rejected picture."""
        return self.marks.rejected


class Marking(msgspec.Struct, frozen=True):
    """A change of marks that can be undone: the marks before it, by identity, and those after."""

    before: tuple[tuple[bytes, Marks], ...]
    after: tuple[Marks, ...] = ()

    def __len__(self) -> int:
        return len(self.before)


class Results(msgspec.Struct, frozen=True):
    """The pictures that a search found, in order: their ids, and their files' times of change.

    Times are in ns since 1970; both lists are of one length.
    """

    ids: list[int]
    times: list[int]


class Count(msgspec.Struct, frozen=True, gc=False):
    """A name to filter by, and the number of pictures that have it."""

    name: str
    count: int


class Facets(msgspec.Struct, frozen=True):
    """Everything that the pictures can be filtered by, the most frequent first; days newest first.

    `days` are local days as in "2026-11-23"; `folders` are the paths of folders with pictures.
    """

    total: int = 0
    models: tuple[Count, ...] = ()
    loras: tuple[Count, ...] = ()
    tools: tuple[Count, ...] = ()
    folders: tuple[Count, ...] = ()
    days: tuple[Count, ...] = ()
    favourites: int = 0
    rejected: int = 0


class FolderState(StrEnum):
    """The state of a watched folder."""

    WAITING = "waiting"  # not looked into yet
    SCANNING = "scanning"
    READY = "ready"
    READ_ONLY = "read_only"  # its pictures can be seen, but none can be written or trashed
    MISSING = "missing"  # it cannot be reached; its pictures are kept as missing


class Root(msgspec.Struct, frozen=True):
    """A folder that is looked into, with all its subfolders or alone."""

    path: Path
    with_subfolders: bool = True

    def has(self, folder: Path) -> bool:
        """Return True if a folder is looked into as this one, or as one of its subfolders."""
        return folder == self.path or (self.with_subfolders and self.path in folder.parents)


class WatchedFolder(msgspec.Struct, frozen=True):
    """A folder whose pictures are in the gallery, and those of its subfolders where wanted."""

    path: Path
    state: FolderState = FolderState.WAITING
    # False for the folder where new pictures are written, which cannot be removed.
    removable: bool = True
    with_subfolders: bool = True
