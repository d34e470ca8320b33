"""The command runs its own code, whatever folders and variables surround it."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from safelight_launcher import changes_code, clean_environment, opens_window

ROOT = Path(__file__).parents[2]
# Ours, what we import, and what Python imports by itself.
NAMES = ("app", "engine", "ui", "backends", "starter", "msgspec", "numpy", "pathlib", "argparse")
# As pip writes it.
SCRIPT = """#!{python}
import sys
from {module} import {function}
if __name__ == '__main__':
    sys.exit({function}())
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="the loader's variables are Unix's")


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """The installed command."""
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    module, _, function = entry["safelight"].partition(":")
    script = tmp_path / "bin" / "safelight"
    script.parent.mkdir()
    script.write_text(SCRIPT.format(python=sys.executable, module=module, function=function))
    return [sys.executable, str(script)]


@pytest.fixture
def junk(tmp_path: Path) -> Path:
    """A folder of somebody else's project, whose modules say that they were run."""
    folder = tmp_path / "junk"
    folder.mkdir()
    said = f"open({str(tmp_path / 'said')!r}, 'a').write(__name__ + '\\n')\n"
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"{said}raise ImportError('not ours')\n")
    (folder / "sitecustomize.py").write_text(said)
    return folder


def said(tmp_path: Path) -> list[str]:
    path = tmp_path / "said"
    return path.read_text().split() if path.exists() else []


def models(command: list[str], cwd: Path, **variables: str) -> None:
    """Require that the app lists its checkpoints and prints nothing else."""
    done = subprocess.run(
        [*command, "models", "--json"],
        env=os.environ | variables,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert json.loads(done.stdout)["models"][0]["name"] == "starter"


# `re` is what pip's script itself imports; there Python is not ours yet, as where it starts itself.
def test_a_folder_on_pythonpath_is_not_ours(command: list[str], junk: Path, tmp_path: Path) -> None:
    (junk / "pathlib.py").unlink()  # Python imports it before anything of anybody's
    models(command, tmp_path, PYTHONPATH=str(junk))
    # Once, by the interpreter that pip's script names, before it reads a line of ours.
    assert said(tmp_path) in ([], ["sitecustomize"])


def test_a_current_folder_is_not_ours(command: list[str], junk: Path, tmp_path: Path) -> None:
    models(command, junk)
    assert said(tmp_path) == []


def test_a_current_folder_is_not_ours_where_python_is_asked_for_the_app(
    junk: Path, tmp_path: Path
) -> None:
    for name in ("app", "pathlib"):  # these are Python's to find
        (junk / f"{name}.py").unlink()
    models([sys.executable, "-m", "app"], junk, PYTHONSAFEPATH="")
    assert said(tmp_path) == []


@posix
def test_libraries_of_others_are_not_loaded(command: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    for name in ("libz.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libssl.so.3"):
        (folder / name).write_bytes(b"no library")
    models(command, tmp_path, LD_LIBRARY_PATH=str(folder))


def test_variables_of_others_change_nothing(command: list[str], tmp_path: Path) -> None:
    others = dict.fromkeys(
        ("PYTHONPYCACHEPREFIX", "PYTHONUSERBASE", "SAFELIGHT_LIBRARY_PATH"), "/nonexistent"
    )
    models(command, tmp_path, PYTHONWARNINGS="error", PYTHONINSPECT="1", **others)


def test_a_home_of_another_python_is_not_ours(tmp_path: Path) -> None:
    """The start by `make run`; the interpreter of pip's script ends before it reads a line."""
    models([sys.executable, "-I", "-m", "app"], tmp_path, PYTHONHOME="/nonexistent")


def test_an_interpreter_that_a_variable_names_starts_no_children(tmp_path: Path) -> None:
    # As an interpreter of no virtual environment begins: isolated, and yet with the wrong name.
    program = (
        f"import os, sys; sys.path.insert(0, {str(ROOT)!r}); sys.executable = '/nowhere'; "
        "os.environ['PYTHONEXECUTABLE'] = sys.executable; "
        "from safelight_launcher import main; main()"
    )
    models([sys.executable, "-I", "-c", program], tmp_path)


def test_the_exit_status_is_the_same(command: list[str], junk: Path, tmp_path: Path) -> None:
    (junk / "pathlib.py").unlink()
    for arguments, status in (["nonsense"], 2), (["inspect", "nowhere"], 1):
        done = subprocess.run(
            [*command, *arguments],
            env=os.environ | {"PYTHONPATH": str(junk)},
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert done.returncode == status


def test_a_second_start_happens_only_where_something_would_change(tmp_path: Path) -> None:
    program = (
        "import os, sys, safelight_launcher as l; l.start_apart(['models']); print('the same')"
    )
    kept = {name: value for name, value in os.environ.items() if not changes_code(name)}
    for variables in {}, {"PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}:
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=kept | variables,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "the same\n"


def test_runtimes_find_their_libraries_in_the_folders_of_the_environment(tmp_path: Path) -> None:
    variables = {"LD_LIBRARY_PATH": "/a", "SAFELIGHT_LIBRARY_PATH": "/b", "HOME": "/h"}
    found = clean_environment(variables, ["generate", "a house"])
    assert found == {"SAFELIGHT_LIBRARY_PATH": "/b", "LD_LIBRARY_PATH": "/b", "HOME": "/h"}
    assert "LD_LIBRARY_PATH" not in clean_environment(variables, [])
    assert "LD_LIBRARY_PATH" not in clean_environment({"LD_LIBRARY_PATH": "/a"}, ["generate"])


def test_files_are_opened_in_the_window(tmp_path: Path) -> None:
    assert opens_window([])
    assert opens_window([str(tmp_path)])
    assert not opens_window(["models"])
    assert not opens_window([str(tmp_path / "none")])
    assert not opens_window([f"{os.sep}\0"])
