"""The bundle Safelight.app: the tree as its resources, an executable, an icon and Info.plist."""

import plistlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.settings.values import Language
from installers.icon.files import icns_icon
from installers.macos.libraries import MINIMUM_SYSTEM
from installers.macos.mach_o import mach_o_files, thin

NAME = "Safelight"
# For macOS the application's identity: with another one it loses its place in the Dock and the
# permissions that a person gave. Its first part names the place where the source is published.
IDENTIFIER = "io.github.safelight.Safelight"
ARCHITECTURE = "arm64"
_ICON = "safelight.icns"
# Files that the app takes, as uniform type identifiers; macOS itself knows those of pictures.
_CHECKPOINT_ENDINGS: Mapping[str, str] = {"safetensors": "Weights", "ckpt": "PyTorch checkpoint"}
_PICTURES = ("public.png", "public.jpeg", "org.webmproject.webp")


def info_plist(version: str) -> bytes:
    """Return Info.plist, by which macOS knows the application."""
    system = ".".join(map(str, MINIMUM_SYSTEM))
    types = [_type_of(ending) for ending in _CHECKPOINT_ENDINGS]
    content: dict[str, object] = {
        "CFBundleDevelopmentRegion": "en",
        "CFBundleDisplayName": NAME,
        "CFBundleDocumentTypes": [
            # Offered beside the program that a person has chosen for these files, not in its place.
            _document_type("Checkpoint or LoRA", types),
            _document_type("Picture", _PICTURES),
        ],
        "CFBundleExecutable": NAME,
        "CFBundleIconFile": _ICON,
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleInfoDictionaryVersion": "6.0",
        # Else macOS takes the application for an English one, whatever its window says: so are its
        # questions for files and the names of months then.
        "CFBundleLocalizations": [
            language.value for language in Language if language is not Language.SYSTEM
        ],
        "CFBundleName": NAME,
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": version,
        "CFBundleVersion": version,
        "LSApplicationCategoryType": "public.app-category.graphics-design",
        "LSMinimumSystemVersion": system,
        "LSRequiresNativeExecution": True,
        "NSHighResolutionCapable": True,
        "NSHumanReadableCopyright": "Safelight's contributors, Apache License 2.0",
        "NSPrincipalClass": "NSApplication",
        "UTImportedTypeDeclarations": [
            _type_declaration(ending, text) for ending, text in _CHECKPOINT_ENDINGS.items()
        ],
    }
    return plistlib.dumps(content)


def make_bundle(tree: Path, executable: Path, version: str, folder: Path) -> Path:
    """Copy a tree and its executable into `folder` as Safelight.app, and return its path."""
    bundle = folder / f"{NAME}.app"
    shutil.rmtree(bundle, ignore_errors=True)
    contents = bundle / "Contents"
    # Code is allowed anywhere in a bundle; but folders with a dot in their names, of which Python's
    # packages have many, are taken for bundles everywhere but here.
    resources = contents / "Resources"
    shutil.copytree(tree, resources, symlinks=True)
    (resources / _ICON).write_bytes(icns_icon())
    place = contents / "MacOS" / NAME
    place.parent.mkdir()
    shutil.copy(executable, place)
    (contents / "Info.plist").write_bytes(info_plist(version))
    (contents / "PkgInfo").write_bytes(b"APPL????")
    return bundle


def thin_all(root: Path) -> None:
    """Leave only the code for Apple silicon in all files below a folder; raises MachOError."""
    for path in mach_o_files(root):
        thin(path, ARCHITECTURE)


def link_frameworks(root: Path) -> None:
    """Give Qt's frameworks the links that a wheel cannot hold, and without which none is signed."""
    for framework in sorted(root.rglob("*.framework")):
        versions = framework / "Versions"
        version = next(path for path in sorted(versions.iterdir()) if not path.is_symlink())
        (versions / "Current").symlink_to(version.name)
        for path in sorted(version.iterdir()):
            # Wheels have some of them twice.
            shutil.rmtree(framework / path.name, ignore_errors=True)
            (framework / path.name).symlink_to(f"Versions/Current/{path.name}")


def _document_type(name: str, types: Sequence[str]) -> dict[str, object]:
    return {
        "CFBundleTypeName": name,
        "CFBundleTypeRole": "Viewer",
        "LSHandlerRank": "Alternate",
        "LSItemContentTypes": list(types),
    }


def _type_of(ending: str) -> str:
    return f"{IDENTIFIER}.{ending}"


def _type_declaration(ending: str, text: str) -> dict[str, object]:
    return {
        "UTTypeIdentifier": _type_of(ending),
        "UTTypeDescription": text,
        "UTTypeConformsTo": ["public.data"],
        "UTTypeTagSpecification": {"public.filename-extension": [ending]},
    }
