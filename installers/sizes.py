"""Prints what an installation takes on disk by part, and fails above the limit: `make size`.

The packages of each system are unpacked and trimmed as in a build, and ours are packed as there;
the interpreter, and the growth of other modules by compiling, count with what a build measured.
Trees that were built are measured too.
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from installers.bytecode import Compilation, compile_all
from installers.inputs import Target, read_inputs
from installers.system import Tree
from installers.systems import SYSTEMS
from installers.tree import REPOSITORY, own_version, place_code, place_packages, trim_packages

# In MB of 10^6 bytes: what du and Windows call a MB is 5 % more.
LIMIT = 200
_MB = 10**6
_BLOCK = 4096
# Interpreter, launcher and icons of a tree that was built, in bytes on disk.
_INTERPRETERS = {Target.LINUX: 19_300_000, Target.WINDOWS: 23_000_000, Target.MACOS: 32_000_000}
# Parts by the beginnings of paths; the first that fits counts.
_PARTS = (
    ("interpreter", ("runtime/",)),
    ("Qt", ("site/PySide6/", "site/shiboken6/")),
    ("ONNX Runtime", ("site/onnxruntime/",)),
    ("NumPy", ("site/numpy/", "site/numpy.libs/")),
    ("other packages", ("site/",)),
    ("starter model", ("lib/starter/",)),
    ("Safelight", ("lib/",)),
)
_REST = "launcher, licences"


@dataclass(frozen=True)
class Sizes:
    """Bytes on disk by part."""

    parts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Bytes on disk of everything."""
        return sum(self.parts.values())


def measured(root: Path, growth: Mapping[str, float] | None = None) -> Sizes:
    """Return what a folder takes on disk, each file rounded up to blocks of 4 KiB.

    `growth` tells by top folders how much larger Python modules get when they are compiled.
    """
    parts = dict.fromkeys((*(name for name, _ in _PARTS), _REST), 0)
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(root)
            factor = (growth or {}).get(name.parts[0], 1) if path.suffix == ".py" else 1
            size = -(-path.stat().st_size * factor // _BLOCK) * _BLOCK
            parts[part_of(name.as_posix())] += int(size)
    return Sizes(parts)


def _growth(compilation: Compilation) -> dict[str, float]:
    """Return the sizes of compiled modules beside their sources, as built trees have them."""
    kinds = ((compilation.beside, 2.7), (compilation.instead, 0.95))
    return {folder: factor for folders, factor in kinds for folder in folders}


def part_of(path: str) -> str:
    """Return the part that a file of a tree belongs to."""
    for name, beginnings in _PARTS:
        if path.startswith(beginnings):
            return name
    return _REST


def from_wheels(target: Target) -> Sizes:
    """Return the sizes of a system's tree, made of its wheels and our code alone."""
    with tempfile.TemporaryDirectory(prefix="safelight-size-") as folder:
        tree = Tree(Path(folder), target, own_version(), read_inputs())
        place_packages(tree)
        place_code(tree)
        trim_packages(tree)
        SYSTEMS[target].shrink(tree)
        compilation = SYSTEMS[target].compilation
        # Any Python compiles these modules; others may need the tree's own.
        compile_all(tree.root, Compilation(bundles=compilation.bundles), Path(sys.executable))
        parts = dict(measured(tree.root, _growth(compilation)).parts)
    parts["interpreter"] = _INTERPRETERS[target]
    return Sizes(parts)


def table(sizes: Mapping[str, Sizes]) -> str:
    """Return sizes as a table, a row for each part and a column for each system."""
    names = list(sizes)
    rows = [["MB of 10^6 bytes", *names]]
    rows.extend(
        [part, *(f"{sizes[name].parts[part] / _MB:.1f}" for name in names)]
        for part in (*(name for name, _ in _PARTS), _REST)
    )
    rows.append(["total", *(f"{sizes[name].total / _MB:.1f}" for name in names)])
    rows.append(["limit", *(str(LIMIT) for _ in names)])
    return "\n".join(
        f"{first:18}" + "".join(f"{part:>16}" for part in rest) for first, *rest in rows
    )


def main(arguments: Sequence[str]) -> int:
    """Print the table for all systems, and for the trees named by paths; 1 if one is too large."""
    sizes = {path: measured(Path(path)) for path in arguments}
    if not arguments:
        for target in SYSTEMS:
            built = REPOSITORY / "build" / "installers" / f"tree-{target}"
            name, size = str(target), from_wheels(target)
            sizes[name] = size
            if (built / "version.json").is_file():
                sizes[f"{name} (built)"] = measured(built)
    print(table(sizes))
    too_large = [name for name, size in sizes.items() if size.total > LIMIT * _MB]
    for name in too_large:
        print(f"{name} takes more than {LIMIT} MB.", file=sys.stderr)
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
