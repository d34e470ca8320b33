"""The list of downloads: in order, one at a time, and as it was after a restart or a kill."""

import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from app.downloads import downloads
from app.downloads import fetch as fetching
from app.downloads.entries import DownloadState, Purpose
from app.downloads.errors import DownloadCode
from app.downloads.kept_list import FILE
from app.downloads.source import Source
from engine.api.values import ErrorCode
from tests.app.downloads.faulty_server import (
    Exchange,
    FaultyServer,
    refuse,
    serve,
    stall_after,
)
from tests.app.downloads.fetching import CONTENT, QUICK, source_of
from tests.app.downloads.listed import Listed, started

State = DownloadState
PATIENT = msgspec.structs.replace(QUICK, stall_s=600.0)


def named(name: str, server: FaultyServer) -> Source:
    """The server's file under another name."""
    source = source_of(server.url)
    return Source(source.url, (), name, source.size, source.sha256)


def test_a_download_waits_runs_and_is_done(server: FaultyServer, tmp_path: Path) -> None:
    with started(tmp_path) as listed:
        name = listed.add(source_of(server.url))
        seen = listed.wait_for_state(name, State.DONE)
    states = list(dict.fromkeys(entry.state for entry in seen))
    assert states == [State.WAITING, State.RUNNING, State.DONE]
    assert (seen[-1].bytes_done, seen[-1].size) == (len(CONTENT), len(CONTENT))
    assert (listed.folder / "file.bin").read_bytes() == CONTENT
    assert Listed(tmp_path).downloads.entries == (seen[-1],)


def test_nothing_begins_before_the_list_is_started(server: FaultyServer, tmp_path: Path) -> None:
    listed = Listed(tmp_path)
    listed.add(source_of(server.url))
    listed.downloads.close()
    assert [entry.state for entry in listed.downloads.entries] == [State.WAITING]
    assert server.asked == []


def test_downloads_come_one_after_another_in_the_order_of_the_list(
    server: FaultyServer, tmp_path: Path
) -> None:
    go_on = threading.Event()

    def held(exchange: Exchange) -> None:
        go_on.wait(60)
        serve(exchange)

    server.script = [held]
    with started(tmp_path) as listed:
        first, second, third = (listed.add(named(name, server)) for name in "abc")
        listed.wait_for_state(first, State.RUNNING)
        listed.downloads.put_first(third)
        go_on.set()
        seen = listed.wait_for_state(second, State.DONE)
    done = [entry.id for entry in seen if entry.state is State.DONE]
    assert done == [first, third, second]
    running = [entry.id for entry in seen if entry.state is State.RUNNING]
    assert list(dict.fromkeys(running)) in ([first, third, second], [third, second])
    assert [entry.id for entry in Listed(tmp_path).downloads.entries] == [third, first, second]


def test_a_paused_download_stays_paused_in_the_next_session_and_goes_on_when_told(
    server: FaultyServer, tmp_path: Path
) -> None:
    server.script = [stall_after(100_000)]
    with started(tmp_path, PATIENT) as listed:
        name = listed.add(source_of(server.url))
        listed.wait_for(lambda entry: entry.bytes_done >= 100_000)
        listed.downloads.pause(name)
        paused = listed.wait_for_state(name, State.PAUSED)[-1]
        assert paused.bytes_per_second == 0
    with started(tmp_path) as listed:
        entry = listed.downloads.find(name)
        assert entry is not None
        assert (entry.state, entry.bytes_done) == (State.PAUSED, 100_000)
        other = listed.add(named("other", server))
        listed.wait_for_state(other, State.DONE)
        listed.downloads.resume(name)
        seen = listed.wait_for_state(name, State.DONE)
    assert State.VERIFYING in [entry.state for entry in seen]
    assert server.ranges == [None, None, "bytes=100000-"]


def test_a_download_that_ran_when_the_session_ended_goes_on_by_itself(
    server: FaultyServer, tmp_path: Path
) -> None:
    server.script = [stall_after(100_000)]
    with started(tmp_path, PATIENT) as listed:
        name = listed.add(source_of(server.url))
        listed.wait_for(lambda entry: entry.bytes_done >= 100_000)
    with started(tmp_path) as listed:
        listed.wait_for_state(name, State.DONE)
    assert server.ranges == [None, "bytes=100000-"]


RUNNING_LIST = """
import sys
from pathlib import Path
from tests.app.downloads.listed import started
from tests.app.downloads.test_downloads import PATIENT
from tests.app.downloads.fetching import source_of
with started(Path(sys.argv[1]), PATIENT) as listed:
    listed.add(source_of(sys.argv[2]))
    listed.wait_for(lambda entry: entry.bytes_done >= 100_000)
    print("here", flush=True)
    sys.stdin.read()
"""


def test_a_download_whose_process_was_killed_goes_on_where_it_was(
    server: FaultyServer, tmp_path: Path
) -> None:
    server.script = [stall_after(100_000)]
    command = [sys.executable, "-c", RUNNING_LIST, str(tmp_path), server.url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    listed = Listed(tmp_path)
    assert [entry.bytes_done for entry in listed.downloads.entries] == [100_000]
    with started(tmp_path) as listed:
        listed.wait_for(lambda entry: entry.state is State.DONE)
    assert server.ranges == [None, "bytes=100000-"]


def test_a_failed_download_says_why_and_others_go_on(server: FaultyServer, tmp_path: Path) -> None:
    server.script = [refuse(404)]
    with started(tmp_path) as listed:
        failed, other = listed.add(named("a", server)), listed.add(named("b", server))
        problem = listed.wait_for_state(failed, State.FAILED)[-1].problem
        assert problem is not None
        assert (problem.code, problem.status) == (DownloadCode.STATUS, 404)
        listed.wait_for_state(other, State.DONE)
    with started(tmp_path) as listed:
        entry = listed.downloads.find(failed)
        assert entry is not None
        assert (entry.state, entry.problem) == (State.FAILED, problem)
        listed.downloads.resume(failed)
        assert listed.wait_for_state(failed, State.DONE)[-1].problem is None


def test_a_removed_download_stops_and_leaves_no_part(server: FaultyServer, tmp_path: Path) -> None:
    server.script = [serve, stall_after(100_000)]
    with started(tmp_path, PATIENT) as listed:
        files = named("whole", server), named("part", server)
        name = listed.add(*files)
        listed.wait_for(lambda entry: entry.bytes_done >= len(CONTENT) + 100_000)
        listed.downloads.remove(name)
        assert listed.removed == [name]
        listed.downloads.remove(name)
        # The next one begins when the parts are gone.
        listed.wait_for_state(listed.add(named("next", server)), State.DONE)
        assert {path.name for path in listed.folder.iterdir()} == {"whole", "next"}
    assert len(Listed(tmp_path).downloads.entries) == 1


def test_a_part_stays_that_another_download_goes_on_with(
    server: FaultyServer, tmp_path: Path
) -> None:
    """A site may send the same file from another host the next day."""
    server.script = [stall_after(100_000)]
    with started(tmp_path, PATIENT) as listed:
        first = listed.add(named("part", server))
        listed.wait_for(lambda entry: entry.bytes_done >= 100_000)
        listed.downloads.pause(first)
        listed.wait_for_state(first, State.PAUSED)
    moved = msgspec.structs.replace(named("part", server), redirect_hosts=("cdn.test",))
    with started(tmp_path) as listed:
        second = listed.add(moved)
        listed.downloads.pause(second)
        listed.downloads.remove(first)
        listed.wait_for_state(listed.add(named("next", server)), State.DONE)
        listed.downloads.resume(second)
        listed.wait_for_state(second, State.DONE)
    assert server.ranges.count("bytes=100000-") == 1


def test_nobody_waits_while_a_part_is_removed(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window asks for the list all the time; a disk takes seconds for a part of gigabytes."""
    begun, asked, ended = threading.Event(), threading.Event(), threading.Event()

    def forget_slowly(source: Source, folder: Path) -> None:
        begun.set()
        asked.wait(5)
        ended.set()
        fetching.forget(source, folder)

    monkeypatch.setattr(downloads, "forget", forget_slowly)
    server.script = [stall_after(100_000)]
    with started(tmp_path, PATIENT) as listed:
        name = listed.add(named("part", server))
        listed.wait_for(lambda entry: entry.bytes_done >= 100_000)
        listed.downloads.remove(name)
        assert begun.wait(60)
        assert listed.downloads.entries == ()
        assert not ended.is_set()
        asked.set()
        listed.wait_for_state(listed.add(named("next", server)), State.DONE)
        assert {path.name for path in listed.folder.iterdir()} == {"next"}


def test_a_download_that_is_there_is_not_added_twice(server: FaultyServer, tmp_path: Path) -> None:
    with started(tmp_path) as listed:
        name = listed.add(source_of(server.url))
        listed.wait_for_state(name, State.DONE)
        (listed.folder / "file.bin").unlink()
        assert listed.add(source_of(server.url)) == name
        listed.wait_for_state(name, State.DONE)
        assert (listed.folder / "file.bin").read_bytes() == CONTENT
    assert len(listed.downloads.entries) == 1


def test_several_files_are_one_download(
    server: FaultyServer, mirror: FaultyServer, tmp_path: Path
) -> None:
    files = source_of(server.url), replace_url(named("b", server), mirror.url)
    with started(tmp_path) as listed:
        name = listed.add(*files, source_of(server.url))
        seen = listed.wait_for_state(name, State.DONE)
    counts = [entry.bytes_done for entry in seen if entry.state is State.RUNNING]
    assert counts == sorted(counts)
    assert seen[-1].bytes_done == seen[-1].size == 3 * len(CONTENT)
    assert seen[-1].hosts == ("127.0.0.1",)
    assert (len(server.asked), len(mirror.asked)) == (1, 1)


def replace_url(source: Source, url: str) -> Source:
    return Source(url, (), source.file_name, source.size, source.sha256)


def test_a_full_queue_is_stopped_within_a_moment(server: FaultyServer, tmp_path: Path) -> None:
    """The server would hold the first download for a minute."""
    server.otherwise = stall_after(0)
    with started(tmp_path, PATIENT) as listed:
        names = [listed.add(named(f"file {number}", server)) for number in range(20)]
        listed.wait_for_state(names[0], State.RUNNING)
        for name in names:
            listed.downloads.pause(name)
    assert {entry.state for entry in listed.downloads.entries} == {State.PAUSED}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"downloads":[{}],"version":1}',
        b'{"downloads":[],"version":2}',
        b'{"downloads":[{"id":"a","title":"","purpose":"pack","folder":"/","files":[{"url":'
        b'"file:///etc/passwd","mirrors":[],"file_name":"x","size":1,"sha256":""}]}],"version":1}',
    ],
)
def test_a_list_that_cannot_be_read_is_put_aside_and_told(content: bytes, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / FILE).write_bytes(content)
    listed = Listed(tmp_path)
    assert listed.downloads.entries == ()
    problem = listed.downloads.problem
    assert problem is not None
    assert problem.code is ErrorCode.SESSION_UNREADABLE
    kept = [path for path in state.iterdir() if path.name.startswith(f"{FILE}.")]
    assert [path.read_bytes() for path in kept] == [content]


def test_a_list_that_cannot_be_kept_still_downloads(server: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    with started(tmp_path) as listed:
        listed.wait_for_state(listed.add(source_of(server.url)), State.DONE)
    assert (listed.folder / "file.bin").read_bytes() == CONTENT


def test_unknown_downloads_are_left_alone(tmp_path: Path) -> None:
    downloads = Listed(tmp_path).downloads
    for act in (downloads.pause, downloads.resume, downloads.remove, downloads.put_first):
        act("nothing")
    assert downloads.find("nothing") is None
    assert downloads.entries == ()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_threads_do_at_once_every_download_comes_in_the_end(
    server: FaultyServer, tmp_path: Path, seed: int
) -> None:
    with started(tmp_path) as listed:
        downloads = listed.downloads
        names = [listed.add(named(f"file {number}", server)) for number in range(4)]

        def meddle(drawn: random.Random) -> None:
            for _ in range(40):
                act = drawn.choice((downloads.pause, downloads.resume, downloads.put_first))
                act(drawn.choice(names))

        threads = [
            threading.Thread(target=meddle, args=(random.Random(10 * seed + number),))
            for number in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name in names:
            downloads.resume(name)
        for name in names:
            while (entry := downloads.find(name)) and entry.state is not State.DONE:
                listed.wait_for(lambda _: True)
        assert {path.read_bytes() for path in listed.folder.iterdir()} == {CONTENT}
        assert len(list(listed.folder.iterdir())) == len(names)
    assert sorted(entry.id for entry in Listed(tmp_path).downloads.entries) == sorted(names)


def test_a_purpose_is_kept(tmp_path: Path) -> None:
    listed = Listed(tmp_path)
    for purpose in Purpose:
        source = Source("https://files.test/x", (), f"{purpose}", 1, "0" * 64)
        listed.downloads.add("Ä title", purpose, (source,), tmp_path / "ü")
    kept = Listed(tmp_path).downloads.entries
    assert [(entry.purpose, entry.title, entry.folder) for entry in kept] == [
        (purpose, "Ä title", tmp_path / "ü") for purpose in Purpose
    ]


def test_a_fault_of_ours_is_told_and_others_go_on(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(source: Source, *arguments: object, **options: object) -> None:
        if source.file_name == "a":
            raise RuntimeError("no")

    monkeypatch.setattr(downloads, "fetch", fail)
    with started(tmp_path) as listed:
        failed, other = listed.add(named("a", server)), listed.add(named("b", server))
        problem = listed.wait_for_state(failed, State.FAILED)[-1].problem
        listed.wait_for_state(other, State.DONE)
    assert problem is not None
    assert (problem.code, problem.detail) == (DownloadCode.INTERNAL, "RuntimeError: no")


def test_a_part_that_cannot_be_removed_stops_nothing(server: FaultyServer, tmp_path: Path) -> None:
    server.script = [refuse(404)]
    with started(tmp_path) as listed:
        name = listed.add(named("a", server))
        listed.wait_for_state(name, State.FAILED)
        (listed.folder / "a.part" / "below").mkdir(parents=True)
        listed.downloads.remove(name)
        listed.wait_for_state(listed.add(named("b", server)), State.DONE)
