"""Locks between processes and within one, and what happens to them when their file goes."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.file_lock import FileLock

_HOLD = """
import sys
from pathlib import Path
from engine.file_lock import FileLock
lock = FileLock(Path(sys.argv[1]), shared="shared" in sys.argv, create=True)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "file").touch()
    return tmp_path / "file"


def test_a_lock_is_held_by_one_at_a_time(file: Path) -> None:
    first = FileLock(file)
    with pytest.raises(BlockingIOError):
        FileLock(file)
    with pytest.raises(BlockingIOError):
        FileLock(file, shared=True)
    first.release()
    first.release()
    FileLock(file).release()


def test_a_shared_lock_excludes_one_that_is_not_shared(file: Path) -> None:
    both = [FileLock(file, shared=True), FileLock(file, shared=True)]
    with pytest.raises(BlockingIOError):
        FileLock(file)
    both[0].release()
    with pytest.raises(BlockingIOError):
        FileLock(file)
    both[1].release()
    FileLock(file).release()


@pytest.mark.parametrize("kind", ["alone", "shared"])
def test_a_killed_process_releases_its_lock(file: Path, kind: str) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(file), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline().strip() == b"held"
        with pytest.raises(BlockingIOError):
            FileLock(file)
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()
    FileLock(file).release()


def test_locking_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "none")
    FileLock(tmp_path / "none", create=True).release()
    assert (tmp_path / "none").exists()
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "no folder" / "file", create=True)


def test_a_locked_file_can_be_read(file: Path) -> None:
    file.write_text("content")
    lock = FileLock(file)
    assert file.read_text() == "content"
    lock.release()


def test_a_lock_on_a_replaced_file_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened, then removed by whoever had the lock, then locked: nobody else knows that file."""
    from engine import file_lock

    take = file_lock._lock  # pyright: ignore[reportPrivateUsage]

    def replaced(descriptor: int, *, shared: bool) -> None:
        file.rename(file.with_name("gone"))
        file.touch()
        take(descriptor, shared=shared)

    monkeypatch.setattr(file_lock, "_lock", replaced)
    with pytest.raises(BlockingIOError):
        FileLock(file)
