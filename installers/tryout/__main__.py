"""Tries a built Linux tree: `python -m installers.tryout TREE [PART ...]`.

Parts: commands (each command, beside the checkout's), tests (our tests of readers and screens, by
the tree's interpreter), surroundings (settings of others, odd folders, other users). All of them
without PART, some ten minutes. Nothing may write into the tree meanwhile.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from installers.inputs import InputError
from installers.tryout import commands, surroundings
from installers.tryout.program import TryoutError, checked_out, installed
from installers.tryout.suite import run_suite

PARTS = ("commands", "tests", "surroundings")
# A check with its name; its folder is empty.
_Check = tuple[str, Callable[[Path], None]]


def main(arguments: Sequence[str]) -> int:
    """Run the parts, print each check's result; 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m installers.tryout", description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    options = parser.parse_args(arguments)
    root = options.tree.absolute()
    before = contents(root)
    failed = 0
    for name, check in _checks(root, options.parts or PARTS):
        with tempfile.TemporaryDirectory(prefix="safelight-tryout-") as folder:
            failed += not _holds(name, check, Path(folder))
    failed += not _holds("nothing writes into the tree", lambda _: unchanged(root, before), root)
    return 1 if failed else 0


def contents(root: Path) -> dict[str, tuple[int, int]]:
    """Return the size in bytes, and the time of the last change in nanoseconds, of all files."""
    found: dict[str, tuple[int, int]] = {}
    for folder, _, names in os.walk(root):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            status = path.lstat()
            found[str(path.relative_to(root))] = (status.st_size, status.st_mtime_ns)
    return found


def unchanged(root: Path, before: dict[str, tuple[int, int]]) -> None:
    """Raise TryoutError if a tree's files are not those that `contents` returned."""
    changed = sorted(name for name, _ in contents(root).items() ^ before.items())
    if changed:
        raise TryoutError(f"These changed in {root}: {', '.join(dict.fromkeys(changed))}.")


def _checks(root: Path, parts: Sequence[str]) -> Iterator[_Check]:
    if "commands" in parts:
        for name, check in commands.CHECKS.items():
            yield (
                name,
                lambda folder, check=check: check(
                    installed(root, folder / "tree"), checked_out(folder / "checkout")
                ),
            )
    if "surroundings" in parts:
        for name, check in surroundings.CHECKS.items():
            yield name, lambda folder, check=check: check(root, folder)
    if "tests" in parts:
        yield "readers and screens", lambda folder: run_suite(root, folder)


def _holds(name: str, check: Callable[[Path], None], folder: Path) -> bool:
    try:
        check(folder)
    except (TryoutError, InputError) as error:
        print(f"{name}: {error}", flush=True)
        return False
    print(f"{name}: as it should be", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
