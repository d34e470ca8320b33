"""Bytecode compiled ahead, so that a folder that cannot be written to starts as fast as any."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

VERSION = (3, 13)

# Runs in the interpreter whose bytecode is wanted. One process and sorted names: references within
# a file depend on what was compiled before it. Hashes that are not checked need no times of files.
_PROGRAM = """
import py_compile, sys
from pathlib import Path
root = Path(sys.argv[1])
for folder in sys.argv[2:]:
    for path in sorted((root / folder).rglob("*.py")):
        py_compile.compile(
            str(path), dfile=path.relative_to(root).as_posix(), doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
"""


class BytecodeError(Exception):
    """A file that does not compile, or no Python to compile it."""


def compile_all(root: Path, folders: Sequence[str], python: Path) -> None:
    """Compile every module below folders of a tree; raises BytecodeError if one has an error."""
    command = [str(python), "-S", "-s", "-c", _PROGRAM, str(root), *folders]
    # A fixed seed, because the order of sets reaches the bytecode.
    done = subprocess.run(
        command, env={"PYTHONHASHSEED": "0"}, check=False, capture_output=True, text=True
    )
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
