"""Temporary folders that a killed process leaves."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.scratch_folder import ScratchFolder

_KILLED = """
import os, signal, sys
from engine.scratch_folder import ScratchFolder
folder = ScratchFolder()
(folder.path / "weights").write_bytes(bytes(10))
os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder of temporary files, also that of child processes."""
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_process_is_deleted_by_the_next(temporary: Path) -> None:
    subprocess.run([sys.executable, "-c", _KILLED], check=False, capture_output=True)
    (left,) = temporary.glob("*/weights")
    folder = ScratchFolder()
    assert not left.parent.exists()
    assert folder.path.is_dir()
    folder.release()
    folder.release()
    assert list(temporary.iterdir()) == []


def test_folders_in_use_and_of_others_stay(temporary: Path) -> None:
    (temporary / "safelight-of-somebody").mkdir()
    (temporary / "other.lock").touch()
    first = ScratchFolder()
    second = ScratchFolder()
    assert first.path.is_dir()
    first.release()
    second.release()
    assert {path.name for path in temporary.iterdir()} == {"safelight-of-somebody", "other.lock"}
