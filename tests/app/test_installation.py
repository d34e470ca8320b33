"""Files of an installed tree that are missing or changed are named, and where they stop a start."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import run
from app.installation import FILE_LIST, FileFault, describe, faults, installed_root
from installers.file_list import write_file_list
from tests.app.test_commands import json_of

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "Säfe light"
    for name in ("runtime/python.dll", "site/numpy/core.pyd", "lib/app/paths.py"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}")
    write_file_list(root)
    return root


def test_a_whole_tree_has_no_faults(tree: Path) -> None:
    assert list(faults(tree)) == []


def test_a_missing_file_is_named(tree: Path) -> None:
    (tree / "site/numpy/core.pyd").unlink()
    assert list(faults(tree)) == [FileFault("site/numpy/core.pyd", missing=True)]


def test_a_file_of_the_same_size_with_other_bytes_is_named(tree: Path) -> None:
    path = tree / "runtime/python.dll"
    path.write_text(path.read_text().upper())
    assert list(faults(tree)) == [FileFault("runtime/python.dll", missing=False)]


def test_a_file_that_is_shorter_is_found_without_reading(tree: Path) -> None:
    (tree / "runtime/python.dll").write_text("half")
    assert list(faults(tree, read=False)) == [FileFault("runtime/python.dll", missing=False)]


@pytest.mark.parametrize("content", ["", "{", '{"files": 3}', '{"files": {"a": 1}}', "[]"])
def test_a_list_that_is_damaged_is_a_fault_itself(tree: Path, content: str) -> None:
    (tree / FILE_LIST).write_text(content)
    assert list(faults(tree)) == [FileFault(FILE_LIST, missing=False)]


def test_files_that_were_added_are_no_fault(tree: Path) -> None:
    (tree / "uninstall.exe").write_text("added by the installer")
    assert list(faults(tree)) == []


def test_many_faults_are_counted_and_some_are_named() -> None:
    found = [FileFault(f"lib/{number}.py", missing=True) for number in range(7)]
    assert describe(found) == (
        "7 files of Safelight are missing: "
        "lib/0.py, lib/1.py, lib/2.py, lib/3.py, lib/4.py and 2 more"
    )


def test_missing_and_changed_files_are_told_apart() -> None:
    found = [FileFault("a.dll", missing=True), FileFault("b.py", missing=False)]
    assert describe(found) == (
        "1 file of Safelight is missing: a.dll; 1 file of Safelight is changed: b.py"
    )


def test_a_checkout_is_no_installed_tree() -> None:
    assert installed_root() is None


@pytest.mark.parametrize(
    ("gone", "arguments"),
    [
        ("lib/engine/api/request.py", ("--version",)),
        ("lib/app/session.py", ()),
        ("lib/app/display.py", ()),
        ("lib/ui/application.py", ()),
    ],
)
def test_the_start_names_the_file_that_it_lacks(
    tmp_path: Path, gone: str, arguments: tuple[str, ...]
) -> None:
    root = tmp_path / "tree"
    for package in ("app", "engine", "backends", "ui", "starter"):
        hidden = shutil.ignore_patterns("__pycache__", "training", "model")
        shutil.copytree(REPOSITORY / package, root / "lib" / package, ignore=hidden)
    shutil.copy(REPOSITORY / "safelight_launcher.py", root / "lib")
    write_file_list(root)
    (root / gone).unlink()
    # An editable installation of the checkout would find the file that the tree lacks.
    program = (
        f"import sys; sys.path[:0] = [{str(root / 'lib')!r}]; "
        "sys.meta_path[:] = [one for one in sys.meta_path if 'editable' not in repr(one)]; "
        "from safelight_launcher import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, *arguments],
        env={"QT_QPA_PLATFORM": "offscreen", "HOME": str(tmp_path)},
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"1 file of Safelight is missing: {gone}." in done.stderr
    assert "Install Safelight again" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("small_doctor")
def test_doctor_fails_for_a_missing_file(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.cli.doctor.installed_root", lambda: tree)
    checks = {check["name"]: check for check in json_of(capsys, "doctor")["checks"]}
    assert checks["installed files"] == {
        "name": "installed files", "ok": True, "detail": f"{tree}, as it was built",
    }  # fmt: skip
    (tree / "lib/app/paths.py").unlink()
    assert run(["doctor"]) == 1
    assert "1 file of Safelight is missing: lib/app/paths.py" in capsys.readouterr().out


@pytest.fixture
def small_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doctor without its trials of devices and its pictures, which take seconds."""

    def nothing(*_arguments: object, **_options: object) -> tuple[()]:
        return ()

    for name in ("check_hardware", "list_devices", "_pictures", "_verdicts"):
        monkeypatch.setattr(f"app.cli.doctor.{name}", nothing)
