"""Wheels as archives: which of their files go where, what no wheel may contain, and unpacking.

A wheel is a ZIP file; the folders `purelib` and `platlib` of its `.data` go to where its other
files are, and the rest of `.data` (scripts, headers) is for installers that we are not
(https://packaging.python.org/specifications/binary-distribution-format).
"""

import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path

import msgspec

from app.packs.errors import WheelError
from engine.api.folded import folded
from engine.durable import sync_file, sync_folder

# More than any wheel has; an archive of nothing but names would take memory.
_MOST_FILES = 100_000
# Bytes beyond what the pack's list says, for wheels that count their files another way.
_SLACK = 1 << 20
_CHUNK = 1 << 20
_DATA = re.compile(r"[^/]+\.data/(?P<kind>[^/]+)/(?P<rest>.+)")
_LIBRARIES = ("purelib", "platlib")
# Names that Windows gives to devices, and signs that it forbids.
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]')


class InstalledFile(msgspec.Struct, frozen=True, array_like=True):
    """A file of an installed pack: its path below the folder of modules, its bytes and its hash.

    `wheel` is the number of the wheel that it is from, among the pack's.
    """

    path: str
    size: int
    sha256: str
    wheel: int


def is_dropped(name: str, drop: Sequence[str]) -> bool:
    """True for a folder's entry, or a file that one of the patterns names."""
    return name.endswith("/") or any(fnmatchcase(name, pattern) for pattern in drop)


def sync_tree(folder: Path) -> None:
    """Wait until a folder's files and their names are on the disk itself. Raises OSError."""
    for place, _, names in os.walk(folder):
        for name in names:
            descriptor = os.open(Path(place) / name, os.O_RDWR | getattr(os, "O_BINARY", 0))
            try:
                sync_file(descriptor)
            finally:
                os.close(descriptor)
        sync_folder(Path(place))


class Unpacker:
    """Unpacks several wheels into one new folder, of which nobody else knows."""

    def __init__(
        self,
        site: Path,
        *,
        most_bytes: int,
        drop: Sequence[str] = (),
        only: Collection[str] | None = None,
        on_bytes: Callable[[int], None] = lambda _: None,
    ) -> None:
        """At most `most_bytes` may be written; `on_bytes` gets the number that are, in all.

        `only` names the files that are wanted, by their paths below `site`.
        """
        self._site, self._drop, self._only = site, drop, only
        self._most_bytes = most_bytes + _SLACK
        self._on_bytes = on_bytes
        self._written = self._wheels = 0
        self._files: dict[str, InstalledFile] = {}
        # The paths by their form on systems that ignore case, and the folders among them.
        self._folded: dict[str, str] = {}
        self._folders: set[str] = set()

    @property
    def files(self) -> tuple[InstalledFile, ...]:
        """The files of all wheels that were unpacked."""
        return tuple(self._files.values())

    def unpack(self, wheel: Path, check: Callable[[], None]) -> None:
        """Unpack a wheel. Raises WheelError for a damaged or hostile one; OSError.

        `check` is called for every chunk, and raises an exception of its own to stop.
        """
        with _wheel_errors(wheel.name), zipfile.ZipFile(wheel) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST_FILES:
                raise WheelError(wheel.name, "it has too many files")
            for entry in entries:
                check()
                if not is_dropped(entry.filename, self._drop):
                    self._unpack_one(wheel.name, archive, entry)
        self._wheels += 1

    def _unpack_one(self, wheel: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
        kind = entry.external_attr >> 16
        if stat.S_IFMT(kind) not in (0, stat.S_IFREG):
            raise WheelError(wheel, f"{entry.filename!r} is a link or a device")
        name = _place(entry.filename)
        if name is None or (self._only is not None and name not in self._only):
            return
        _require_plain(wheel, name)
        known = self._files.get(name)
        path = self._site.joinpath(*name.split("/"))
        if known is None:
            self._require_new(wheel, name)
            path.parent.mkdir(parents=True, exist_ok=True)
        size, digest = self._copy(wheel, archive, entry, None if known else path)
        if known is not None and (size, digest) != (known.size, known.sha256):
            # Namespace packages of one vendor share files, which are then equal.
            raise WheelError(wheel, f"{name!r} is in two wheels and differs")
        if known is None:
            self._files[name] = InstalledFile(name, size, digest, self._wheels)

    def _require_new(self, wheel: str, name: str) -> None:
        """Refuse a name that another one is on a system that ignores case, or a file above it."""
        parts = name.split("/")
        above = {"/".join(parts[:end]) for end in range(1, len(parts))}
        if name in self._folders or not above.isdisjoint(self._files):
            raise WheelError(wheel, f"{name!r} is a file and a folder")
        for part in (*above, name):
            if self._folded.setdefault(folded(part), part) != part:
                raise WheelError(wheel, f"{name!r} is there under another case of letters")
        self._folders |= above

    def _copy(
        self, wheel: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path | None
    ) -> tuple[int, str]:
        """Copy a file's bytes, or read them alone; return their number and SHA-256.

        The bytes are counted as they come: what an archive says of them may be a lie.
        """
        digest, size = sha256(), 0
        with archive.open(entry) as source, _written_to(path) as write:
            while chunk := source.read(_CHUNK):
                size += len(chunk)
                self._written += len(chunk)
                if self._written > self._most_bytes:
                    raise WheelError(wheel, "it unpacks to more than its list says")
                digest.update(chunk)
                write(chunk)
                self._on_bytes(self._written)
        return size, digest.hexdigest()


@contextmanager
def _written_to(path: Path | None) -> Generator[Callable[[bytes], object]]:
    """Yield what takes the bytes of a new file; what merely counts them where there is no path."""
    if path is None:
        yield len
        return
    with path.open("xb") as file:
        yield file.write


def _place(name: str) -> str | None:
    """Return where a file of a wheel goes, below the folder of modules; None for nowhere."""
    data = _DATA.fullmatch(name)
    if data is None:
        return name
    return data["rest"] if data["kind"] in _LIBRARIES else None


def _require_plain(wheel: str, name: str) -> None:
    """Refuse a path that leads elsewhere, or that one of the systems does not take."""
    for part in name.split("/"):
        if (
            part in ("", ".", "..")
            or _FORBIDDEN.search(part)
            or _RESERVED.fullmatch(part)
            or part.endswith((" ", "."))
        ):
            raise WheelError(wheel, f"{name!r} is no name of a file below its folder")
    if os.path.isabs(name):  # noqa: PTH117 (a name, not yet a path)
        raise WheelError(wheel, f"{name!r} is no name of a file below its folder")


@contextmanager
def _wheel_errors(wheel: str) -> Generator[None]:
    """Turn what zipfile raises for a damaged archive into a WheelError."""
    try:
        yield
    except (
        zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError,
        OverflowError, UnicodeDecodeError,
    ) as error:  # fmt: skip
        raise WheelError(wheel, "it is damaged") from error
