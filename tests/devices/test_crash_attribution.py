"""A process that ends in the middle of a job leaves word of the device, and no other does."""

import subprocess
import sys
from pathlib import Path

import pytest

from backends.base import BackendError, Device
from engine.cancel import CancelToken
from engine.devices.crash_attribution import AtWork

CARD = Device("nvidia_cuda", "cuda:0", "RTX 3060")
HOLDING = """
import os, sys
from pathlib import Path
from backends.base import Device
from engine.devices.crash_attribution import AtWork
from engine.cancel import CancelToken
token = CancelToken()
with AtWork(Path(sys.argv[1])).on(Device("nvidia_cuda", "cuda:0", "RTX 3060"), token):
    print("at work", flush=True)
    if sys.stdin.readline() == "stop\\n":
        token.cancel()
    os.abort()
"""


class Holder:
    """A process with a device at work."""

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


def test_who_crashes_leaves_word_once(tmp_path: Path) -> None:
    at_work = AtWork(tmp_path)
    holder = Holder(tmp_path)
    # As long as it lives it has left nothing.
    assert list(at_work.left()) == []
    holder.crash()
    assert list(at_work.left()) == [CARD]
    assert list(at_work.left()) == []


def test_who_is_ended_while_stopping_does_not(tmp_path: Path) -> None:
    Holder(tmp_path).crash(b"stop\n")
    assert list(AtWork(tmp_path).left()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_ends_leaves_nothing(tmp_path: Path) -> None:
    at_work = AtWork(tmp_path)
    with at_work.on(CARD, CancelToken()):
        assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(BackendError), at_work.on(CARD, CancelToken()):
        raise BackendError("the driver is gone")
    assert list(tmp_path.iterdir()) == []
    assert list(at_work.left()) == []


def test_where_nothing_can_be_written_the_job_runs_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    at_work = AtWork(tmp_path / "file" / "sub")
    with at_work.on(CARD, CancelToken()):
        pass
    assert list(at_work.left()) == []


def test_damaged_word_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xff{")
    assert list(AtWork(tmp_path).left()) == []
    assert list(tmp_path.iterdir()) == []
