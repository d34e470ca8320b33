"""A tree while it is built, and the interface that each system fills."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from installers.bytecode import Compilation
from installers.inputs import File, Inputs, Target

# Archives of packages, where a system lets us: two thousand small files would fill a block of the
# disk each. The starter model stays outside, as it is mapped into memory; so do packages of others
# with libraries or data of their own.
BUNDLES = {
    "lib/safelight.zip": ("lib/app", "lib/backends", "lib/engine", "lib/ui"),
    "site/packages.zip": (
        "site/ftfy", "site/google/protobuf", "site/onnx", "site/packaging", "site/platformdirs",
        "site/truststore", "site/urllib3", "site/wcwidth",
    ),
}  # fmt: skip
# What Python imports from: archives, our folder and that of others, below a tree's root.
IMPORT_PATHS = (*BUNDLES, "lib", "site")


@dataclass(frozen=True)
class Tree:
    """A tree on its way: the folder, and the facts that all steps share."""

    root: Path
    target: Target
    # The version of Safelight.
    version: str
    inputs: Inputs

    @property
    def runtime(self) -> Path:
        """The interpreter."""
        return self.root / "runtime"

    @property
    def site(self) -> Path:
        """The packages of others."""
        return self.root / "site"

    @property
    def lib(self) -> Path:
        """Our code."""
        return self.root / "lib"


# Writes a tree in one format into a folder, and returns the file.
Packager = Callable[[Tree, Path], Path]


class System(Protocol):
    """Everything about a tree that differs between systems."""

    @property
    def formats(self) -> Mapping[str, Packager]:
        """The formats by name; the first is the default."""
        ...

    @property
    def compilation(self) -> Compilation:
        """The folders whose modules are compiled."""
        ...

    def newest_files(self) -> Iterable[File]:
        """Return the files, beside wheels, that `lock` pins."""
        ...

    def place_interpreter(self, tree: Tree, given: Path | None) -> None:
        """Make `runtime/`, from an archive that a person gave or from pinned files.

        Its interpreter finds `site` and `lib` by itself, so that children need no variables.
        """
        ...

    def shrink(self, tree: Tree) -> None:
        """Make files in `site/` smaller, once the tree is trimmed."""
        ...

    def place_launcher(self, tree: Tree) -> None:
        """Put the launcher, its icon and what else the root holds into the tree."""
        ...

    def runs_here(self, tree: Tree) -> Path | None:
        """Return the tree's interpreter if this machine can run it."""
        ...
