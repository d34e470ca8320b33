"""The folders of pictures that the user added to the gallery, kept in a file."""

from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from app.storage.kept_file import KeptFile
from engine.api.texts import encode_json

FILE = "gallery_folders.json"
_MOST_BYTES = 1 << 20
MOST_FOLDERS = 100


class _Kept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of the file."""

    folders: tuple[str, ...] = ()


_KIND = DocumentKind(
    msgspec.json.Decoder(_Kept),
    _MOST_BYTES,
    damaged="The list of the gallery's folders cannot be read; only new pictures' folder is shown.",
)


class FolderList:
    """Folders in the order of adding; written at every change."""

    def __init__(self, state: Path) -> None:
        """`state` need not exist. A file that cannot be read is put aside, as `problem` says."""
        kept, self.problem = _KIND.read(state / FILE)
        self._file = KeptFile(state / FILE)
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
        self._folders = folders
        self._file.write(encode_json(_Kept(folders=tuple(map(str, folders)))))

    def close(self) -> None:
        """Write what the disk did not take."""
        self._file.close()
