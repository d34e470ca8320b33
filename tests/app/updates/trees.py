"""Small trees whose launcher is the real one, run by this Python, and what they do when started.

`lib` holds our launcher and the packages that it uses; the rest of the code is the repository's.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from app.versions.state import VersionsState, read_state
from installers.archives import write_tar_xz

ROOT = Path(__file__).parents[3]
OLD, NEW, NEWER = "0.1.0", "0.2.0", "0.10.0"
_LAUNCHER = """#!{python} -I
import os
import sys
lib = os.path.join(os.path.dirname(os.path.realpath(__file__)), "lib")
sys.path[:0] = [lib]
sys.path.append({root!r})
# An editable installation of the checkout would find what a tree lacks.
sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in repr(one)]
from safelight_launcher import main
main()
"""
_START = '''

def start(arguments):
    """Do what the test wants in place of a window."""
    from app.updates.running import running_version

    if list(arguments) == ["--version"]:
        print("safelight", {version!r})
        sys.exit(0)
    print({version!r}, *arguments, flush=True)
{body}
'''
# What a version does when it is started: the bodies of `start`.
ENDS = "    sys.exit(0)"
COMES_UP = "    running_version().started()\n    os.abort()"
DRAWS = "    running_version().proved()\n    sys.exit(0)"
CRASHES = "    os.abort()"
FAILS = "    sys.exit(1)"
IS_ENDED = "    import signal\n    os.kill(os.getpid(), signal.SIGTERM)"


def make_tree(folder: Path, version: str, body: str = DRAWS) -> Path:
    """Make a tree of the launcher's code alone; `body` is what it does when it is started."""
    lib = folder / "lib"
    for package in ("app", "app/versions", "app/updates", "engine"):
        (lib / package).mkdir(parents=True)
        for path in (ROOT / package).glob("*.py"):
            shutil.copyfile(path, lib / package / path.name)
    shutil.copytree(ROOT / "engine" / "api", lib / "engine" / "api", ignore=_NO_BYTECODE)
    shutil.copyfile(ROOT / "safelight_launcher.py", lib / "safelight_launcher.py")
    main = lib / "app" / "__main__.py"
    before, after = main.read_text().split('\nif __name__ == "__main__":')
    start = _START.format(version=version, body=body)
    main.write_text(f'{before}{start}\nif __name__ == "__main__":{after}')
    return _finished(folder, version)


def make_whole_tree(folder: Path, version: str) -> Path:
    """Make a tree of all of our code, whose command line makes pictures of this version."""
    lib = folder / "lib"
    for package in ("app", "backends", "engine"):
        shutil.copytree(ROOT / package, lib / package, ignore=_NO_BYTECODE)
    shutil.copyfile(ROOT / "safelight_launcher.py", lib / "safelight_launcher.py")
    metadata = lib / f"safelight-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: safelight\nVersion: {version}\n")
    return _finished(folder, version)


_NO_BYTECODE = shutil.ignore_patterns("__pycache__")


def _finished(folder: Path, version: str) -> Path:
    launcher = folder / "safelight"
    launcher.write_text(_LAUNCHER.format(python=sys.executable, root=str(ROOT)))
    launcher.chmod(0o755)
    (folder / "version.json").write_text(json.dumps({"version": version, "target": "linux"}))
    return folder


def pack(tree: Path, folder: Path) -> Path:
    """Pack a tree as the installers do, below a folder at its top; return the archive."""
    folder.mkdir(parents=True, exist_ok=True)
    version = json.loads((tree / "version.json").read_text())["version"]
    name = f"safelight-{version}-linux-x86_64"
    return write_tar_xz(tree, folder / f"{name}.tar.xz", name, preset=0)


def pack_zip(tree: Path, folder: Path) -> Path:
    """Pack a tree as a zip; return the archive."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "tree.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(f"top/{path.relative_to(tree).as_posix()}")
                entry.external_attr = (0o100000 | path.stat().st_mode & 0o777) << 16
                archive.writestr(entry, path.read_bytes())
    return target


@dataclass(frozen=True)
class Home:
    """A user: folders of state and versions, and what Safelight is told of them."""

    folder: Path

    @property
    def versions(self) -> Path:
        """The folder of versions."""
        return self.folder / "data" / "safelight" / "versions"

    @property
    def state(self) -> Path:
        """The folder of Safelight's own files."""
        return self.folder / "state"

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a start; nothing else of the test's surroundings counts."""
        names = ("OUTPUT", "CACHE", "MODELS", "WILDCARDS", "STATE", "LOGS")
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "XDG_DATA_HOME": str(self.folder / "data"),
            **{f"SAFELIGHT_{name}": str(self.folder / name.lower()) for name in names},
        }

    def start(self, tree: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Start Safelight from an installed tree, and wait until it has ended."""
        return subprocess.run(
            [tree / "safelight", *arguments],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def started(self, tree: Path, *arguments: str) -> list[str]:
        """Start Safelight and return the versions that ran, in order, as they said."""
        return self.start(tree, *arguments).stdout.splitlines()

    def now(self) -> VersionsState:
        """Return the state of the versions."""
        return read_state(str(self.versions))
