"""Our own tests of all readers and screens, run by a tree's interpreter with the tree's code.

The test programs come from the package index, in the versions of constraints.txt. Qt's module for
tests, which pytest-qt asks for and no tree has, comes from the pinned wheel.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from installers.bytecode import VERSION
from installers.inputs import Target, fetch, read_inputs
from installers.tree import REPOSITORY
from installers.tryout.program import TryoutError

# Readers of pictures, checkpoints and texts; everything that is written; every screen.
ROOMS = ("metadata", "checkpoints", "lora", "embeddings", "text", "output", "pictures", "ui")
# The starter's judge is not in a tree.
_WITH_THE_JUDGE = ("pictures/test_starter_pictures.py", "pictures/test_starter_weight_bits.py")
# What cannot hold in a tree.
_NOT_HERE = (
    # Qt's tool that compiles catalogues is for developers.
    "ui/test_catalogues.py::test_the_compiled_catalogue_is_that_of_the_texts",
    # A copy that an installer made is what this test must not run in.
    "ui/test_updates_dialog.py::test_a_copy_that_no_installer_made_offers_nothing",
)
_PROGRAMS = ("hypothesis", "pytest", "pytest-qt", "pytest-timeout")
_QT = "pyside6-essentials"
_QT_FILES = ("PySide6/QtTest.abi3.so", "PySide6/Qt/lib/libQt6Test.so.6")
# What tests read, beside themselves. Sources are among it, from which some make trees of their own.
_COPIED = (
    "app",
    "docs",
    "engine",
    "installers",
    "safelight_launcher.py",
    "tests",
    "ui",
    "pyproject.toml",
)
_PATIENCE_S = 3600
# Python runs this at its start, when the tree's own folders are on the path: they go first.
_SITE = "import sys\nsys.path.append({folder!r})\n"
_PLUGIN = "tryout_qt"
_PLUGIN_CODE = "import PySide6.QtWidgets\nPySide6.__path__.append({folder!r})\n"


def run_suite(root: Path, folder: Path) -> None:
    """Run the tests in a tree, with their files in `folder`. Raises TryoutError if one fails."""
    tools, work = folder / "tools", folder / "work"
    _install(tools, work)
    _copy(work)
    options = (
        "-q", "-p", "no:cacheprovider", "--import-mode=append",
        "-m", "not oracle and not slow and not gpu",
        *(f"--ignore=tests/{name}" for name in _WITH_THE_JUDGE),
        *(f"--deselect=tests/{name}" for name in _NOT_HERE),
    )  # fmt: skip
    python = root / "runtime" / "bin" / "python3.13"
    done = subprocess.run(
        [str(python), "-m", "pytest", *options, *(f"tests/{name}" for name in ROOMS)],
        cwd=work, env=_environment(folder, tools), check=False, timeout=_PATIENCE_S,
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise TryoutError(
            "Tests fail in the tree, though they may hold in the checkout:\n"
            f"{done.stdout[-8000:]}{done.stderr[-4000:]}"
        )


def _environment(folder: Path, tools: Path) -> dict[str, str]:
    own = {
        # The tests' folder must not go before the tree's.
        "PYTHONPATH": str(tools), "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_PLUGINS": _PLUGIN, "QT_QPA_PLATFORM": "offscreen",
        "HOME": str(folder), "LANG": "C.UTF-8",
    }  # fmt: skip
    return {"PATH": os.environ["PATH"], **own}


def _copy(work: Path) -> None:
    work.mkdir()
    for name in _COPIED:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, work / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, work / name)


def _install(tools: Path, work: Path) -> None:
    version = ".".join(map(str, VERSION))
    command = [
        sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tools),
        "--python-version", version, "--only-binary", ":all:", "--no-compile",
        "--constraint", str(REPOSITORY / "constraints.txt"), *_PROGRAMS,
    ]  # fmt: skip
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise TryoutError(f"The test programs cannot be installed:\n{done.stderr}")
    # The tree has its own, which is to be tried.
    (tools / "typing_extensions.py").unlink(missing_ok=True)
    wheels = {wheel.name: wheel for wheel in read_inputs().wheels_for(Target.LINUX)}
    with zipfile.ZipFile(fetch(wheels[_QT])) as archive:
        for name in _QT_FILES:
            archive.extract(name, tools)
    (tools / "sitecustomize.py").write_text(_SITE.format(folder=str(work)))
    plugin = _PLUGIN_CODE.format(folder=str(tools / "PySide6"))
    (tools / f"{_PLUGIN}.py").write_text(plugin)
