"""The folders of pictures that the user added to the gallery, kept in a file."""

import logging
from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from engine.api.sentences import sentence
from engine.api.texts import encode_json
from engine.durable import replace_file

FILE = "gallery_folders.json"
_MOST_BYTES = 1 << 20
MOST_FOLDERS = 100
_log = logging.getLogger(__name__)


class _Kept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of the file."""

    folders: tuple[str, ...] = ()


_KIND = DocumentKind(
    msgspec.json.Decoder(_Kept),
    _MOST_BYTES,
    damaged=sentence(
        "The list of the gallery's folders cannot be read; only new pictures' folder is shown."
    ),
)


class FolderList:
    """Folders in the order of adding; written at every change."""

    def __init__(self, state: Path) -> None:
        """`state` need not exist. A file that cannot be read is put aside, as `problem` says."""
        self._path = state / FILE
        kept, self.problem = _KIND.read(self._path)
        self._folders = tuple(map(Path, kept.folders)) if kept else ()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders."""
        return self._folders

    def add(self, folder: Path) -> bool:
        """Keep another folder; return False if it is kept already, or too many are."""
        if folder in self._folders or len(self._folders) >= MOST_FOLDERS:
            return False
        self._write((*self._folders, folder))
        return True

    def remove(self, folder: Path) -> None:
        """Forget a folder; its pictures stay where they are."""
        self._write(tuple(one for one in self._folders if one != folder))

    def _write(self, folders: tuple[Path, ...]) -> None:
        """Keep folders; if the file cannot be written, only until the session ends."""
        self._folders = folders
        try:
            replace_file(self._path, encode_json(_Kept(folders=tuple(map(str, folders)))))
        except OSError as error:
            _log.warning("the gallery's folders cannot be kept: %s", error)
