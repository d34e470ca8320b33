"""The names and hashes of LoRA files below folders, for finding one of them."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from engine.lora.file_names import NO_NAMES, FileNames, read_names
from engine.lora.files_below import ListedFile, list_below, list_one
from engine.lora.hashes import LEGACY_DIGITS, LoraHashes, hashes_of, legacy_hash
from engine.lora.listed_facts import ListedFacts

# The most bytes that are hashed for one job: some ten seconds of a usual processor's time.
MOST_HASHED_BYTES = 8 << 30

# Called with the number of bytes of a file that are hashed; may raise to stop.
Report = Callable[[int], None]


def report_nothing(_done: int) -> None:
    """Ignore the progress."""


class Hashed(msgspec.Struct, frozen=True):
    """A file that was found by a new hash, and the number of files that were hashed for it."""

    path: Path
    hashed: int


class NamesBelow:
    """The names of files below folders, which are listed once.

    Names that are not known are read together, so that the store is written once. `unhashed` is the
    number of files that would have taken too long to hash.
    """

    def __init__(
        self, folders: Iterable[Path], known: ListedFacts, report: Report = report_nothing
    ) -> None:
        """`known` keeps what is found; `report` is called while files are hashed."""
        self._folders, self._known, self._report = tuple(folders), known, report
        self._listed: dict[str, ListedFile] | None = None
        # Those of files that were just written, too.
        self._read: dict[str, FileNames] = {}
        self._hashes: dict[str, LoraHashes] = {}
        self._bytes_left = MOST_HASHED_BYTES
        self.unhashed = 0

    def of(self, path: Path) -> FileNames:
        """Return the names of a file in the folders; no names if it is gone."""
        listed = self._state(path)
        if listed is not None and self._found(listed) is None:
            self._read_names((listed, *self._all().values()))
        return self._found(listed) or NO_NAMES

    def alone(self, path: Path) -> FileNames:
        """Return the names of a file wherever it lies, and read no other file."""
        listed = list_one(path)
        if listed is not None and self._found(listed) is None:
            self._read_names((listed,))
        return self._found(listed) or NO_NAMES

    def hash_until(self, wanted: str, paths: Iterable[Path]) -> Hashed | None:
        """Hash files whose hashes are not known until one has the wanted digits; None if none has.

        Files beyond `MOST_HASHED_BYTES` are left out. Raises what `report` raises.
        """
        count, self.unhashed = 0, 0
        try:
            for path in paths:
                if self.of(path).has(wanted) is not None:
                    continue
                if len(wanted) == LEGACY_DIGITS:
                    has = _legacy(path) == wanted
                else:
                    has = self._hash(path) and self.of(path).has(wanted)
                count += 1
                if has:
                    return Hashed(path, count)
        finally:
            self._known.save()
        return None

    def _hash(self, path: Path) -> bool:
        """Hash a file; return False if it is gone, cannot be read or would take too long."""
        listed = self._state(path)
        if listed is None:
            return False
        if listed.stamp.size > self._bytes_left:
            self.unhashed += 1
            return False
        self._bytes_left -= listed.stamp.size
        try:
            self._hashes[listed.path] = hashes_of(path, self._report)
        except OSError:
            return False
        self._known.note(listed, hashes=self._hashes[listed.path])
        return True

    def _all(self) -> dict[str, ListedFile]:
        if self._listed is None:
            self._known.refresh()
            below = list_below(self._folders)
            self._listed = {file.path: file for folder in below for file in folder.files}
        return self._listed

    def _state(self, path: Path) -> ListedFile | None:
        return self._all().get(str(path)) or list_one(path)

    def _found(self, listed: ListedFile | None) -> FileNames | None:
        if listed is None:
            return None
        facts = self._known.of(listed)
        names = self._read.get(listed.path) or facts.names
        hashes = self._hashes.get(listed.path) or facts.hashes
        return names.with_hashes(hashes) if names is not None and hashes is not None else names

    def _read_names(self, files: Iterable[ListedFile]) -> None:
        """Read the names of files whose names are not known."""
        for file in files:
            if self._found(file) is None:
                self._read[file.path] = read_names(Path(file.path))
                self._known.note(file, names=self._read[file.path])
        self._known.save()


def _legacy(path: Path) -> str | None:
    try:
        return legacy_hash(path)
    except OSError:
        return None
