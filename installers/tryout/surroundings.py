"""A tree in foreign surroundings: others' settings, odd folders, no rights, two users at once."""

import os
import shutil
import subprocess
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from installers.tryout.program import Program, TryoutError, installed

# Settings of others that lead nowhere.
_NOWHERE = "/nowhere"
_VARIABLES = (
    "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONPLATLIBDIR",
    "PYTHONPYCACHEPREFIX", "PYTHONEXECUTABLE", "PYTHONINSPECT", "PYTHONOPTIMIZE",
    "PIP_CONFIG_FILE", "PIP_TARGET", "PIP_PREFIX", "PIP_INDEX_URL", "PIP_REQUIRE_VIRTUALENV",
    "UV_PYTHON", "UV_CACHE_DIR", "UV_PROJECT", "VIRTUAL_ENV", "CONDA_PREFIX",
    "QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH", "QML2_IMPORT_PATH",
)  # fmt: skip
# Modules that a foreign folder may hold under names that we, or Python, import.
_MODULES = ("sitecustomize", "usercustomize", "app", "engine", "numpy", "json")
_LIBRARIES = ("libQt6Core.so.6", "libQt6Gui.so.6", "libscipy_openblas64_-4b78795a.so")
_ODD_FOLDER = "with space ü 猫"
# Users that nobody logs in as.
_USERS = (65534, 65533)


def foreign_settings(root: Path, home: Path) -> None:
    """Set every variable of Python, pip, uv and Qt to nonsense, and start in a hostile folder."""
    hostile, mark = home / "hostile", home / "foreign-code-ran"
    _write_modules(hostile, mark)
    _write_modules(home / ".local" / "lib" / "python3.13" / "site-packages", mark)
    for name in _LIBRARIES:
        (hostile / name).write_text("no library")
    plain = installed(root, home)
    # A search path with the hostile folder is worse than one that leads nowhere.
    led = {name: str(hostile) for name in ("PYTHONPATH", "LD_LIBRARY_PATH", "QT_PLUGIN_PATH")}
    for environment in (dict.fromkeys(_VARIABLES, _NOWHERE), led):
        program = replace(plain, folder=hostile, environment=environment)
        _same_bytes(program.picture("foreign.png"), plain.picture("plain.png"))
        program.answer("devices")
    if mark.exists():
        raise TryoutError(f"The program ran foreign code: {mark.read_text()}.")


def odd_folder(root: Path, home: Path) -> None:
    """Run from a folder, and for a user, whose paths have spaces and letters of other scripts."""
    with _copied(root, home) as (copy, _):
        program = installed(copy, home / _ODD_FOLDER / "home")
        program.picture("ein Bild ü 猫.png")
        program.answer("doctor")


def two_users(root: Path, home: Path) -> None:
    """Have two users, to whom the tree is read-only, make pictures at once."""
    with _copied(root, home) as (copy, folder):
        _take_rights(copy)
        programs = [_as_user(copy, folder, user) for user in _USERS]
        runs = [program.picturing("both.png") for program in programs]
        made = [p.finished(run, "both.png") for p, run in zip(programs, runs, strict=True)]
        _same_bytes(*made)
        for program in programs:
            program.answer("doctor")


CHECKS: Mapping[str, Callable[[Path, Path], None]] = {
    "settings of others": foreign_settings,
    "odd folders": odd_folder,
    "two users, a tree that cannot be written": two_users,
}


def _write_modules(folder: Path, mark: Path) -> None:
    folder.mkdir(parents=True)
    for name in _MODULES:
        code = f"open({str(mark)!r}, 'a').write(__file__ + ' ')\nraise SystemExit(9)\n"
        (folder / f"{name}.py").write_text(code)
    (folder / "foreign.pth").write_text(f"import os; open({str(mark)!r}, 'a').write('.pth ')\n")


@contextmanager
def _copied(root: Path, home: Path) -> Generator[tuple[Path, Path]]:
    """Copy the tree into an odd folder that every user can reach; yield it and the folder."""
    folder = home / "reachable"
    copy = folder / _ODD_FOLDER / "tree"
    shutil.copytree(root, copy, symlinks=True)
    for path in (home, folder, copy.parent):
        path.chmod(0o755)
    try:
        yield copy, folder
    finally:
        for path in folder.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(folder)


def _take_rights(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o555)


def _as_user(root: Path, folder: Path, user: int) -> Program:
    """Return the program for another user; for the present one where we may not change that."""
    home = folder / f"home of {user}"
    program = installed(root, home)
    if os.geteuid():
        return program
    os.chown(home, user, user)
    rights = ("--reuid", str(user), "--regid", str(user), "--clear-groups")
    return replace(program, command=("setpriv", *rights, *program.command))


def _same_bytes(found: Path, wanted: Path) -> None:
    same = subprocess.run(["cmp", "--silent", str(found), str(wanted)], check=False)
    if same.returncode:
        raise TryoutError(f"{found} and {wanted} are different pictures.")
