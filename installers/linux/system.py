"""The Linux tree: its interpreter, launcher and formats."""

import shutil
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from installers.archives import write_tar_xz
from installers.inputs import File
from installers.linux import debian
from installers.linux.interpreter import interpreter
from installers.system import Packager, Tree

_LIBRARY = Path("lib") / "python3.13"
# Relative paths in a .pth file start at its folder.
_PATHS = "../../../../lib\n../../../../site\n"


class LinuxSystem:
    """Linux on x86-64 with glibc 2.34 or newer."""

    @property
    def formats(self) -> Mapping[str, Packager]:
        """The formats by name; the first is the default."""
        return {"tar.xz": write_portable}

    @property
    def compiled_folders(self) -> Sequence[str]:
        """The standard library."""
        return ("runtime",)

    def newest_files(self) -> Iterable[File]:
        """Return the sources of the interpreter, and the list of the old Debian's packages."""
        return (*debian.newest_sources(), debian.old_packages())

    def place_interpreter(self, tree: Tree, given: Path | None) -> None:
        """Make `runtime/` of the built interpreter, or of an archive with the same layout."""
        with tarfile.open(given or interpreter(tree.inputs)) as archive:
            archive.extractall(tree.root, filter="tar")
        packages = tree.runtime / _LIBRARY / "site-packages"
        packages.mkdir(exist_ok=True)
        (packages / "safelight.pth").write_text(_PATHS)

    def place_launcher(self, tree: Tree) -> None:
        """Put the launcher, which was built with the interpreter, into the root."""
        shutil.move(tree.runtime / "launcher", tree.root / "safelight")

    def runs_here(self, tree: Tree) -> Path | None:
        """Return the tree's interpreter."""
        return tree.runtime / "bin" / "python3.13"


def write_portable(tree: Tree, folder: Path) -> Path:
    """Write the folder that runs from anywhere, as .tar.xz."""
    name = f"safelight-{tree.version}-linux-x86_64"
    return write_tar_xz(tree.root, folder / f"{name}.tar.xz", name)
