"""Disks of a test's own: small ones, read-only ones, and ones that are pulled out."""

import errno
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@cache
def can_mount() -> bool:
    """Return True if this process may mount disks: on Linux, as root, outside most containers."""
    if sys.platform != "linux":
        return False
    with TemporaryDirectory() as folder:
        try:
            _mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", folder)
        except (OSError, subprocess.CalledProcessError):
            return False
        subprocess.run(["umount", folder], check=True)
    return True


class Mounts:
    """Mounts disks, which are gone once the test has ended."""

    def __init__(self) -> None:
        self._folders: list[Path] = []

    def disk(self, folder: Path, size: str = "8m") -> None:
        """Mount an empty disk in memory of this size at a folder, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
        self._folders.append(folder)

    def plug_in(self, disk: Path, folder: Path) -> None:
        """Show the content of a disk at another folder too, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        _mount("--bind", str(disk), str(folder))
        self._folders.append(folder)

    def protect(self, folder: Path) -> None:
        """Make a folder read-only, also for root."""
        self.plug_in(folder, folder)
        _mount("-o", "remount,bind,ro", str(folder))

    def pull(self, folder: Path) -> None:
        """Take the latest disk away from a folder, though it may be in use."""
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        self._folders.remove(folder)

    def end(self) -> None:
        """Take all disks away, the latest first."""
        for folder in reversed(self._folders.copy()):
            self.pull(folder)


@contextmanager
def mounted() -> Generator[Mounts]:
    """Yield what mounts disks; skip the test where none can be mounted."""
    if not can_mount():
        pytest.skip("no disk can be mounted here")
    mounts = Mounts()
    try:
        yield mounts
    finally:
        mounts.end()


def fill(folder: Path, *, free: int = 0) -> Path:
    """Fill the disk of a folder up to so many bytes, whole pages; return the file that does."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for block in (bytes(4096), b"0"):
            try:
                while file.write(block):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        file.truncate(file.tell() // 4096 * 4096 - free)
    return ballast


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)
