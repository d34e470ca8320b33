"""The hash of a whole file, and the process that takes its time."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from engine.checkpoints import full_hash
from engine.checkpoints.full_hash import hash_file
from tests.checkpoints.files import write_sparse

CHUNK = 1000


class EnoughError(Exception):
    pass


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = write_sparse(tmp_path / "a.safetensors", {"w": (3000,), "v": (500,)})
    with path.open("r+b") as file:
        file.seek(-2000, 2)
        file.write(bytes(range(200)) * 10)
    return path


@pytest.mark.parametrize("chunk", [7, CHUNK, 1 << 20])
def test_hashes_are_those_of_the_published_rules(
    path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1111's `calculate_sha256` and `addnet_hash_safetensors`, in a line each."""
    monkeypatch.setattr(full_hash, "_CHUNK_BYTES", chunk)
    content = path.read_bytes()
    header = int.from_bytes(content[:8], "little")
    found = hash_file(path, lambda _: None, tensors=True)
    assert found.whole == hashlib.sha256(content).hexdigest()
    assert found.tensors == hashlib.sha256(content[8 + header :]).hexdigest()
    assert hash_file(path, lambda _: None).tensors is None


def test_progress_counts_every_byte_and_can_stop_the_hash(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_hash, "_CHUNK_BYTES", CHUNK)
    told: list[int] = []
    hash_file(path, told.append)
    size = path.stat().st_size
    assert told == [*range(CHUNK, size, CHUNK), size]

    def stop(done: int) -> None:
        if done > 2 * CHUNK:
            raise EnoughError

    with pytest.raises(EnoughError):
        hash_file(path, stop)


def run(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-m", "engine.checkpoints.full_hash", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_process_prints_each_percent_and_then_the_hash(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "a.safetensors", {"w": (150, 1 << 20)})
    result = run(path)
    *told, found = result.stdout.split()
    size = path.stat().st_size
    assert len(told) > 50
    assert [int(line) for line in told] == sorted({int(line) for line in told})
    assert int(told[-1]) == size
    with path.open("rb") as file:
        assert found == hashlib.file_digest(file, "sha256").hexdigest()
    assert (result.returncode, result.stderr) == (0, "")


def test_the_process_ends_if_there_is_nothing_to_read(tmp_path: Path) -> None:
    for gone in (tmp_path / "gone.safetensors", tmp_path):
        result = run(gone)
        assert result.returncode == 1
        assert result.stdout == ""


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's account of a process")
def test_the_process_has_the_lowest_priority(tmp_path: Path) -> None:
    """Seen from inside, after `main` began: policy 5 is SCHED_IDLE (sched(7))."""
    path = write_sparse(tmp_path / "a.safetensors", {"w": (1,)})
    code = (
        "import os, sys; from engine.checkpoints.full_hash import main; main(sys.argv[1:]);"
        "print(os.sched_getscheduler(0), os.nice(0))"
    )
    command = [sys.executable, "-I", "-c", code, str(path)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "5 19"


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's account of a process")
def test_a_process_that_is_waited_for_keeps_its_priority(tmp_path: Path) -> None:
    """Policy 0 is that of usual processes."""
    path = write_sparse(tmp_path / "a.safetensors", {"w": (1,)})
    code = (
        "import os, sys; from engine.checkpoints.full_hash import main; before = os.nice(0);"
        "main(sys.argv[1:]); print(os.sched_getscheduler(0), os.nice(0) - before)"
    )
    command = [sys.executable, "-I", "-c", code, "--waited-for", str(path)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert (len(out[-2].split()), out[-1]) == (1, "0 0")


def test_the_process_ends_when_its_reader_is_gone(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "a.safetensors", {"w": (8 << 10, 1 << 20)})  # 16 GB of nothing
    command = [sys.executable, "-I", "-m", "engine.checkpoints.full_hash", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 1
