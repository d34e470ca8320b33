"""The libraries that files of the Windows tree ask for, and the places where they are found."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import pefile  # pyright: ignore[reportMissingTypeStubs] (it ships no types)

from installers.archives import files_of

_PROGRAMS = frozenset({".exe", ".com", ".dll", ".pyd"})
# Folders that are searched for every library: that of the interpreter, which is the program's or
# which the launcher adds, and those that PySide6 adds when it is imported.
_SEARCHED = ("runtime", "site/PySide6", "site/shiboken6")
# Libraries of Windows 10, version 1809, that the tree asks for. Reviewed: none is part of an
# optional feature or of a package that only some computers have.
WINDOWS = frozenset(
    [
        "advapi32",
        "authz",
        "bcrypt",
        "bcryptprimitives",
        "comdlg32",
        "crypt32",
        "d3d11",
        "d3d12",
        "d3d9",
        "dbghelp",
        "dnsapi",
        "dwmapi",
        "dwrite",
        "dxgi",
        "gdi32",
        "icuuc",
        "imm32",
        "iphlpapi",
        "kernel32",
        "mpr",
        "msvcrt",
        "ncrypt",
        "netapi32",
        "ntdll",
        "ole32",
        "oleaut32",
        "propsys",
        "rpcrt4",
        "secur32",
        "setupapi",
        "shell32",
        "shlwapi",
        "uiautomationcore",
        "user32",
        "userenv",
        "uxtheme",
        "version",
        "winhttp",
        "winmm",
        "winspool.drv",
        "ws2_32",
        "wtsapi32",
    ]
)
# Names that Windows maps to its own libraries: of its C runtime, and of its programming interface.
_MAPPED = ("api-ms-win-crt-", "api-ms-win-core-", "api-ms-win-shcore-")


class ImportsError(Exception):
    """A library that is neither in the tree, where it would be found, nor one of Windows."""


def require_resolved(root: Path) -> None:
    """Raise ImportsError unless all libraries that files of a tree ask for are there."""
    missing = sorted(unresolved(root))
    if missing:
        lines = "\n".join(f"{name} asks for {library}" for name, library in missing)
        raise ImportsError(f"Libraries that a clean Windows does not have:\n{lines}")


def unresolved(root: Path) -> Iterator[tuple[str, str]]:
    """Yield each file of a tree with a library it asks for that is in no place it is looked for."""
    files = {name.lower(): path for name, path in files_of(root) if path.is_file()}
    for name, path in files.items():
        if path.suffix.lower() in _PROGRAMS:
            for library in imported(path):
                if not _is_windows(library) and not _is_found(name, library, files):
                    yield name, library


def imported(path: Path) -> frozenset[str]:
    """Return the names, in lower case, of the libraries that a file loads, at once or when used."""
    with pefile.PE(str(path), fast_load=True) as file:
        entries = pefile.DIRECTORY_ENTRY
        kinds = ("IMPORT", "DELAY_IMPORT")
        file.parse_data_directories(  # pyright: ignore[reportUnknownMemberType]
            [entries[f"IMAGE_DIRECTORY_ENTRY_{kind}"] for kind in kinds]
        )
        return frozenset(
            entry.dll.decode("ascii").lower()
            for kind in kinds
            for entry in getattr(file, f"DIRECTORY_ENTRY_{kind}", ())
        )


def _is_windows(library: str) -> bool:
    return library.startswith(_MAPPED) or library.removesuffix(".dll") in WINDOWS


def _is_found(name: str, library: str, files: Mapping[str, Path]) -> bool:
    parents = [str(parent) for parent in PurePosixPath(name).parents]
    # Wheels that delvewheel made have their libraries in `site/NAME.libs`, which the package adds.
    own = [f"{parent}.libs" for parent in parents if parent.count("/") == 1]
    folders = (parents[0], *own, *(folder.lower() for folder in _SEARCHED))
    return any(f"{folder}/{library}" in files for folder in folders)
