"""Downloads onto disks that are full, fail or go, and beside others of the same file."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

import pytest

from app.downloads import part
from app.downloads.entries import DownloadState
from app.downloads.errors import DownloadCode
from app.downloads.fetch import forget
from app.downloads.source import Source
from engine.file_lock import FileLock
from tests.app.downloads.faulty_server import FaultyServer, drop_after, refuse
from tests.app.downloads.fetching import CONTENT, QUICK, get, names_in, problem_of, source_of
from tests.app.downloads.listed import started

# A mount of its own, which nobody else sees and which ends with the command.
SMALL_DISK = 'mount -t tmpfs -o size=400k none "$0" && exec "$@"'


@cache
def can_mount() -> bool:
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    done = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    )
    return done.returncode == 0


def on_a_small_disk(when: str, server: FaultyServer, folder: Path) -> dict[str, object]:
    """Download onto a disk of 400 kB that is full `before` or becomes so `during` the download."""
    if not can_mount():
        pytest.skip("no disk can be mounted here")
    folder.mkdir()
    source = source_of(server.url)
    program = [sys.executable, "-m", "tests.app.downloads.small_disk", when, source.url]
    arguments = [str(folder), str(source.size), source.sha256]
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", SMALL_DISK, str(folder), *program, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_a_disk_without_room_is_told_before_anything_is_asked(
    server: FaultyServer, tmp_path: Path
) -> None:
    found = on_a_small_disk("before", server, tmp_path / "disk")
    assert found["code"] == DownloadCode.DISK_FULL
    assert found["folder"] == str(tmp_path / "disk")
    needed = found["needed"]
    assert isinstance(needed, int)
    assert len(CONTENT) - 40_000 < needed < len(CONTENT)
    assert server.ranges == [None]  # of the second download
    assert found["then"] == source_of("http://a").sha256


def test_a_disk_that_becomes_full_keeps_what_has_arrived(
    server: FaultyServer, tmp_path: Path
) -> None:
    found = on_a_small_disk("during", server, tmp_path / "disk")
    assert found["code"] == DownloadCode.DISK_FULL
    assert f"no room for file.bin in {tmp_path / 'disk'}: 1 MB more" in str(found["message"])
    needed = found["needed"]
    assert isinstance(needed, int)
    assert 0 < needed <= len(CONTENT) * 2 // 3
    assert found["left"] == ["ballast", "file.bin.part", "file.bin.part.json"]
    assert server.ranges == [None, f"bytes={len(CONTENT) - needed}-"]
    assert found["then"] == source_of("http://a").sha256


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are of Unix")
def test_a_file_beyond_the_limit_of_the_system_is_told(
    server: FaultyServer, tmp_path: Path
) -> None:
    limit = f'ulimit -f {len(CONTENT) // 2 // 512} && exec "$@"'
    source = source_of(server.url)
    program = [sys.executable, "-m", "tests.app.downloads.small_disk", "during", source.url]
    done = subprocess.run(
        ["sh", "-c", limit, "sh", *program, str(tmp_path), str(source.size), source.sha256],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "no room for file.bin" in done.stderr
    assert not (tmp_path / "file.bin").exists()


def test_a_folder_that_cannot_be_made_is_told(server: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "folder"
    problem = problem_of(source_of(server.url), folder)
    assert problem.code is DownloadCode.NOT_WRITABLE
    assert str(folder) in problem.message
    assert server.asked == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="an administrator writes anywhere")
def test_a_folder_that_cannot_be_written_is_told(server: FaultyServer, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert problem_of(source_of(server.url), tmp_path).code is DownloadCode.NOT_WRITABLE
    tmp_path.chmod(0o700)


@pytest.mark.skipif(sys.platform == "win32", reason="open files stay there on Windows")
def test_a_folder_that_goes_is_told(server: FaultyServer, tmp_path: Path) -> None:
    folder = tmp_path / "stick"

    def pull(count: int) -> None:
        if count:
            shutil.rmtree(folder, ignore_errors=True)

    with pytest.raises(Exception, match=r"file\.bin cannot be written in"):
        get(source_of(server.url), folder, on_progress=pull)


@pytest.mark.parametrize("name", ["file.bin.part", "file.bin.part.json", "file.bin.lock"])
def test_a_folder_in_the_way_is_told(server: FaultyServer, tmp_path: Path, name: str) -> None:
    (tmp_path / name / "below").mkdir(parents=True)
    assert problem_of(source_of(server.url), tmp_path).code is DownloadCode.NOT_WRITABLE


def test_a_folder_of_the_files_name_is_moved_aside(server: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "file.bin").mkdir()
    assert get(source_of(server.url), tmp_path) == CONTENT


def test_a_disk_that_fails_to_sync_leaves_no_file(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(part, "sync_file", fail)
    problem = problem_of(source_of(server.url), tmp_path)
    assert problem.code is DownloadCode.NOT_WRITABLE
    assert problem.detail == os.strerror(errno.EIO)


def test_a_file_is_on_the_disk_before_it_has_its_name_and_its_name_before_it_is_told(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[tuple[str, bool]] = []
    final = tmp_path / "file.bin"

    def sync_file(descriptor: int) -> None:
        order.append(("file", final.exists()))

    def sync_folder(folder: Path) -> None:
        order.append((folder.name, final.exists()))

    monkeypatch.setattr(part, "sync_file", sync_file)
    monkeypatch.setattr(part, "sync_folder", sync_folder)
    get(source_of(server.url), tmp_path)
    assert order == [("file", False), (tmp_path.name, True)]


def test_two_downloads_of_a_file_ask_for_it_once(server: FaultyServer, tmp_path: Path) -> None:
    found: list[bytes] = []
    source = source_of(server.url)
    threads = [
        threading.Thread(target=lambda: found.append(get(source, tmp_path))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [CONTENT] * 4
    assert len(server.asked) == 1
    assert names_in(tmp_path) == {"file.bin"}


def test_waiting_for_another_process_can_be_left(server: FaultyServer, tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "file.bin.lock", create=True)
    problem = problem_of(source_of(server.url), tmp_path, cancelled=lambda: True)
    lock.release()
    assert problem.code is DownloadCode.CANCELLED
    assert server.asked == []
    assert get(source_of(server.url), tmp_path) == CONTENT


def test_a_forgotten_download_leaves_nothing_unless_it_is_under_way(
    server: FaultyServer, tmp_path: Path
) -> None:
    source = source_of(server.url)
    server.script = [drop_after(1000), *[refuse(404)] * QUICK.tries]
    problem_of(source, tmp_path)
    kept = {"file.bin.part", "file.bin.part.json"}
    lock = FileLock(tmp_path / "file.bin.lock", create=True)
    forget(source, tmp_path)
    assert names_in(tmp_path) == kept | {"file.bin.lock"}
    lock.release()
    forget(source, tmp_path)
    assert names_in(tmp_path) == set()
    forget(source, tmp_path / "never made")


def test_files_that_do_not_fit_together_are_told_before_the_first(
    server: FaultyServer, tmp_path: Path
) -> None:
    small, large = source_of(server.url), Source(server.url, (), "large", 1 << 60, "0" * 64)
    with started(tmp_path) as listed:
        name = listed.add(small, large, title="A pack")
        problem = listed.wait_for_state(name, DownloadState.FAILED)[-1].problem
    assert problem is not None
    assert problem.code is DownloadCode.DISK_FULL
    free = shutil.disk_usage(tmp_path).free
    assert abs(problem.bytes_needed + free - (1 << 60)) < 1 << 40
    assert f"no room for A pack in {listed.folder}" in problem.message
    assert server.asked == []
