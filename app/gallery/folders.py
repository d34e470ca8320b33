"""The folders of pictures that the user added to the gallery, kept in a file."""

from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from app.storage.kept_file import KeptFile
from engine.api.sentences import sentence
from engine.api.texts import encode_json

FILE = "gallery_folders.json"
_MOST_BYTES = 1 << 20
MOST_FOLDERS = 100


class _Kept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of the file."""

    folders: tuple[str, ...] = ()
    # Those of them, and maybe the folder of new pictures, that are looked into alone.
    without_subfolders: tuple[str, ...] = ()


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
        kept, self.problem = _KIND.read(state / FILE)
        self._file = KeptFile(state / FILE)
        self._kept = kept or _Kept()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders."""
        return tuple(map(Path, self._kept.folders))

    def has_subfolders(self, folder: Path) -> bool:
        """Return True if a folder's subfolders are looked into, as is usual."""
        return str(folder) not in self._kept.without_subfolders

    def use_subfolders(self, folder: Path, *, wanted: bool) -> None:
        """Look into a folder's subfolders, too, or no longer."""
        others = tuple(path for path in self._kept.without_subfolders if path != str(folder))
        alone = others if wanted else (*others, str(folder))
        self._write(msgspec.structs.replace(self._kept, without_subfolders=alone))

    def add(self, folder: Path) -> bool:
        """Keep another folder; return False if it is kept already, or too many are."""
        if folder in self.folders or len(self.folders) >= MOST_FOLDERS:
            return False
        kept = (*self._kept.folders, str(folder))
        self._write(msgspec.structs.replace(self._kept, folders=kept))
        return True

    def remove(self, folder: Path) -> None:
        """Forget a folder; its pictures stay where they are."""
        self._write(
            _Kept(
                folders=tuple(path for path in self._kept.folders if path != str(folder)),
                without_subfolders=tuple(
                    path for path in self._kept.without_subfolders if path != str(folder)
                ),
            )
        )

    def _write(self, kept: _Kept) -> None:
        self._kept = kept
        self._file.write(encode_json(kept))

    def close(self) -> None:
        """Write what the disk did not take."""
        self._file.flush()
