"""The Linux tree: its interpreter, launcher and formats."""

import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from installers.bytecode import Compilation
from installers.inputs import File
from installers.linux import debian, elf, icu
from installers.linux.appimage import write_appimage
from installers.linux.appimage_runtime import reviewed_sources
from installers.linux.interpreter import interpreter
from installers.linux.packages import write_deb, write_portable
from installers.system import BUNDLES, IMPORT_PATHS, Packager, Tree
from installers.trimming import TrimError

_LIBRARY = Path("lib") / "python3.13"
# Relative paths in a .pth file start at its folder.
_PATHS = "".join(f"../../../../{path}\n" for path in IMPORT_PATHS)
# Libraries below site/ with symbols for debuggers.
_STRIPPED = (
    "PIL/*.so", "PySide6/Qt/lib/libicui18n.so.*", "PySide6/Qt/lib/libicuuc.so.*",
    "google/_upb/*.so", "msgspec/*.so",
    "numpy.libs/libscipy_openblas*.so", "numpy/_core/_multiarray_umath.*.so", "numpy/fft/*.so",
    "numpy/linalg/*.so", "numpy/random/*.so", "tokenizers/tokenizers.*.so",
)  # fmt: skip
_FULL_OF_HOLES = "pillow.libs/libXau-*"
_ICU_DATA = "PySide6/Qt/lib/libicudata.so.*"


class LinuxSystem:
    """Linux on x86-64 with glibc 2.34 or newer."""

    @property
    def formats(self) -> Mapping[str, Packager]:
        """The formats by name; the first is the default."""
        return {"tar.xz": write_portable, "deb": write_deb, "appimage": write_appimage}

    @property
    def compilation(self) -> Compilation:
        """Everything as bytecode; the standard library and packages packed."""
        return Compilation(
            documented=("lib/app/cli",),
            bundles=BUNDLES,
            instead=("lib", "site"),
            packed=(f"runtime/{_LIBRARY}",),
            archives=("runtime/lib/python313.zip",),
        )

    def newest_files(self) -> Iterable[File]:
        """Return the sources of what is built here, and the list of the old Debian's packages."""
        return (*debian.newest_sources(), debian.old_packages(), *reviewed_sources())

    def place_interpreter(self, tree: Tree, given: Path | None) -> None:
        """Make `runtime/` of the built interpreter, or of an archive with the same layout."""
        with tarfile.open(given or interpreter(tree.inputs)) as archive:
            archive.extractall(tree.root, filter="tar")
        packages = tree.runtime / _LIBRARY / "site-packages"
        packages.mkdir(exist_ok=True)
        # The interpreter warns if it has no folder of extension modules, though all are built in.
        (tree.runtime / _LIBRARY / "lib-dynload" / "README").write_text("Modules are built in.\n")
        (packages / "safelight.pth").write_text(_PATHS)

    def shrink(self, tree: Tree) -> None:
        """Strip symbols where they are many, and cut ICU's data."""
        for pattern in _STRIPPED:
            for path in matching(tree.site, pattern):
                subprocess.run(["strip", "--strip-all", str(path)], check=True)
        for path in matching(tree.site, _FULL_OF_HOLES):
            path.write_bytes(elf.close_holes(path.read_bytes()))
        for path in matching(tree.site, _ICU_DATA):
            path.write_bytes(icu.smaller(path.read_bytes()))

    def place_launcher(self, tree: Tree) -> None:
        """Put the launcher, which was built with the interpreter, into the root."""
        shutil.move(tree.runtime / "launcher", tree.root / "safelight")

    def runs_here(self, tree: Tree) -> Path | None:
        """Return the tree's interpreter."""
        return tree.runtime / "bin" / "python3.13"


def matching(folder: Path, pattern: str) -> list[Path]:
    """Return the files that a pattern names; raises TrimError if there are none."""
    found = sorted(folder.glob(pattern))
    if not found:
        raise TrimError(f"No file below {folder} fits {pattern!r}.")
    return found
