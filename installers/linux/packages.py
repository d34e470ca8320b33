"""The formats for Linux: a folder that runs from anywhere, and a Debian package."""

import io
import lzma
import shutil
import tempfile
from pathlib import Path

from app.display import PACKAGES
from installers.archives import EPOCH, write_tar, write_tar_xz
from installers.icon.files import write_icons
from installers.system import Tree

_HOME = Path("usr/lib/safelight")
# What the tree's libraries load of the system beside what `app.display` names for the window.
_DEPENDS = (
    "libc6 (>= 2.34)", "libbrotli1", "libfreetype6", "libgcc-s1", "libglib2.0-0t64 | libglib2.0-0",
    "libgssapi-krb5-2", "libstdc++6", "libwayland-client0", "libx11-6", "libx11-xcb1",
    "libxkbcommon0", "libzstd1", "zlib1g",
)  # fmt: skip
DESKTOP_ENTRY = """\
[Desktop Entry]
Type=Application
Name=Safelight
Comment=Make pictures on your own computer
Exec=safelight %F
Icon=safelight
Terminal=false
Categories=Graphics;2DGraphics;RasterGraphics;
Keywords=Stable Diffusion;image;picture;generate;
MimeType=application/x-safetensors;image/png;image/jpeg;image/webp;
StartupWMClass=safelight
StartupNotify=true
"""
_MIME_TYPES = """\
<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="application/x-safetensors">
    <comment>Weights of a neural network</comment>
    <icon name="safelight"/>
    <glob pattern="*.safetensors"/>
  </mime-type>
</mime-info>
"""
_CONTROL = """\
Package: safelight
Version: {version}
Architecture: amd64
Maintainer: Safelight <safelight@users.noreply.github.com>
Homepage: https://safelight.github.io
Installed-Size: {size}
Depends: {depends}
Section: graphics
Priority: optional
Description: makes pictures with your own Stable Diffusion checkpoints
 Safelight turns a prompt and a checkpoint into a picture, on your own computer.
 It comes with an interpreter and libraries of its own.
"""


def write_portable(tree: Tree, folder: Path) -> Path:
    """Write the folder that runs from anywhere, as .tar.xz."""
    name = f"safelight-{tree.version}-linux-x86_64"
    return write_tar_xz(tree.root, folder / f"{name}.tar.xz", name)


def write_deb(tree: Tree, folder: Path) -> Path:
    """Write a package for Debian and Ubuntu.

    It has no scripts: menu, icons and file types are noticed by the packages whose they are, and
    removing it touches nothing of a user's.
    """
    target = folder / f"safelight_{tree.version}_amd64.deb"
    with tempfile.TemporaryDirectory(prefix="safelight-deb-") as scratch:
        root = Path(scratch)
        shutil.copytree(tree.root, root / _HOME, symlinks=True)
        _place_in_system(root)
        members = {
            "debian-binary": b"2.0\n",
            "control.tar.xz": _control(tree, root),
            "data.tar.xz": _packed(root),
        }
    target.write_bytes(ar(members))
    return target


def ar(members: dict[str, bytes]) -> bytes:
    """Return an archive of `ar`, which a Debian package is."""
    written = bytearray(b"!<arch>\n")
    for name, data in members.items():
        header = f"{name:<16}{EPOCH:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n"
        written.extend(header.encode() + data + b"\n" * (len(data) % 2))
    return bytes(written)


def _place_in_system(root: Path) -> None:
    """Put the command, the menu entry, icons and file types around the tree."""
    share = root / "usr" / "share"
    command = root / "usr" / "bin" / "safelight"
    command.parent.mkdir()
    command.symlink_to("../lib/safelight/safelight")
    texts = {
        "applications/safelight.desktop": DESKTOP_ENTRY,
        "mime/packages/safelight.xml": _MIME_TYPES,
        "doc/safelight/copyright": (root / _HOME / "LICENSE").read_text(encoding="utf-8"),
    }
    for name, text in texts.items():
        (share / name).parent.mkdir(parents=True)
        (share / name).write_text(text, encoding="utf-8")
    _place_icons(share / "icons" / "hicolor")


def _place_icons(theme: Path) -> None:
    with tempfile.TemporaryDirectory() as drawn:
        write_icons(Path(drawn))
        for path in Path(drawn).iterdir():
            side = path.stem.rpartition("-")[2]
            place = {".png": f"{side}x{side}", ".svg": "scalable"}.get(path.suffix)
            if place:
                target = theme / place / "apps" / f"safelight{path.suffix}"
                target.parent.mkdir(parents=True)
                shutil.copyfile(path, target)


def _control(tree: Tree, root: Path) -> bytes:
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    depends = ", ".join((*_DEPENDS, *PACKAGES.split()))
    with tempfile.TemporaryDirectory() as folder:
        control = Path(folder) / "control"
        text = _CONTROL.format(version=tree.version, size=size, depends=depends)
        control.write_text(text, encoding="utf-8")
        return _packed(Path(folder))


def _packed(root: Path) -> bytes:
    stream = io.BytesIO()
    with lzma.open(stream, "wb", preset=6) as packed:
        write_tar(root, packed, ".")
    return stream.getvalue()
