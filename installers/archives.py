"""Archives whose bytes depend on the files in them alone."""

import lzma
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

# Seconds since 1970, for everything that carries a time: 2026-01-01.
EPOCH = 1_767_225_600
_ZIP_TIME = (2026, 1, 1, 0, 0, 0)
_EXECUTABLE, _PLAIN = 0o755, 0o644


def files_of(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield files, links and folders below a folder, sorted by their paths with slashes."""
    paths = ((path.relative_to(root).as_posix(), path) for path in root.rglob("*"))
    yield from sorted(paths)


def write_tar_xz(root: Path, target: Path, top: str, preset: int = 6) -> Path:
    """Write a folder as a .tar.xz in which all lies below the folder `top`.

    `preset` is xz's, from 0 (fast) to 9 (small).
    """
    # One thread: blocks of several would depend on their number.
    with lzma.open(target, "wb", preset=preset) as packed:
        write_tar(root, packed, top)
    return target


def write_tar(root: Path, stream: lzma.LZMAFile, top: str) -> None:
    """Write a folder into a stream as a tar archive below `top`, owned by root."""
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, path in [
            (top, root),
            *((f"{top}/{name}", path) for name, path in files_of(root)),
        ]:
            entry = archive.gettarinfo(path, name)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            entry.mtime = EPOCH
            entry.mode = mode_of(path)
            if entry.isreg():
                with path.open("rb") as file:
                    archive.addfile(entry, file)
            else:
                archive.addfile(entry)


def write_zip(root: Path, target: Path, top: str) -> Path:
    """Write a folder as a .zip in which all lies below the folder `top`."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in files_of(root):
            if path.is_file():
                entry = zipfile.ZipInfo(f"{top}/{name}", _ZIP_TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # so that the modes count, wherever it is written
                entry.external_attr = (0o100000 | mode_of(path)) << 16
                archive.writestr(entry, path.read_bytes())
    return target


def mode_of(path: Path) -> int:
    """Return the mode a file or folder has in an archive, whatever the umask was."""
    runs = path.is_dir() or (not path.is_symlink() and path.stat().st_mode & 0o100)
    return _EXECUTABLE if runs else _PLAIN
