"""The lists of words that prompts name as `__name__`: text files, one entry a line."""

from collections.abc import Iterable
from enum import Enum, auto
from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.background import Background
from app.library.trash import Trashed, move_to_trash, restore
from app.storage.full_disk import make_room
from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import FULL, replace_file
from engine.regular_file import open_regular

translate = QCoreApplication.translate

_SUFFIX = ".txt"
_MOST_LISTS = 2000
# Of a list that can be edited.
MOST_BYTES = 4 << 20
# Signs that end a name in a prompt, or that some system does not allow in the name of a file.
_ALLOWED = frozenset(" -./_")


class Lack(Enum):
    """The reason why the text of a list lacks something of its file: written back, it is lost."""

    TOO_LONG = auto()
    NOT_UTF_8 = auto()


class WordList(msgspec.Struct, frozen=True):
    """A list: its name below the folder, without suffix, and its text as it is in the file.

    With a `lack` the text has only a part of the file.
    """

    name: str
    text: str
    lack: Lack | None = None

    @property
    def entries(self) -> tuple[str, ...]:
        """The lines that are drawn: without empty ones and comments."""
        lines = (line.strip() for line in self.text.splitlines())
        return tuple(line for line in lines if line and not line.startswith("#"))


class WildcardStore(QObject):
    """The lists in a folder, read on another thread; what is written is read again afterwards."""

    changed = Signal()
    # ErrorInfo: a list cannot be written or deleted.
    failed = Signal(object)
    # Trashed: a list went to the trash.
    trashed = Signal(object)

    def __init__(self, folder: Path, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = folder
        self._background = background
        self.lists: tuple[WordList, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the lists, in the order of the alphabet."""
        return tuple(words.name for words in self.lists)

    def find(self, name: str) -> WordList | None:
        """Return the list of a name; None if there is none."""
        return next((words for words in self.lists if words.name == name), None)

    def refresh(self) -> None:
        """Read the folder again."""
        self._background.look(lambda: read_lists(self.folder), self._on_read)

    def write(self, name: str, text: str) -> None:
        """Write a list, a new one or over the one of this name."""
        path = self._path(name)
        # Half of a pair of signs, as a paste can leave, is no letter.
        content = text.encode("utf-8", "replace")

        def write() -> ErrorInfo | None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(path, content, durable=True)
            except OSError as error:
                return _unwritable(path, error, len(content))
            return None

        self._background.run(write, self._on_written, must=True)

    def delete(self, name: str) -> None:
        """Move a list to the system's trash."""
        path = str(self._path(name))
        self._background.run(lambda: move_to_trash(path), self._on_trashed, must=True)

    def put_back(self, trashed: Trashed) -> None:
        """Take a list out of the trash again."""

        def put_back() -> ErrorInfo | None:
            if restore(trashed.trash_path, trashed.path):
                return None
            return _unwritable(Path(trashed.path), None)

        self._background.run(put_back, self._on_written, must=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"

    def _on_read(self, lists: tuple[WordList, ...]) -> None:
        if lists != self.lists:
            self.lists = lists
            self.changed.emit()

    def _on_written(self, problem: ErrorInfo | None) -> None:
        if problem is not None:
            self.failed.emit(problem)
        self.refresh()

    def _on_trashed(self, trashed: Trashed) -> None:
        if trashed.moved:
            self.trashed.emit(trashed)
        else:
            self.failed.emit(_unwritable(Path(trashed.path), None))
        self.refresh()


def read_lists(folder: Path) -> tuple[WordList, ...]:
    """Return the lists in a folder and its subfolders; files that cannot be read are left out."""
    found: list[WordList] = []
    for path in sorted(_files(folder))[:_MOST_LISTS]:
        name = path.relative_to(folder).with_suffix("").as_posix()
        try:
            with open_regular(path) as file:
                content = file.read(MOST_BYTES + 1)
        except OSError:
            continue
        found.append(_list_of(name, content))
    return tuple(found)


def _list_of(name: str, content: bytes) -> WordList:
    if len(content) > MOST_BYTES:
        return WordList(name, content[:MOST_BYTES].decode("utf-8-sig", "replace"), Lack.TOO_LONG)
    try:
        return WordList(name, content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return WordList(name, content.decode("utf-8-sig", "replace"), Lack.NOT_UTF_8)


def is_list_name(name: str) -> bool:
    """Return True for a name that a prompt can write between `__` and `__`, and a file can have."""
    parts = name.split("/")
    return (
        name == name.strip()
        and all(part and part not in (".", "..") for part in parts)
        and all(sign.isalnum() or sign in _ALLOWED for sign in name)
        and name[0].isalnum()
        and name[-1].isalnum()
        and "__" not in name
    )


def _files(folder: Path) -> Iterable[Path]:
    try:
        return [path for path in folder.rglob(f"*{_SUFFIX}") if path.is_file()]
    except OSError:
        return []


def _unwritable(path: Path, error: OSError | None, size: int = 0) -> ErrorInfo:
    is_full = error is not None and error.errno in FULL
    return ErrorInfo(
        ErrorCode.DISK_FULL if is_full else ErrorCode.OUTPUT_NOT_WRITABLE,
        translate("wildcards", "The list {name} could not be changed.").format(name=path.stem[:80]),
        make_room(path.parent, size)
        if is_full
        else translate("wildcards", "See that the folder of lists can be written."),
        str(error or ""),
    )
