"""Unpacks archives from elsewhere into an empty folder: nothing is written outside of it.

Each member is checked by its name alone, before it is written; a path never leads through a link.
So neither the order of members nor what the system makes of a path matters.
"""

import hashlib
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from engine.durable import sync_file, sync_folder

_CHUNK_BYTES = 1 << 20
_MOST_MEMBERS = 200_000
_MOST_NAME = 1000
# A file's own permissions are kept for its owner alone to change.
_EXECUTABLE, _PLAIN = 0o755, 0o644


class ArchiveError(Exception):
    """An archive that is damaged, or that names places outside of its own folder."""


class Member(msgspec.Struct, frozen=True):
    """A file, folder or link of an archive; `target` is a link's, `content` opens a file."""

    name: str
    is_folder: bool = False
    is_executable: bool = False
    target: str = ""
    content: Callable[[], IO[bytes]] | None = None


class Unpacked(msgspec.Struct, frozen=True):
    """The content of a tree: the SHA-256 of each file, and the target of each link, by path."""

    files: dict[str, str]
    links: dict[str, str]


def unpack(archive: Path, folder: Path, most_bytes: int, cancelled: Callable[[], bool]) -> Unpacked:
    """Unpack a .tar.xz or .zip without its top folder into `folder`, which must be empty.

    Everything is on the disk when it returns, but the folder's own name. Raises ArchiveError, also
    for more than `most_bytes` bytes of content; OSError; InterruptedError once `cancelled()`.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                return _write_all(_zip_members(packed), folder, most_bytes, cancelled)
        with tarfile.open(archive, "r:xz") as packed:
            return _write_all(_tar_members(packed), folder, most_bytes, cancelled)
    except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError) as error:
        raise ArchiveError(f"it is damaged: {error}") from error
    except FileExistsError as error:  # also where names differ in case alone
        raise ArchiveError(f"{error.filename!r} is in it twice") from error
    except (NotImplementedError, RuntimeError) as error:  # zipfile's, for what it cannot unpack
        raise ArchiveError(f"it is packed in an unknown way: {error}") from error


def _tar_members(packed: tarfile.TarFile) -> Iterator[Member]:
    for entry in packed:
        if entry.isfile():
            executable = bool(entry.mode & stat.S_IXUSR)
            yield Member(entry.name, is_executable=executable, content=_tar_opener(packed, entry))
        elif entry.isdir():
            yield Member(entry.name, is_folder=True)
        elif entry.issym():
            yield Member(entry.name, target=entry.linkname)
        else:
            raise ArchiveError(f"{entry.name!r} is neither a file nor a folder nor a link")


def _tar_opener(packed: tarfile.TarFile, entry: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    def opened() -> IO[bytes]:
        content = packed.extractfile(entry)
        if content is None:
            raise ArchiveError(f"{entry.name!r} has no content")
        return content

    return opened


def _zip_members(packed: zipfile.ZipFile) -> Iterator[Member]:
    for entry in packed.infolist():
        mode = entry.external_attr >> 16
        if stat.S_ISLNK(mode):
            if entry.file_size > _MOST_NAME:
                raise ArchiveError(f"{entry.filename!r} is a link without sense")
            yield Member(entry.filename, target=packed.read(entry).decode("utf-8", "replace"))
        elif entry.is_dir():
            yield Member(entry.filename.rstrip("/"), is_folder=True)
        else:
            executable = bool(mode & stat.S_IXUSR)
            opener = _zip_opener(packed, entry)
            yield Member(entry.filename, is_executable=executable, content=opener)


def _zip_opener(packed: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: packed.open(entry)


class _Writer:
    """Writes members into a folder, and keeps count of names and bytes."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder, self._left = folder, most_bytes
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.folders: set[str] = {""}

    def write(self, member: Member, parts: tuple[str, ...], cancelled: Callable[[], bool]) -> None:
        self._make_folders(parts[:-1] if not member.is_folder else parts)
        if member.is_folder:
            return
        name = "/".join(parts)
        path = self._folder.joinpath(*parts)
        if member.target:
            _require_inside(parts, member.target)
            path.symlink_to(member.target)
            self.links[name] = member.target
        elif member.content is not None:
            self.files[name] = self._write_file(path, member, cancelled)

    def _make_folders(self, parts: tuple[str, ...]) -> None:
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[:count])
            if name not in self.folders:
                self._folder.joinpath(*parts[:count]).mkdir(mode=0o755)
                self.folders.add(name)

    def _write_file(self, path: Path, member: Member, cancelled: Callable[[], bool]) -> str:
        digest = hashlib.sha256()
        mode = _EXECUTABLE if member.is_executable else _PLAIN
        assert member.content is not None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with member.content() as content, os.fdopen(os.open(path, flags, mode), "wb") as file:
            while chunk := content.read(_CHUNK_BYTES):
                if cancelled():
                    raise InterruptedError
                self._left -= len(chunk)
                if self._left < 0:
                    raise ArchiveError("its content is larger than stated")
                digest.update(chunk)
                file.write(chunk)
        return digest.hexdigest()


def _write_all(
    members: Iterator[Member], folder: Path, most_bytes: int, cancelled: Callable[[], bool]
) -> Unpacked:
    writer = _Writer(folder, most_bytes)
    top = None
    for number, member in enumerate(members):
        if number >= _MOST_MEMBERS:
            raise ArchiveError("it has too many files")
        first, *rest = _parts(member.name)
        if top not in (None, first):
            raise ArchiveError("it has more than one folder at its top")
        top = first
        if rest:
            writer.write(member, tuple(rest), cancelled)
        elif not member.is_folder:
            raise ArchiveError(f"{member.name!r} is in no folder")
    _sync(folder, writer.files, writer.folders)
    return Unpacked(writer.files, writer.links)


def _parts(name: str) -> tuple[str, ...]:
    """Return the parts of a member's name. Raises ArchiveError unless it is a plain path."""
    parts = PurePosixPath(name).parts
    plain = all(part not in ("..", "/", "//") and _is_plain(part) for part in parts)
    if not parts or not plain or len(name) > _MOST_NAME:
        raise ArchiveError(f"{name[:100]!r} is no path inside of its folder")
    return parts


def _is_plain(part: str) -> bool:
    """Return True for a name without separators, drives, streams and trailing dots of Windows."""
    return not set(part) & set('\\:\0<>"|?*') and part.isprintable() and part[-1] not in " ."


def _require_inside(parts: tuple[str, ...], target: str) -> None:
    """Raise ArchiveError unless a link's target is a relative path inside of the folder."""
    depth = len(parts) - 1
    if target.startswith("/") or not _is_plain(target.replace("..", "up").replace("/", "")):
        raise ArchiveError(f"the link {parts[-1]!r} leads outside")
    for part in PurePosixPath(target).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            raise ArchiveError(f"the link {parts[-1]!r} leads outside")


def _sync(folder: Path, files: dict[str, str], folders: set[str]) -> None:
    """Wait until all is on the disk; the system writes it in the order that suits the disk."""
    for name in files:
        descriptor = os.open(folder / name, os.O_RDWR | getattr(os, "O_BINARY", 0))
        try:
            sync_file(descriptor)
        finally:
            os.close(descriptor)
    for name in folders:
        sync_folder(folder / name)
