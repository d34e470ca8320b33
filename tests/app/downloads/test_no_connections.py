"""Nothing but a download that a person asked for connects to another machine."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from app.downloads.entries import Purpose
from app.paths import starter_checkpoint
from tests.app.downloads.fetching import source_of
from tests.app.downloads.listed import Listed
from tests.app.downloads.network_watch import UNWATCHED

ROOT = Path(__file__).parents[3]
FOUND = "a socket to a network:"
PICTURE = (sys.executable, "-m", "tests.app.downloads.one_picture")
COMMAND_LINE = (sys.executable, "-m", "app")


def watched(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command; each socket to a network that any of its processes opens is a line of it."""
    watch = [sys.executable, "-m", "tests.app.downloads.network_watch"]
    done = subprocess.run(
        [*watch, *command], cwd=ROOT, capture_output=True, text=True, check=False, timeout=280
    )
    if done.returncode == UNWATCHED:
        pytest.skip("this kernel does not tell who opens sockets")
    return done


def test_the_window_from_its_start_to_a_picture_opens_no_socket_to_a_network(
    tmp_path: Path,
) -> None:
    """Window, engine, inspection, and generation, with every process that they start."""
    done = watched(*PICTURE)
    assert FOUND not in done.stdout
    assert "inspected: CheckpointInfo" in done.stdout, done.stderr
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "output").rglob("*.png"))


@pytest.mark.slow
def test_a_first_start_that_tries_all_devices_opens_no_socket_to_a_network(
    tmp_path: Path,
) -> None:
    for verdicts in (tmp_path / "cache").iterdir():
        verdicts.unlink()
    done = watched(*PICTURE)
    assert FOUND not in done.stdout
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", str(starter_checkpoint())),
        ("generate", "a house", "--steps", "1", "--size", "64x64", "--backend", "cpu"),
    ],
)
def test_the_command_line_opens_no_socket_to_a_network(arguments: tuple[str, ...]) -> None:
    done = watched(*COMMAND_LINE, *arguments)
    assert FOUND not in done.stdout
    assert done.returncode == 0, done.stderr


def test_a_session_goes_on_with_what_a_person_asked_for(tmp_path: Path) -> None:
    """The watch sees what it is meant to see: the same start, with a download in the list."""
    listed = Listed(tmp_path)
    listed.downloads.add("A pack", Purpose.PACK, (source_of("https://127.0.0.1/x"),), tmp_path)
    done = watched(*PICTURE)
    assert FOUND in done.stdout
    assert "tests.app.downloads.one_picture" in done.stdout


def test_a_socket_in_a_process_of_a_process_is_seen() -> None:
    opens = "import socket; socket.socket(socket.AF_INET6)"
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {opens!r}])"
    done = watched(sys.executable, "-c", starts)
    assert FOUND in done.stdout
    assert "PermissionError" in done.stderr


def test_qt_has_no_network() -> None:
    """The import contracts see PySide6 as one module."""
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("app", "backends", "engine", "starter", "ui")
        for path in (ROOT / folder).rglob("*.py")
        if "PySide6.Qt" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom)
        if (node.module or "").startswith(("PySide6.QtNetwork", "PySide6.QtWeb"))
    }
    assert found == set()
