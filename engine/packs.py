"""Packs: runtimes that were installed on demand, each in a folder that Python searches first.

A pack's folder holds unpacked wheels in `site/` and their list, `installed.json`; `active.json`
beside the folders names the one of each pack that is in use. The app writes both (`app.packs`).
Every process that computes calls `use_packs` before it imports a runtime, so that a pack's ONNX
Runtime hides the one that comes with Safelight. Standard library only.
"""

import json
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import msgspec

from engine.file_lock import FileLock

# The variables that hand the folder of packs, and the name of a pack's folder that is tried before
# it becomes active, to the engine and to its children.
FOLDER = "SAFELIGHT_PACKS"
ON_TRIAL = "SAFELIGHT_PACK_ON_TRIAL"
# The names in the folder of packs, and in the folder of one.
STATE = "active.json"
LIST = "installed.json"
SITE = "site"
FORMAT = 1
_LIBRARIES = (".so", ".dll", ".pyd", ".dylib")
# The locks of the packs that this process uses; they end with it.
_locks: list[FileLock] = []
_dll_folders: list[object] = []


class PackInUse(msgspec.Struct, frozen=True):
    """A pack whose folder this process searches; `folder` is that of its modules.

    `dll_folders` are those of its libraries for Windows.
    """

    id: str
    version: str
    folder: Path
    replaces_onnxruntime: bool
    dll_folders: frozenset[Path] = frozenset()


class PacksInUse(msgspec.Struct, frozen=True):
    """The packs in use, and a sentence for each active one that cannot be used."""

    packs: tuple[PackInUse, ...] = ()
    problems: tuple[str, ...] = ()


class _Unusable(Exception):  # noqa: N818 (a reason, as a part of a sentence)
    """The reason why a pack cannot be used."""


def this_python() -> str:
    """Return the version of Python that native modules are built for, as "3.13"."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def this_system() -> str:
    """Return the operating system as packs name it: "linux", "windows" or "macos"."""
    return {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")


def this_machine() -> str:
    """Return the architecture that this Python is built for, as packs name it, as "x86_64".

    On Windows `platform` asks a service, which may take seconds, and which says "ARM64" where such
    a processor runs a Python for x86-64.
    """
    if sys.platform == "win32":
        import sysconfig

        name = sysconfig.get_platform().removeprefix("win-")
    else:
        name = platform.machine().lower()
    return {"amd64": "x86_64", "aarch64": "arm64"}.get(name, name)


def use_packs() -> PacksInUse:
    """Put the active packs' folders first on `sys.path`; a pack that is broken is left out.

    No pack is used where SAFELIGHT_PACKS is not set. A second call changes nothing. Never raises.
    """
    _name_files_in_utf8()
    root = os.environ.get(FOLDER)
    if not root:
        return PacksInUse()
    used: list[PackInUse] = []
    problems: list[str] = []
    for name in _names(Path(root), os.environ.get(ON_TRIAL, "")):
        try:
            pack = _checked(Path(root) / name)
            _require_one_onnxruntime(pack, used)
            _search(pack)
        except _Unusable as reason:
            problems.append(f"The runtime pack {name} is left out: {reason}.")
        else:
            used.append(pack)
    return PacksInUse(tuple(used), tuple(problems))


def _names(root: Path, tried: str) -> list[str]:
    """List the folders of the active packs, with the one that is tried in the place of its kind."""
    try:
        active = _object(root / STATE)["active"]
        names = [str(folder) for _, folder in sorted(active.items())]
    except (OSError, ValueError, KeyError, AttributeError):
        names = []
    if not tried:
        return names
    facts = _facts(root / tried)
    others = (name for name in names if name != tried and not _excludes(facts, _facts(root / name)))
    return [tried, *others]


def _excludes(pack: dict[str, Any], other: dict[str, Any]) -> bool:
    """True if two packs cannot be used in one process."""
    both_replace = pack.get("replaces_onnxruntime") and other.get("replaces_onnxruntime")
    return bool(both_replace) or pack.get("id") == other.get("id")


def _facts(folder: Path) -> dict[str, Any]:
    try:
        return _object(folder / LIST)
    except (OSError, ValueError):
        return {}


def _object(path: Path) -> dict[str, Any]:
    """Read a JSON object. Raises OSError or ValueError."""
    value: object = json.loads(path.read_bytes())
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    raise ValueError(f"{path} is no object")


def _checked(folder: Path) -> PackInUse:
    """Return a pack whose list fits this Python and whose libraries are there."""
    if not folder.is_dir():
        raise _Unusable("its folder is missing")
    try:
        facts = _object(folder / LIST)
        made_for = (facts["system"], facts["machine"], facts["python"])
        files = [(str(name), int(size)) for name, size, *_ in facts["files"]]
        dlls = (folder / SITE / name for name, _ in files if name.lower().endswith(".dll"))
        pack = PackInUse(
            str(facts["id"]),
            str(facts["version"]),
            folder / SITE,
            bool(facts["replaces_onnxruntime"]),
            frozenset(dll.parent for dll in dlls),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _Unusable("its list of files is damaged") from error
    if made_for[:2] != (this_system(), this_machine()):
        raise _Unusable("it is made for another system")
    if made_for[2] not in ("", this_python()):
        raise _Unusable(f"it is made for Python {made_for[2]}, and this is {this_python()}")
    for name, size in files:
        if name.lower().endswith(_LIBRARIES) or ".so." in name:
            _require_file(folder / SITE / name, size)
    return pack


def _require_file(path: Path, size: int) -> None:
    try:
        found = path.stat().st_size
    except OSError as error:
        raise _Unusable(f"its file {path.name} is missing") from error
    if found != size:
        raise _Unusable(f"its file {path.name} has another size")


def _require_one_onnxruntime(pack: PackInUse, used: list[PackInUse]) -> None:
    first = next((pack for pack in used if pack.replaces_onnxruntime), None)
    if pack.replaces_onnxruntime and first is not None:
        raise _Unusable(f"it brings an ONNX Runtime, and so does {first.id}")


def _search(pack: PackInUse) -> None:
    """Make Python and the system's loader search a pack first, and lock it against deletion."""
    folder = str(pack.folder)
    if folder in sys.path:
        return
    with suppress(OSError):  # someone removes it; its files stay until the end of this process
        _locks.append(FileLock(pack.folder.parent / LIST, shared=True))
    sys.path.insert(0, folder)
    if sys.platform == "win32":
        _dll_folders.extend(map(os.add_dll_directory, sorted(map(str, pack.dll_folders))))


def _name_files_in_utf8() -> None:
    """Have Windows' C library take names of files in UTF-8, as we give them to runtimes.

    TensorRT-RTX's plug-in opens them with `std::fstream`, for which they were in the system's old
    encoding: it found no folder of a person whose name has other letters.
    """
    if sys.platform == "win32":
        import locale

        with suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, ".UTF8")
