"""The tree: interpreter, packages and our code in one folder that runs from anywhere.

safelight      the launcher
runtime/       the interpreter
site/          packages of others, unpacked and trimmed
lib/           our code
version.json   the version, and the hash of everything that the tree was made of
files.json     the hash of every file, for `safelight doctor`
"""

import hashlib
import shutil
import tomllib
from pathlib import Path

import msgspec

from installers import bytecode, wheels
from installers.file_list import write_file_list
from installers.inputs import INPUTS, Target, fetch, read_inputs
from installers.licences import parts, write_licences
from installers.system import System, Tree
from installers.trimming import TRIM, read_trim, trim

REPOSITORY = Path(__file__).parents[1]
_RUNTIME = "runtime"
_PACKAGES = ("app", "backends", "engine", "starter", "ui")
# What made the starter, and pictures of its judge. Its programs are left out, too.
_LEFT_OUT = ("starter/run", "starter/training", "starter/contact_sheet.png")
# The window's languages as translators write them.
_SOURCES = ".ts"


class Version(msgspec.Struct, frozen=True):
    """The content of version.json."""

    version: str
    target: Target
    python: str
    # SHA-256 of the pinned inputs and of the list of what is left out.
    inputs: str
    # The address with lists of updates; empty until there is one.
    updates: str


def own_version() -> str:
    """Return the version of Safelight that pyproject.toml states."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    return project["project"]["version"]


def assemble(system: System, target: Target, root: Path, interpreter: Path | None = None) -> Tree:
    """Build the tree of a system at `root`, which is emptied first.

    `interpreter` is an archive of one that a person gives, where the system takes it.
    """
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    inputs = read_inputs()
    tree = Tree(root, target, own_version(), inputs)
    system.place_interpreter(tree, interpreter)
    place_packages(tree)
    place_code(tree)
    trim_runtime(tree)
    trim_packages(tree)
    system.shrink(tree)
    write_licences(root, parts(inputs, target))
    system.place_launcher(tree)
    python = bytecode.compiler(system.runs_here(tree))
    bytecode.compile_all(root, system.compilation, python)
    _write_version(tree)
    write_file_list(root)
    return tree


def place_packages(tree: Tree) -> None:
    """Unpack the wheels of a tree's system into `site/`."""
    tree.site.mkdir()
    wheels.unpack((fetch(wheel) for wheel in tree.inputs.wheels_for(tree.target)), tree.site)


def trim_runtime(tree: Tree) -> None:
    """Leave out of the interpreter what the reviewed list names."""
    entries = (entry for entry in read_trim().entries if entry.of.startswith(_RUNTIME))
    trim(tree.root, entries, tree.target)


def trim_packages(tree: Tree) -> None:
    """Leave out of the packages what the reviewed list names."""
    entries = (entry for entry in read_trim().entries if not entry.of.startswith(_RUNTIME))
    trim(tree.root, entries, tree.target)
    _copy(REPOSITORY / "installers" / "onnx_names.py", tree.site / "onnx" / "onnx_cpp2py_export.py")


def place_code(tree: Tree) -> None:
    """Copy our code and its data into `lib/`, with the version where Python looks for it."""
    for package in _PACKAGES:
        for path in sorted((REPOSITORY / package).rglob("*")):
            if path.is_file() and is_shipped(path.relative_to(REPOSITORY)):
                _copy(path, tree.lib / path.relative_to(REPOSITORY))
    for name in ("safelight_launcher.py", "installers/packs.toml"):
        if (REPOSITORY / name).exists():
            _copy(REPOSITORY / name, tree.lib / name)
    metadata = tree.lib / f"safelight-{tree.version}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: safelight\nVersion: {tree.version}\n")
    _copy(REPOSITORY / "LICENSE", tree.root / "LICENSE")


def is_shipped(path: Path) -> bool:
    """Return True if a file of our code, relative to the repository, belongs into a tree."""
    is_program = path.parts[0] == "starter" and path.suffix == ".py" and path.stem != "__init__"
    is_left_out = is_program or any(path.is_relative_to(folder) for folder in _LEFT_OUT)
    return "__pycache__" not in path.parts and path.suffix != _SOURCES and not is_left_out


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _place_of_updates() -> str:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["tool"]["safelight"]["updates"]


def _write_version(tree: Tree) -> None:
    pinned = hashlib.sha256(INPUTS.read_bytes() + TRIM.read_bytes()).hexdigest()
    python = ".".join(map(str, bytecode.VERSION))
    version = Version(tree.version, tree.target, python, pinned, _place_of_updates())
    (tree.root / "version.json").write_bytes(msgspec.json.format(msgspec.json.encode(version)))
