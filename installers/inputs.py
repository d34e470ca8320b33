"""The inputs of a build: every file that is downloaded, with its size and hash."""

import hashlib
import os
import shutil
import urllib.request
from enum import StrEnum
from pathlib import Path

import msgspec

INPUTS = Path(__file__).parent / "inputs.toml"
_BLOCK = 1 << 20


class Target(StrEnum):
    """The systems that a tree is built for: x86-64, and arm64 of macOS."""

    LINUX = "linux"
    WINDOWS = "windows"
    MACOS = "macos"


class InputError(Exception):
    """An input that cannot be had, or that is not the pinned one."""


class File(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pinned file."""

    # For a wheel the name of its distribution, in lower case with "-".
    name: str
    version: str
    url: str
    # In bytes; 0 if the list that it is pinned from does not say.
    size: int
    # In hexadecimal.
    sha256: str
    targets: tuple[Target, ...]
    # Of Debian's packaging of a source: patterns of the patches that are applied.
    patches: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """The last part of the address."""
        return urllib.request.url2pathname(self.url.rsplit("/", 1)[-1])


class Inputs(msgspec.Struct, frozen=True):
    """All pinned files."""

    wheels: tuple[File, ...]
    # Sources, interpreters and libraries, whose names the systems know.
    files: tuple[File, ...]

    def wheels_for(self, target: Target) -> tuple[File, ...]:
        """Return the wheels of a system's tree."""
        return tuple(wheel for wheel in self.wheels if target in wheel.targets)

    def file(self, name: str) -> File:
        """Return the file of this name; raises KeyError if nothing pins it."""
        return {file.name: file for file in self.files}[name]


def read_inputs(path: Path = INPUTS) -> Inputs:
    """Return the inputs that a file pins."""
    return msgspec.toml.decode(path.read_bytes(), type=Inputs)


def cache_folder() -> Path:
    """Return the folder of downloads and of interpreters that were built."""
    given = os.environ.get("SAFELIGHT_INSTALLERS_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "safelight-installers"


def fetch(file: File, folder: Path | None = None) -> Path:
    """Return the path of a file in the cache; download it if it is not there.

    Raises InputError if it cannot be downloaded, or is not the pinned one.
    """
    folder = folder or cache_folder() / "files"
    path = folder / file.sha256 / file.file_name
    if path.is_file() and file.size in (0, path.stat().st_size):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with urllib.request.urlopen(file.url, timeout=60) as response, part.open("wb") as target:
            shutil.copyfileobj(response, target, _BLOCK)
        check(part, file)
        part.replace(path)
    except OSError as error:
        raise InputError(f"{file.url} cannot be downloaded: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    return path


def check(path: Path, file: File) -> None:
    """Raise InputError if a file on disk is not the pinned one."""
    size = path.stat().st_size
    if file.size not in (0, size):
        raise InputError(f"{path} has {size} bytes; {file.name} {file.version} has {file.size}.")
    found = sha256(path)
    if found != file.sha256:
        raise InputError(f"{path} has the hash {found}; that of {file.name} is {file.sha256}.")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
