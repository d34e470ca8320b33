"""Builds an installer: `python -m installers.build linux|windows|macos [FORMAT]`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from installers.bytecode import BytecodeError
from installers.errors import BuildError
from installers.inputs import InputError, Target
from installers.linux.interpreter import InterpreterError
from installers.systems import SYSTEMS
from installers.tree import REPOSITORY, assemble
from installers.trimming import TrimError
from installers.wheels import WheelError
from installers.windows.imports import ImportsError
from installers.windows.signatures import SignatureError

_OUT = REPOSITORY / "build" / "installers"
# What an input or the reviewed lists can be wrong about; the message says it.
_ERRORS = (
    BuildError, BytecodeError, ImportsError, InputError, InterpreterError, SignatureError,
    TrimError, WheelError,
)  # fmt: skip
# The tree itself, as a folder.
FOLDER = "folder"


def main(arguments: Sequence[str]) -> int:
    """Build what the command line asks for; print the path of each result."""
    options = _parser().parse_args(arguments)
    target = Target(options.target)
    system = SYSTEMS[target]
    formats = {FOLDER, *system.formats}
    wanted = [options.format] if options.format else list(system.formats)
    if not formats.issuperset(wanted):
        print(f"{target} has the formats {', '.join(sorted(formats))}.", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        tree = assemble(system, target, options.out / f"tree-{target}", options.interpreter)
        for name in wanted:
            print(tree.root if name == FOLDER else system.formats[name](tree, options.out))
    except _ERRORS as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m installers.build", description=__doc__)
    parser.add_argument("target", choices=[str(target) for target in SYSTEMS])
    parser.add_argument("format", nargs="?", help=f"one format, or {FOLDER}; without it, each")
    parser.add_argument("--out", type=Path, default=_OUT, help="the folder for results")
    parser.add_argument(
        "--interpreter", type=Path, help="an archive of the interpreter, in place of the pinned one"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
