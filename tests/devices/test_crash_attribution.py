"""A process that dies in the middle of a job leaves a marker that names its device."""

import subprocess
import sys
from pathlib import Path

import pytest

from backends.base import BackendError, Device
from engine.cancel import CancelToken
from engine.devices.crash_attribution import CrashMarkers

CARD = Device("nvidia_cuda", "cuda:0", "RTX 3060")
HOLDING = """
import os, sys
from pathlib import Path
from backends.base import Device
from engine.devices.crash_attribution import CrashMarkers
from engine.cancel import CancelToken
token = CancelToken()
with CrashMarkers(Path(sys.argv[1])).running(Device("nvidia_cuda", "cuda:0", "RTX 3060"), token):
    print("at work", flush=True)
    if sys.stdin.readline() == "stop\\n":
        token.cancel()
    os.abort()
"""


class Holder:
    """A process with a running device."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", HOLDING, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"at work\n"

    def crash(self, word: bytes = b"\n") -> None:
        self._process.communicate(word)
        assert self._process.returncode != 0


def test_a_crashed_process_is_reported_once_with_its_device(tmp_path: Path) -> None:
    crash_markers = CrashMarkers(tmp_path)
    holder = Holder(tmp_path)
    # A live process has left nothing.
    assert list(crash_markers.crashed()) == []
    holder.crash()
    assert list(crash_markers.crashed()) == [CARD]
    assert list(crash_markers.crashed()) == []


def test_a_process_killed_while_stopping_is_not_reported(tmp_path: Path) -> None:
    Holder(tmp_path).crash(b"stop\n")
    assert list(CrashMarkers(tmp_path).crashed()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_ends_leaves_no_marker(tmp_path: Path) -> None:
    crash_markers = CrashMarkers(tmp_path)
    with crash_markers.running(CARD, CancelToken()):
        assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(BackendError), crash_markers.running(CARD, CancelToken()):
        raise BackendError("the driver is gone")
    assert list(tmp_path.iterdir()) == []
    assert list(crash_markers.crashed()) == []


def test_a_job_runs_where_no_marker_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    crash_markers = CrashMarkers(tmp_path / "file" / "sub")
    with crash_markers.running(CARD, CancelToken()):
        pass
    assert list(crash_markers.crashed()) == []


def test_a_damaged_marker_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xff{")
    assert list(CrashMarkers(tmp_path).crashed()) == []
    assert list(tmp_path.iterdir()) == []
