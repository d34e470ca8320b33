"""The interpreter of the macOS tree, of python-build-standalone's archive for Apple silicon.

Of the archive only the library and the standard library are taken: the executable is our own, so
that the interpreter's code is there once.
"""

import io
import re
import shutil
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import cast

import msgspec
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from installers.inputs import File, InputError, Inputs, Target, check, fetch
from installers.macos.launcher import PYTHON
from installers.zig import ZIG

ARCHIVE = "cpython-macos"
# Lists the addresses and hashes of the archives, which are on no package index themselves.
_LISTING = "pbs-installer"
_LISTED = "pbs_installer/versions.json"
_FLAVOUR = "aarch64-apple-darwin-install_only_stripped.tar.gz"
_ZIG_TAG = "manylinux_2_12_x86_64"
_TOP = "python"
_LIBRARY = PurePosixPath("lib", f"lib{PYTHON}.dylib")
_MODULES = PurePosixPath("lib", PYTHON)
_EXTENSIONS = "lib-dynload"
_NOTE = "Python warns if this folder is missing. Its modules are in the library.\n"
# Parts of the standard library for installing, teaching, tests, Tk and extensions' compilers, and
# all modules that are files of their own: Tk's and those for tests.
_LEFT_OUT = frozenset(
    {
        "__pycache__", "config-3.13-darwin", "ensurepip", "idlelib", _EXTENSIONS, "pydoc_data",
        "site-packages", "test", "tkinter", "turtle.py", "turtledemo", "venv",
    }
)  # fmt: skip


class _Listed(msgspec.Struct, frozen=True):
    filename: str
    # Null for old ones.
    sha256: str | None
    url: str


class _Release(msgspec.Struct, frozen=True):
    files: tuple[_Listed, ...]


def newest_files() -> Iterator[File]:
    """Yield the newest archive of Python 3.13, and the compiler, which Linux takes, too."""
    listing = _newest_wheel(_LISTING, "py3-none-any")
    with urllib.request.urlopen(listing.url, timeout=60) as response:
        wheel = zipfile.ZipFile(io.BytesIO(response.read()))
    yield newest_archive(wheel.read(_LISTED))
    targets = (Target.LINUX, Target.MACOS)
    yield msgspec.structs.replace(_newest_wheel(ZIG, _ZIG_TAG), targets=targets)


def newest_archive(listing: bytes) -> File:
    """Return the archive of the newest Python 3.13 in a list of python-build-standalone's."""
    releases = msgspec.json.decode(listing, type=list[_Release])
    name = re.compile(rf"cpython-(3\.13\.\d+)\+(\d+)-{re.escape(_FLAVOUR)}")
    found = [
        (Version(match[1]), match[2], file.url, file.sha256)
        for release in releases
        for file in release.files
        if file.sha256 and (match := name.fullmatch(file.filename))
    ]
    if not found:
        raise InputError(f"{_LISTING} lists no Python 3.13 for Apple silicon.")
    version, day, url, sha256 = max(found)
    return File(ARCHIVE, f"{version}+{day}", url, 0, sha256, (Target.MACOS,))


def place_interpreter(runtime: Path, inputs: Inputs, given: Path | None) -> None:
    """Unpack what is needed of the pinned archive into `runtime/`.

    `given` is that archive, if it was downloaded by other means; raises InputError if it is
    another one, or if it cannot be downloaded.
    """
    pinned = inputs.file(ARCHIVE)
    if given:
        check(given, pinned)
    unpack(given or fetch(pinned), runtime)


def unpack(archive: Path, runtime: Path) -> None:
    """Unpack the library and the standard library; raises InputError if the archive has none."""
    with tarfile.open(archive) as members:
        for member in members:
            place = PurePosixPath(member.name).relative_to(_TOP)
            if member.isfile() and _is_wanted(place):
                target = runtime / place
                target.parent.mkdir(parents=True, exist_ok=True)
                content = members.extractfile(member)
                assert content is not None
                with target.open("wb") as file:
                    shutil.copyfileobj(content, file)
    if not (runtime / _LIBRARY).is_file():
        raise InputError(f"{archive} has no {_LIBRARY}.")
    extensions = runtime / _MODULES / _EXTENSIONS
    extensions.mkdir()
    (extensions / "README.txt").write_text(_NOTE, encoding="utf-8")


def _is_wanted(place: PurePosixPath) -> bool:
    if place == _LIBRARY:
        return True
    if not place.is_relative_to(_MODULES):
        return False
    return not _LEFT_OUT.intersection(place.relative_to(_MODULES).parts)


def _newest_wheel(name: str, tag: str) -> File:
    """Return the newest wheel of a distribution whose file name contains a tag."""
    # The build needs nothing of what looks for new versions.
    from installers.index import index_file, index_files

    found = [
        (parse_wheel_filename(file_name)[1], entry)
        for entry in index_files(name)
        if (file_name := cast("str", entry["filename"])).endswith(".whl") and tag in file_name
    ]
    version, entry = max(
        (release for release in found if not release[0].is_prerelease),
        key=lambda release: release[0],
    )
    return index_file(entry, name, str(version), Target.MACOS)
