"""Tries an installer under Wine 10: `python -m installers.windows.wine SETUP.EXE PREFIX`.

It installs without questions, asks for the version, reads the starter, makes a picture on the
processor, installs again over it, and uninstalls. PREFIX is a folder that is made anew. Wine 10
lacks two pieces of Windows, which are put into it first: icuuc.dll (see icuuc.c), and the functions
of its C library that return the parts of a complex number, which NumPy calls when it is imported.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pefile  # pyright: ignore[reportMissingTypeStubs] (it ships no types)

_HERE = Path(__file__).parent
_COMPILER = "x86_64-w64-mingw32-gcc"
_FOLDER = Path("AppData", "Local", "Programs", "Safelight")
# Machine code for x86-64, by Windows' calling convention: a complex float comes in a register,
# wider ones by their address.
_FUNCTIONS = {
    "crealf": "660f6ec1c3",  # movd xmm0, ecx; ret
    "cimagf": "48c1e920660f6ec1c3",  # shr rcx, 32; movd xmm0, ecx; ret
    "creall": "f20f1001c3",  # movsd xmm0, [rcx]; ret
    "cimag": "f20f104108c3",  # movsd xmm0, [rcx + 8]; ret
    "cimagl": "f20f104108c3",
}
# What begins a function that Wine only names.
_UNIMPLEMENTED = bytes.fromhex("4883ec28488d")


def main(setup: Path, prefix: Path) -> None:
    """Run the trial; raises CalledProcessError at the step that fails."""
    shutil.rmtree(prefix, ignore_errors=True)
    wine = _Wine(prefix)
    wine.run("wineboot", "-i")
    wine.run("wineserver", "-w")
    system = prefix / "drive_c" / "windows" / "system32"
    built = ("-shared", "-Os", "-s", str(_HERE / "icuuc.c"), "-o", str(system / "icuuc.dll"))
    subprocess.run([_COMPILER, *built], check=True)
    complete(system / "ucrtbase.dll")
    wine.run("wine", str(setup), "/S")
    (folder,) = (prefix / "drive_c" / "users").glob(f"*/{_FOLDER}")
    program = str(folder / "safelight.com")
    picture = prefix / "pïcture.png"
    wine.run("wine", program, "--version")
    wine.run("wine", program, "inspect", str(folder / "lib" / "starter" / "safelight-starter"))
    wine.run(
        "wine", program, "generate", "a red house by the sea at night",
        "--backend", "cpu", "--steps", "8", "--seed", "1", "--out", f"Z:{picture.absolute()}",
    )  # fmt: skip
    wine.run("wine", str(setup), "/S")
    wine.run("wine", program, "--version")
    wine.run("wine", str(folder / "uninstall.exe"), "/S")
    wine.run("wineserver", "-w")
    left = [path.name for path in folder.rglob("*")] if folder.exists() else []
    print("picture:", picture.stat().st_size, "bytes; left after uninstalling:", left or "nothing")


def complete(library: Path) -> None:
    """Write code for functions that a copy of Wine's C library names but does not have."""
    data = bytearray(library.read_bytes())
    file: Any
    with pefile.PE(data=bytes(data)) as file:
        exports = {symbol.name: symbol for symbol in file.DIRECTORY_ENTRY_EXPORT.symbols}
        for name, code in _FUNCTIONS.items():
            at = file.get_offset_from_rva(exports[name.encode()].address)
            if data[at:].startswith(_UNIMPLEMENTED):
                data[at : at + len(code) // 2] = bytes.fromhex(code)
    library.unlink()
    library.write_bytes(data)


class _Wine:
    """Wine with a folder of its own."""

    def __init__(self, prefix: Path) -> None:
        self._environment = {
            "WINEPREFIX": str(prefix.absolute()),
            "WINEDEBUG": "-all",
            "PATH": "/usr/bin:/bin:/usr/lib/wine",
            "HOME": str(prefix.absolute().parent),
            "LANG": "C.UTF-8",
        }

    def run(self, *command: str) -> None:
        print("$", *command, flush=True)
        subprocess.run(command, env=self._environment, stdin=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
