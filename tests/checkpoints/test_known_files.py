"""Facts remembered of a file are believed as long as the file is unchanged, and no longer."""

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.api.values import PredictionType
from engine.checkpoints import known_files, safetensors
from engine.checkpoints.index import FileState, Stamp
from engine.checkpoints.known_files import SETTLED_NS, KnownFiles
from engine.errors import EngineError
from tests.checkpoints.files import write_sparse

SHAPES = {"w": (200, 1000, 1000)}


def later() -> int:
    """A moment when every file of the test has been left alone for long."""
    return 1 << 62


@pytest.fixture
def known(tmp_path: Path) -> KnownFiles:
    return KnownFiles(tmp_path / "known", later)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_sparse(tmp_path / "a.safetensors", SHAPES)


@pytest.fixture
def samplings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for each time that places all over a file are read."""
    sample, sizes = safetensors.sampled_digest, list[int]()

    def counted(*arguments: object) -> str:
        sizes.append(1)
        return sample(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(safetensors, "sampled_digest", counted)
    return sizes


def state_of(index: safetensors.TensorIndex) -> FileState:
    assert index.state is not None
    return index.state


def write_at(path: Path, offset: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


def keeping_times(path: Path, change: Callable[[], object]) -> None:
    """Change a file and set its time of modification back, as a careless tool does."""
    facts = path.stat()
    change()
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def test_only_the_beginning_of_a_known_file_is_read(
    known: KnownFiles, path: Path, samplings: list[int]
) -> None:
    first = known.read_index(path)
    assert len(samplings) == 1
    again = known.read_index(path)
    # By another process, too.
    elsewhere = KnownFiles(path.parent / "known", later).read_index(path)
    assert len(samplings) == 1
    assert first == again == elsewhere == safetensors.read_index(path)


@pytest.mark.parametrize("place", ["weights", "header"])
def test_a_change_in_place_is_seen_where_size_and_time_are_kept(
    known: KnownFiles, path: Path, place: str
) -> None:
    before = known.read_index(path)
    known.note_sha256(state_of(before), "ab" * 32)

    def change() -> None:
        if place == "weights":
            write_at(path, path.stat().st_size // 2, b"\x01" * (4 << 20))
        else:
            content = path.read_bytes()
            at = content.index(b'"w"')
            write_at(path, at, b'"v"')

    keeping_times(path, change)
    after = known.read_index(path)
    assert after.digest != before.digest
    assert known.sha256(state_of(after)) is None
    if place == "header":
        assert state_of(after).header != state_of(before).header


def test_another_file_in_its_place_is_another_file(
    known: KnownFiles, path: Path, tmp_path: Path
) -> None:
    before = known.read_index(path)
    known.note_sha256(state_of(before), "ab" * 32)
    other = write_sparse(tmp_path / "b.safetensors", SHAPES)
    write_at(other, other.stat().st_size - 9, b"\x07")
    times = path.stat()
    other.replace(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = known.read_index(path)
    assert state_of(after).header == state_of(before).header
    assert after.digest != before.digest
    assert known.sha256(state_of(after)) is None


def test_other_weights_under_the_same_header_are_noticed(known: KnownFiles, path: Path) -> None:
    before = known.read_index(path)
    write_at(path, path.stat().st_size - 1, b"\x07")
    assert known.read_index(path).digest != before.digest


def test_a_longer_file_is_noticed(known: KnownFiles, path: Path) -> None:
    known.read_index(path)
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(EngineError, match="follow its last tensor"):
        known.read_index(path)


def test_the_hash_is_remembered_with_the_state(known: KnownFiles, path: Path) -> None:
    index = known.read_index(path)
    assert known.sha256(state_of(index)) is None
    known.note_sha256(state_of(index), "ab" * 32)
    again = known.read_index(path)
    assert known.sha256(state_of(again)) == "ab" * 32
    assert KnownFiles(path.parent / "known", later).sha256(state_of(again)) == "ab" * 32


def test_the_state_of_a_file_just_written_is_not_settled(
    tmp_path: Path, path: Path, samplings: list[int]
) -> None:
    """Within a tick of the clock a second write would leave the same times behind."""
    now = path.stat().st_ctime_ns + SETTLED_NS
    young = KnownFiles(tmp_path / "known", lambda: now)
    for _ in range(2):
        young.read_index(path)
    assert len(samplings) == 2
    old = KnownFiles(tmp_path / "known", lambda: now + 1)
    for _ in range(2):
        old.read_index(path)
    assert len(samplings) == 3


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"size":1}', b"\xff" * 99])
def test_a_damaged_entry_is_replaced(
    known: KnownFiles, path: Path, content: bytes, samplings: list[int]
) -> None:
    known.read_index(path)
    (entry,) = (path.parent / "known").iterdir()
    entry.write_bytes(content)
    known.read_index(path)
    assert len(samplings) == 2
    known.read_index(path)
    assert len(samplings) == 2


def test_facts_are_found_out_each_time_without_a_writable_folder(
    tmp_path: Path, path: Path, samplings: list[int]
) -> None:
    (tmp_path / "file").write_text("in the way")
    known = KnownFiles(tmp_path / "file" / "known", later)
    index = known.read_index(path)
    known.note_sha256(state_of(index), "ab" * 32)
    assert known.sha256(state_of(index)) is None
    assert known.read_index(path) == index
    assert len(samplings) == 2


def test_the_number_of_entries_is_limited(
    known: KnownFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_files, "MOST_ENTRIES", 10)
    for number in range(25):
        known.read_index(write_sparse(tmp_path / f"{number}.safetensors", {"w": (number + 1,)}))
        assert len(list((tmp_path / "known").iterdir())) <= 10
    newest = tmp_path / "24.safetensors"
    index = known.read_index(newest)
    known.note_sha256(state_of(index), "ab" * 32)
    assert known.sha256(state_of(index)) == "ab" * 32


def test_many_threads_at_once_leave_whole_entries(
    known: KnownFiles, path: Path, tmp_path: Path
) -> None:
    index = known.read_index(path)

    def work(number: int) -> str | None:
        known.note_sha256(state_of(index), f"{number:064x}")
        return known.sha256(state_of(index))

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(work, range(200)))
    assert None not in seen
    assert len(list((tmp_path / "known").iterdir())) == 1


def test_a_prediction_type_is_kept_along_with_the_other_facts(
    known: KnownFiles, path: Path
) -> None:
    state = state_of(known.read_index(path))
    known.note_prediction(state, PredictionType.V)
    known.note_sha256(state, "e" * 64)
    known.note_content(state, "parts")
    assert known.read_index(path).probed is PredictionType.V
    assert known.sha256(state) == "e" * 64
    assert known.content(path) == "parts"
    keeping_times(path, lambda: write_at(path, 100_000, b"other"))
    assert known.content(path) is None
    assert known.read_index(path).probed is None


def test_content_is_known_before_the_file_is_read(
    known: KnownFiles, path: Path, samplings: list[int]
) -> None:
    state = state_of(safetensors.read_index(path, lambda _: "none"))
    assert known.content(path) is None
    known.note_content(state, "parts")
    assert known.content(path) == "parts"
    # It names no weights: they are sampled all the same, and the rest is kept.
    assert known.read_index(path).digest
    assert (len(samplings), known.content(path)) == (1, "parts")
    known.read_index(path)
    assert len(samplings) == 1


def test_a_prediction_of_a_file_that_was_never_read_is_not_kept(
    known: KnownFiles, path: Path
) -> None:
    known.note_prediction(state_of(safetensors.read_index(path)), PredictionType.V)
    assert known.read_index(path).probed is None


def test_content_of_a_file_just_written_is_not_kept(path: Path) -> None:
    known = KnownFiles(
        path.parent / "known", lambda: state_of(safetensors.read_index(path)).stamp.latest_ns
    )
    known.note_content(state_of(safetensors.read_index(path)), "parts")
    assert known.content(path) is None
    assert known.content(path.parent / "gone") is None


def test_on_windows_a_file_has_one_stamp_by_its_name_and_in_its_folders_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list has no inodes there: `os.DirEntry.stat` sets three of its fields to zero."""
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"weights")
    named = path.stat()
    times = {name: getattr(named, name) for name in ("st_mtime_ns", "st_ctime_ns")}
    listed = os.stat_result((named.st_mode, 0, 0, 0, *named[4:10]), times)
    assert Stamp.of(listed) == Stamp.of(named)
    monkeypatch.setattr(sys, "platform", "win32")
    assert Stamp.of(listed) == Stamp.of(named)
