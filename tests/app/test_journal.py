"""The journal after every kind of damage."""

import errno
import os
import threading
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.queue.job_list import AllCancelAsked, Entry, JobList, Submitted
from app.queue.jobs import CancelAsked, Started
from app.queue.queue_journal import queue_journal
from app.storage.journal import VERSION, Journal, JournalKind, JournalWords, JournalWriter
from engine.api.request import GenerateRequest
from engine.api.sentences import Sentence
from engine.api.values import ErrorCode, ErrorInfo

# Files that are put aside are put aside on Windows, too.
pytestmark = pytest.mark.usefixtures("windows_files")

REQUEST = GenerateRequest(prompt="ein Häuschen 🏠\n\0")
ENTRIES: tuple[Entry, ...] = (
    Submitted(jobs=("a", "b"), seeds=(1, 2), request=REQUEST, folder="o"),
    Started(job="a"),
    AllCancelAsked(),
    CancelAsked(job="a"),
)


class Writing:
    """A writer and what it reported."""

    def __init__(self, path: Path) -> None:
        self.numbers: list[int] = []
        self.problems: list[ErrorInfo] = []
        self._changed = threading.Condition()
        self.writer = JournalWriter(journal(path), self._synced, self.problems.append)

    def append(self, entry: Entry) -> int:
        return self.writer.append(entry)

    def wait_for(self, number: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: number in self.numbers, 30)

    def _synced(self, number: int) -> None:
        with self._changed:
            self.numbers.append(number)
            self._changed.notify_all()


def journal(path: Path) -> Journal[Entry]:
    """A queue's journal at this path."""
    return Journal(path, queue_journal(path.parent).kind)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "queue.jsonl"


def written(path: Path) -> bytes:
    assert journal(path).rewrite(ENTRIES) is None
    return path.read_bytes()


def beside(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir() if file != path)


def test_no_file_is_an_empty_journal(path: Path) -> None:
    assert journal(path).read().entries == ()
    assert journal(path).read().problem is None


def test_appended_entries_are_read_back(path: Path) -> None:
    assert journal(path).rewrite(ENTRIES[:1]) is None
    writing = Writing(path)
    for entry in ENTRIES[1:]:
        writing.append(entry)
    writing.writer.close()
    content = journal(path).read()
    assert content.entries == ENTRIES
    assert content.problem is None
    assert max(writing.numbers) == 3


def test_an_entry_that_is_reported_is_in_the_file(path: Path) -> None:
    journal(path).rewrite(())
    writing = Writing(path)
    for entry in ENTRIES:
        writing.wait_for(writing.append(entry))
        assert journal(path).read().entries[-1] == entry
    writing.writer.close()


def test_an_entry_that_is_reported_was_synced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal(path).rewrite(())
    sizes: list[int] = []
    fsync = os.fsync

    def noted_fsync(descriptor: int) -> None:
        fsync(descriptor)
        sizes.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    writing = Writing(path)
    for entry in ENTRIES:
        writing.wait_for(writing.append(entry))
        assert sizes[-1] == path.stat().st_size
    writing.writer.close()


def test_only_the_user_may_read_the_journal(path: Path) -> None:
    written(path)
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_every_cut_leaves_the_whole_lines_before_it(path: Path) -> None:
    content = written(path)
    ends = [index for index, byte in enumerate(content) if byte == ord("\n")]
    cuts = {*range(0, len(content), 17), *ends, *(end + 1 for end in ends[:-1])}
    for length in sorted(cuts):
        path.write_bytes(content[:length])
        read = journal(path).read()
        whole = max(0, content[:length].count(b"\n") - 1)
        assert read.entries == ENTRIES[:whole]
        assert read.problem is None
    assert beside(path) == []


def test_damaged_lines_are_left_out_and_the_file_is_kept(path: Path) -> None:
    header, *lines = written(path).splitlines(keepends=True)
    garbage = [b"\xff\xfe\n", b"{}\n", b"[" * 10_000 + b"\n", b'{"type":"Started"}\n']
    damaged = header + b"".join(part for pair in zip(lines, garbage, strict=True) for part in pair)
    path.write_bytes(damaged)
    content = journal(path).read()
    assert content.entries == ENTRIES
    assert content.problem is not None
    assert content.problem.code is ErrorCode.QUEUE_UNREADABLE
    (kept,) = beside(path)
    assert kept in content.problem.hint
    assert (path.parent / kept).read_bytes() == damaged


def test_a_journal_of_a_newer_version_is_put_aside(path: Path) -> None:
    newer = msgspec.json.encode({"journal": VERSION + 1, "more": [1]}) + b'\n{"type":"New"}\n'
    path.parent.mkdir()
    path.write_bytes(newer)
    content = journal(path).read()
    assert content.entries == ()
    assert content.problem is not None
    assert "newer version" in content.problem.message
    (kept,) = beside(path)
    assert kept in content.problem.hint
    assert (path.parent / kept).read_bytes() == newer
    assert journal(path).rewrite(ENTRIES) is None
    assert journal(path).read().entries == ENTRIES


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.integers(0, 10_000))
def test_no_damage_stops_the_reader(tmp_path: Path, garbage: bytes, at: int) -> None:
    path = tmp_path / "journal"
    content = written(path)
    at %= len(content) + 1
    path.write_bytes(content[:at] + garbage + content[at + len(garbage) :])
    entries = journal(path).read().entries
    assert len(entries) <= len(ENTRIES) + garbage.count(b"\n")


def test_a_folder_in_its_place_is_told_and_put_aside(path: Path) -> None:
    path.mkdir(parents=True)
    content = journal(path).read()
    assert content.entries == ()
    assert content.problem is not None
    assert content.problem.code is ErrorCode.QUEUE_UNREADABLE
    assert journal(path).rewrite(ENTRIES) is None
    assert journal(path).read().entries == ENTRIES


def test_a_state_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "queue.jsonl"
    problem = journal(path).rewrite(ENTRIES)
    assert problem is not None
    assert problem.code is ErrorCode.OUTPUT_NOT_WRITABLE
    assert str(path.parent) in problem.message


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENOSPC, ErrorCode.DISK_FULL), (errno.EIO, ErrorCode.OUTPUT_NOT_WRITABLE)],
)
@pytest.mark.parametrize("function", ["write", "fsync"])
def test_a_disk_that_refuses_is_told_once_and_forgiven(
    path: Path, monkeypatch: pytest.MonkeyPatch, function: str, number: int, code: ErrorCode
) -> None:
    """Work goes on; what was not written comes with what is written next, and in order."""
    journal(path).rewrite(ENTRIES[:1])
    writing = Writing(path)
    write = os.write

    def half_then_fail(descriptor: int, data: bytes) -> int:
        # Only the journal is written so: in one piece.
        if len(data) > 10:
            return write(descriptor, data[:10])
        raise OSError(number, os.strerror(number))

    def fail(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, function, half_then_fail if function == "write" else fail)
        for entry in ENTRIES[1:3]:
            writing.wait_for(writing.append(entry))
    assert [problem.code for problem in writing.problems] == [code]
    assert journal(path).read().entries == ENTRIES[:1]
    writing.wait_for(writing.append(ENTRIES[3]))
    writing.writer.close()
    assert journal(path).read().entries == ENTRIES
    assert beside(path) == []


def test_the_end_writes_what_the_disk_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal(path).rewrite(ENTRIES[:1])
    writing = Writing(path)

    def fail(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        writing.wait_for(writing.append(ENTRIES[1]))
    writing.writer.close()
    assert journal(path).read().entries == ENTRIES[:2]


def test_a_journal_that_vanishes_is_begun_anew(path: Path) -> None:
    journal(path).rewrite(ENTRIES[:1])
    writing = Writing(path)
    path.unlink()
    writing.wait_for(writing.append(ENTRIES[1]))
    writing.writer.close()
    content = journal(path).read()
    assert content.entries == ENTRIES[1:2]
    assert content.problem is None
    assert writing.problems == []


def test_rewriting_is_all_or_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(path)

    def fail(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", fail)
    problem = journal(path).rewrite(())
    assert problem is not None
    assert problem.code is ErrorCode.DISK_FULL
    assert journal(path).read().entries == ENTRIES


def test_a_name_that_is_not_utf_8_is_kept(path: Path) -> None:
    entry = CancelAsked(job="caf\udce9")
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"type":"CancelAsked","job":"caf\\udce9"}\n')
    assert journal(path).read().entries == (entry,)


class Rating(msgspec.Struct, frozen=True):
    """An entry of another journal."""

    picture: str
    stars: int


RATINGS = JournalKind(
    "ratings",
    msgspec.json.Decoder(Rating),
    ErrorCode.SESSION_UNREADABLE,
    JournalWords(
        newer=Sentence("newer"),
        damaged=Sentence("damaged"),
        unreadable=Sentence("{path}: {reason}"),
        unwritable=Sentence("no ratings in {folder}: {reason}"),
    ),
)


def test_a_journal_holds_the_entries_of_its_kind(path: Path) -> None:
    ratings = Journal(path, RATINGS)
    written = (Rating("a.png", 5), Rating("b.png", 1))
    assert ratings.rewrite(written) is None
    assert ratings.read().entries == written


def test_a_journal_of_another_kind_is_put_aside_in_the_words_of_the_one_that_reads(
    path: Path,
) -> None:
    assert journal(path).rewrite(ENTRIES) is None
    content = Journal(path, RATINGS).read()
    assert content.entries == ()
    assert content.problem is not None
    assert (content.problem.code, content.problem.message) == (
        ErrorCode.SESSION_UNREADABLE,
        "damaged",
    )
    (kept,) = beside(path)
    assert journal(path.with_name(kept)).read().entries == ENTRIES


def test_a_queue_of_the_first_safelight_which_names_no_kind_is_read(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"journal":1}\n{"type":"Started","job":"a"}\n')
    content = journal(path).read()
    assert (content.entries, content.problem) == ((Started(job="a"),), None)


def test_a_folder_that_was_written_with_a_separator_at_its_end_is_that_folder(path: Path) -> None:
    """Journals of before say "out" as the command line takes it."""
    path.parent.mkdir()
    request = '{"prompt":"a house"}'
    lines = (
        '{"journal":1}',
        f'{{"type":"Submitted","jobs":["a"],"seeds":[1],"request":{request},"out":"/pictures/"}}',
        '{"type":"Retried","job":"a","out":"/others/"}',
    )
    path.write_text("".join(f"{line}\n" for line in lines))
    submitted, retried = journal(path).read().entries
    jobs = JobList()
    jobs.apply(submitted)
    assert jobs.snapshot[0].folder == Path("/pictures")
    jobs.apply(CancelAsked(job="a"))
    jobs.apply(retried)
    assert jobs.snapshot[0].folder == Path("/others")
