"""The AppImage: one file that runs where it lies, a program followed by the tree's file system."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from installers.archives import EPOCH, files_of, mode_of
from installers.errors import BuildError
from installers.icon.files import png_icon
from installers.linux import elf
from installers.linux.appimage_runtime import appimage_runtime
from installers.linux.packages import DESKTOP_ENTRY
from installers.system import Tree

_MAGIC_AT, _MAGIC = 8, b"AI\x02"
_ICON_SIDE = 256


class AppImageError(BuildError):
    """An AppImage that could not be written."""


def write_appimage(tree: Tree, folder: Path) -> Path:
    """Write the tree as a file that mounts itself; raises AppImageError, RuntimeBuildError."""
    target = folder / f"safelight-{tree.version}-linux-x86_64.AppImage"
    return write_image(tree.root, appimage_runtime(tree.inputs).read_bytes(), target)


def write_image(tree: Path, runtime: bytes, target: Path) -> Path:
    """Write a folder behind a runtime; raises AppImageError.

    The runtime looks for the file system where the file that it was built as ended.
    """
    if elf.length(runtime) != len(runtime):
        raise AppImageError("The AppImage's runtime has more in its file than its headers tell.")
    with tempfile.TemporaryDirectory(prefix="safelight-appimage-") as scratch:
        root, packed = Path(scratch) / "root", Path(scratch) / "packed"
        shutil.copytree(tree, root, symlinks=True)
        _add_entry(root)
        _pack(root, packed)
        end = _MAGIC_AT + len(_MAGIC)
        with target.open("wb") as file, packed.open("rb") as content:
            file.write(runtime[:_MAGIC_AT] + _MAGIC + runtime[end:])
            shutil.copyfileobj(content, file)
    target.chmod(0o755)
    return target


def _add_entry(root: Path) -> None:
    """Add what desktops read from an AppImage, and the name of its program."""
    (root / "AppRun").symlink_to("safelight")
    (root / "safelight.desktop").write_text(DESKTOP_ENTRY, encoding="utf-8")
    (root / "safelight.png").write_bytes(png_icon(_ICON_SIDE))
    (root / ".DirIcon").symlink_to("safelight.png")


def _pack(root: Path, target: Path) -> None:
    for path in (root, *(path for _, path in files_of(root))):
        if not path.is_symlink():
            path.chmod(mode_of(path))
    command = [
        "mksquashfs", str(root), str(target), "-comp", "zstd", "-Xcompression-level", "19",
        "-b", "256K", "-all-root", "-no-xattrs", "-all-time", str(EPOCH), "-mkfs-time", str(EPOCH),
        "-no-progress", "-quiet",
    ]  # fmt: skip
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise AppImageError("An AppImage needs mksquashfs, of squashfs-tools.") from error
    except subprocess.CalledProcessError as error:
        raise AppImageError(f"mksquashfs failed:\n{error.stderr}") from error
