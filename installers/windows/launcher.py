"""The launchers: `safelight.exe` for the window, `safelight.com` for consoles.

A console finds .COM before .EXE, so that `safelight` is the command line there. Both are compiled
by Debian's mingw-w64 from `launcher.c`; the same source gives the same bytes.
"""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from installers.icon.files import ico_icon

WINDOW = "safelight.exe"
CONSOLE = "safelight.com"
_SOURCES = Path(__file__).parent
_COMPILER = "x86_64-w64-mingw32-gcc"
_RESOURCES = "x86_64-w64-mingw32-windres"
_FLAGS = ("-std=c11", "-Os", "-Wall", "-Wextra", "-Werror", "-municode", "-static", "-s")
# Address space randomisation of 64 bits and no executable data; no time in the file; the stack that
# python.exe has, as the interpreter's limit of recursion is made for it.
_LINKING = (
    "--dynamicbase", "--high-entropy-va", "--nxcompat", "--no-insert-timestamp", "--stack,3000000",
)  # fmt: skip


@dataclass(frozen=True)
class _Kind:
    """One of the two launchers."""

    file_name: str
    flags: tuple[str, ...]


_KINDS = (
    _Kind(WINDOW, ("-mwindows", "-DWINDOW")),
    _Kind(CONSOLE, ("-mconsole",)),
)


def build_launchers(folder: Path, version: str, python: str) -> None:
    """Compile both launchers into a folder, for an interpreter library such as "python313".

    Raises CalledProcessError with the compiler's own message, FileNotFoundError without mingw-w64.
    """
    with tempfile.TemporaryDirectory() as work:
        for kind in _KINDS:
            _build(kind, Path(work), folder / kind.file_name, version, python)


def version_numbers(version: str) -> tuple[int, int, int, int]:
    """Return the four numbers that Windows compares; what follows the third is not one of them."""
    numbers = [int(part) for part in version.split("+")[0].split(".")[:3] if part.isdecimal()]
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    return major, minor, patch, 0


def _build(kind: _Kind, work: Path, target: Path, version: str, python: str) -> None:
    numbers = version_numbers(version)
    values = {
        "@NUMBERS@": ",".join(map(str, numbers)),
        "@DOTTED@": ".".join(map(str, numbers)),
        "@VERSION@": version,
        "@FILE_NAME@": kind.file_name,
    }
    (work / "safelight.ico").write_bytes(ico_icon())
    for name in ("launcher.rc", "launcher.manifest"):
        text = (_SOURCES / name).read_text(encoding="utf-8")
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)
        (work / name).write_text(text, encoding="utf-8")
    _run(work, _RESOURCES, "launcher.rc", "-O", "coff", "-o", "resources.o")
    linking = ",".join(("-Wl", *_LINKING))
    source = str(_SOURCES / "launcher.c")
    flags = (*_FLAGS, *kind.flags, f'-DPYTHON=L"{python}"', linking)
    _run(work, _COMPILER, *flags, source, "resources.o", "-o", str(target.absolute()))


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True)
