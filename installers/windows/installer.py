"""The installer of the Windows tree, made by NSIS of `installer.nsi`."""

import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from app.versions.trees import TREE
from installers.archives import EPOCH, files_of
from installers.icon.files import ico_icon
from installers.system import Tree
from installers.windows.launcher import version_numbers

_SCRIPT = Path(__file__).parent / "installer.nsi"
# While a version is installed it lies in a folder of this name beside the present one.
_STAGING = "new\\"


def write_installer(tree: Tree, folder: Path) -> Path:
    """Write the installer; raises CalledProcessError with the messages of makensis."""
    target = (folder / f"safelight-{tree.version}-windows-x64-setup.exe").absolute()
    # NSIS orders files as the file system does, and keeps their times where it has no other.
    for _name, path in files_of(tree.root):
        os.utime(path, (EPOCH, EPOCH))
    with tempfile.TemporaryDirectory() as work:
        icon, lists = Path(work, "safelight.ico"), Path(work, "names.nsh")
        icon.write_bytes(ico_icon())
        lists.write_text(file_macros(tree.root), encoding="utf-8")
        values = {
            "VERSION": tree.version,
            "NUMBERS": ".".join(map(str, version_numbers(tree.version))),
            "OUT": str(target),
            "ICON": str(icon),
            "NAMES": str(lists),
            "SIZE_KB": str(_kilobytes(tree.root)),
            "LONGEST": str(longest_path(tree.root)),
            "TREE": TREE,
        }
        defines = [f"-D{name}={value}" for name, value in values.items()]
        # The time, which NSIS would write into the programs it makes.
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)}
        subprocess.run(["makensis", "-V2", *defines, str(_SCRIPT)], check=True, env=environment)
    return target


def file_macros(root: Path) -> str:
    """Return NSIS macros that unpack, put into place and remove everything in a tree."""
    tops = sorted(path.name for path in root.iterdir())
    removal = (
        f'RMDir /r "$INSTDIR\\{name}"' if (root / name).is_dir() else f'Delete "$INSTDIR\\{name}"'
        for name in tops
    )
    return "".join(
        (
            _macro("Unpack", _unpacking(root)),
            _macro("Place", (f'!insertmacro Swap "{name}"' for name in tops)),
            _macro("Remove", removal),
        )
    )


def longest_path(root: Path) -> int:
    """Return the characters that installation adds to the folder's path, at most."""
    return max(len(f"\\{_STAGING}{name}") for name, _path in files_of(root))


def _unpacking(root: Path) -> Iterable[str]:
    """Yield the lines that unpack all files, in a fixed order."""
    folder = ""
    for name, path in files_of(root):
        if path.is_file():
            parent = name.rpartition("/")[0].replace("/", "\\")
            if parent != folder or not folder:
                folder = parent
                yield f'SetOutPath "$INSTDIR\\{_STAGING}{folder}"'
            yield f'File "{path.absolute()}"'


def _macro(name: str, lines: Iterable[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"!macro {name}\n{body}\n!macroend\n"


def _kilobytes(root: Path) -> int:
    return sum(path.stat().st_size for _name, path in files_of(root) if path.is_file()) // 1024
