"""The macOS tree, which becomes a bundle: its interpreter, launcher and formats."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from installers.archives import write_tar_xz
from installers.bytecode import Compilation
from installers.errors import BuildError
from installers.inputs import File
from installers.macos.bundle import ARCHITECTURE, NAME, link_frameworks, make_bundle, thin_all
from installers.macos.interpreter import newest_files, place_interpreter
from installers.macos.launcher import PYTHON, Executable, compile_launcher
from installers.macos.libraries import problems
from installers.system import BUNDLES, IMPORT_PATHS, Packager, Tree

# Relative paths in a .pth file start at its folder.
_PATHS = "".join(f"../../../../{path}\n" for path in IMPORT_PATHS)


class BundleError(BuildError):
    """A bundle whose code would not load."""


class MacosSystem:
    """macOS 14 or newer on Apple silicon.

    There is none for Intel: the last ONNX Runtime with wheels for it, 1.23, cannot share weights
    with the files that they are in, and the last OpenVINO for it reads no opset 23.
    """

    @property
    def formats(self) -> Mapping[str, Packager]:
        """The bundle in an archive, for `sign.sh` on a Mac."""
        return {"app": write_bundle}

    @property
    def compilation(self) -> Compilation:
        """Everything as bytecode; the standard library and packages packed."""
        return Compilation(
            documented=("lib/app/cli",),
            bundles=BUNDLES,
            instead=("lib", "site"),
            packed=(f"runtime/lib/{PYTHON}",),
            archives=(f"runtime/lib/{PYTHON.replace('.', '')}.zip",),
        )

    def newest_files(self) -> Iterable[File]:
        """Return the interpreter's archive and the launcher's compiler."""
        return newest_files()

    def place_interpreter(self, tree: Tree, given: Path | None) -> None:
        """Make `runtime/` of the pinned archive, or of a copy of it, with our executable."""
        place_interpreter(tree.runtime, tree.inputs, given)
        compile_launcher(Executable.INTERPRETER, tree.runtime / "bin" / PYTHON, tree.inputs)
        packages = tree.runtime / "lib" / PYTHON / "site-packages"
        packages.mkdir()
        (packages / "safelight.pth").write_text(_PATHS)

    def shrink(self, tree: Tree) -> None:
        """Take the code for other processors out."""
        thin_all(tree.root)

    def place_launcher(self, tree: Tree) -> None:
        """Make Qt's frameworks whole; the launcher's place is in the bundle, outside the tree."""
        link_frameworks(tree.site)

    def runs_here(self, tree: Tree) -> Path | None:
        """Return nothing, as bundles are put together on Linux."""
        return None


def write_bundle(tree: Tree, folder: Path) -> Path:
    """Write Safelight.app in a .tar.xz, unsigned; raises BundleError if its code would not load."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        executable = Path(scratch) / NAME
        compile_launcher(Executable.WINDOW, executable, tree.inputs)
        bundle = make_bundle(tree.root, executable, tree.version, Path(scratch) / "bundle")
        if found := problems(bundle, ARCHITECTURE):
            raise BundleError("\n".join(found))
        archive = folder / f"safelight-{tree.version}-macos-{ARCHITECTURE}.tar.xz"
        return write_tar_xz(bundle, archive, bundle.name)
