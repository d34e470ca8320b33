"""Bytecode compiled ahead, so that a folder that cannot be written to starts as fast as any."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

VERSION = (3, 13)
# Runs in the interpreter whose bytecode is wanted.
_PROGRAM = Path(__file__).with_name("compiling.py")


class BytecodeError(Exception):
    """A file that does not compile, or no Python to compile it."""


@dataclass(frozen=True)
class Compilation:
    """Folders of a tree, below its root, by what becomes of their modules."""

    # Bytecode beside the sources.
    beside: tuple[str, ...] = ()
    # Bytecode in the sources' place, without docstrings.
    instead: tuple[str, ...] = ()
    # Like `instead`, then packed into the .zip file of the same index.
    packed: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()
    # Archives and the packages in them, whose data is read by importlib.resources; bytecode like
    # `instead`.
    bundles: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def orders(self) -> list[str]:
        """The arguments of the program that compiles, in the order in which it works."""
        pairs = zip(self.packed, self.archives, strict=True)
        return [
            *(f"beside={folder}" for folder in self.beside),
            *(f"documented={folder}" for folder in self.documented),
            *(
                f"bundled={folder}={zip_}"
                for zip_, folders in self.bundles.items()
                for folder in folders
            ),
            *(f"instead={folder}" for folder in self.instead),
            *(f"packed={folder}={archive}" for folder, archive in pairs),
        ]

    # Bytecode in the sources' place, with docstrings, which the command line prints.
    documented: tuple[str, ...] = ()


def compile_all(root: Path, compilation: Compilation, python: Path) -> None:
    """Compile the modules of a tree; raises BytecodeError if one has an error."""
    # A fixed seed, because the order of sets reaches the bytecode. -B, because the interpreter may
    # be the tree's, into which it would write bytecode of what it imports itself.
    done = subprocess.run(
        [str(python), "-B", "-S", "-s", str(_PROGRAM), str(root), *compilation.orders],
        env={"PYTHONHASHSEED": "0"}, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise BytecodeError(done.stderr)


def compiler(own: Path | None) -> Path:
    """Return a Python of the tree's version: `own` where it runs here, else the present one.

    Raises BytecodeError if there is none.
    """
    if own is not None:
        return own
    if sys.version_info[:2] == VERSION:
        return Path(sys.executable)
    raise BytecodeError("Bytecode needs Python 3.13: start the build with it.")
