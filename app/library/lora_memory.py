"""The user's folders of models, and the times when LoRAs were last used, kept in a file."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from app.model_folders import DECODER, FILE, MOST_BYTES, LoraNotes
from app.storage.document import DocumentKind
from app.storage.kept_file import KeptFile
from engine.api.sentences import sentence
from engine.api.texts import encode_json

# Beyond these the folders are not kept, and the oldest times are dropped.
_MOST_FOLDERS, _MOST_USES = 100, 5000


_KIND = DocumentKind(
    DECODER,
    MOST_BYTES,
    damaged=sentence(
        "The list of your folders of models cannot be read; only the usual are looked into."
    ),
)


class LoraMemory:
    """Folders to look into beside the usual ones, and last uses; written at every change."""

    def __init__(self, folder: Path, clock: Callable[[], int] = time.time_ns) -> None:
        """`folder` need not exist. A file that cannot be read is put aside, as `problem` says."""
        self._file = KeptFile(folder / FILE)
        self._clock = clock
        content, self.problem = _KIND.read(folder / FILE)
        self._content = content or LoraNotes()

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that the user named, in the order of naming."""
        return self._content.folders

    def add_folder(self, folder: Path) -> bool:
        """Keep another folder; return False if it is kept already, or too many are."""
        if str(folder) in self.folders or len(self.folders) >= _MOST_FOLDERS:
            return False
        self._write(msgspec.structs.replace(self._content, folders=(*self.folders, str(folder))))
        return True

    def remove_folder(self, folder: str) -> None:
        """Forget a folder; its files stay where they are."""
        rest = tuple(kept for kept in self.folders if kept != folder)
        self._write(msgspec.structs.replace(self._content, folders=rest))

    def used_ns(self, path: str) -> int:
        """Return the time when a file was last used, in ns since 1970; 0 for never."""
        return self._content.used.get(path, 0)

    def note_use(self, paths: Iterable[str]) -> None:
        """Keep the present time as that of the last use of these files."""
        wanted = tuple(paths)
        if not wanted:
            return
        used = {path: at for path, at in self._content.used.items() if path not in wanted}
        used |= dict.fromkeys(wanted, self._clock())
        for path in tuple(used)[:-_MOST_USES]:
            del used[path]
        self._write(msgspec.structs.replace(self._content, used=used))

    def _write(self, content: LoraNotes) -> None:
        self._content = content
        self._file.write(encode_json(content))

    def close(self) -> None:
        """Write what the disk did not take."""
        self._file.flush()
