"""Whole checkpoints are hashed beside everything else; what goes wrong there harms nobody."""

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from engine.checkpoints.index import FileState
from engine.checkpoints.known_files import KnownFiles
from engine.checkpoints.safetensors import read_index
from engine.families import IdentifiedCheckpoint, identify
from engine.jobs import background_hash
from engine.jobs.background_hash import BackgroundHash
from tests.checkpoints.files import write_sparse
from tests.tiny_checkpoint import write_checkpoint

PATIENCE_S = 60.0
# Takes long enough to be stopped in the middle of.
LARGE = {"w": (8 << 10, 1 << 20)}


class Heard:
    """What was told, and a flag that something was."""

    def __init__(self) -> None:
        self.told: list[tuple[FileState, int, str | None]] = []
        self.something = Event()
        # What happens when it is told the first time, while the file is read.
        self.then: Callable[[], object] | None = None

    def __call__(self, state: FileState, done: int, sha256: str | None) -> None:
        self.told.append((state, done, sha256))
        if self.then is not None and len(self.told) == 1:
            self.then()
        self.something.set()


@pytest.fixture
def known(tmp_path: Path) -> KnownFiles:
    return KnownFiles(tmp_path / "known", lambda: 1 << 62)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def hashes(known: KnownFiles, heard: Heard) -> Iterator[BackgroundHash]:
    one = BackgroundHash(known, heard)
    yield one
    one.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")


def checkpoint_of(folder: Path, path: Path) -> IdentifiedCheckpoint:
    """A checkpoint that says it is the file at `path`."""
    index = read_index(path)
    return replace(identify(folder), file=index.state, digest=index.digest)


def a_file(path: Path, content: bytes = b"\x01") -> Path:
    write_sparse(path, {"w": (100,)})
    with path.open("r+b") as file:
        file.seek(-1, 2)
        file.write(content)
    return path


def state_of(checkpoint: IdentifiedCheckpoint) -> FileState:
    assert checkpoint.file is not None
    return checkpoint.file


def test_the_hash_is_found_kept_and_told(
    folder: Path, tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, heard: Heard
) -> None:
    checkpoint = checkpoint_of(folder, a_file(tmp_path / "a.safetensors"))
    hashes.want(checkpoint)
    assert hashes.wait(PATIENCE_S)
    state = state_of(checkpoint)
    expected = hashlib.sha256(state.path.read_bytes()).hexdigest()
    assert known.sha256(state) == expected
    assert heard.told[-1] == (state, state.size, expected)
    assert [sha256 for *_, sha256 in heard.told[:-1]] == [None] * (len(heard.told) - 1)
    # Found out once.
    heard.told.clear()
    hashes.want(checkpoint)
    assert hashes.wait(PATIENCE_S)
    assert heard.told == []


def test_a_folder_has_no_hash(folder: Path, hashes: BackgroundHash, heard: Heard) -> None:
    hashes.want(identify(folder))
    assert hashes.wait(PATIENCE_S)
    assert heard.told == []


def test_a_file_that_is_deleted_meanwhile_is_given_up(
    folder: Path, tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, heard: Heard
) -> None:
    checkpoint = checkpoint_of(folder, write_sparse(tmp_path / "a.safetensors", LARGE))
    hashes.want(checkpoint)
    assert heard.something.wait(PATIENCE_S)
    other = checkpoint_of(folder, a_file(tmp_path / "b.safetensors"))
    state_of(checkpoint).path.unlink()
    # As from a drive that is gone: the process that reads ends.
    process = hashes._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    process.kill()
    hashes.want(other)
    assert hashes.wait(PATIENCE_S)
    assert known.sha256(state_of(checkpoint)) is None
    assert known.sha256(state_of(other)) is not None


def test_a_file_that_is_gone_before_its_turn_is_not_looked_for(
    folder: Path, tmp_path: Path, hashes: BackgroundHash, heard: Heard
) -> None:
    checkpoint = checkpoint_of(folder, a_file(tmp_path / "a.safetensors"))
    state_of(checkpoint).path.unlink()
    hashes.want(checkpoint)
    assert hashes.wait(PATIENCE_S)
    assert heard.told == []


@pytest.mark.parametrize("when", ["before", "while it is read"])
def test_a_file_that_is_replaced_is_not_taken_for_the_one_that_was_wanted(
    folder: Path, tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, heard: Heard, when: str
) -> None:
    path = a_file(tmp_path / "a.safetensors")
    checkpoint = checkpoint_of(folder, path)
    other = a_file(tmp_path / "b.safetensors", b"\x02")
    if when == "before":
        other.replace(path)
    else:
        heard.then = lambda: other.replace(path)
    hashes.want(checkpoint)
    assert hashes.wait(PATIENCE_S)
    assert not other.exists()
    assert known.sha256(state_of(checkpoint)) is None
    heard.then = None
    now = checkpoint_of(folder, path)
    assert known.sha256(state_of(now)) is None
    hashes.want(now)
    assert hashes.wait(PATIENCE_S)
    assert known.sha256(state_of(now)) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_that_is_written_to_meanwhile_is_given_up(
    folder: Path, tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, heard: Heard
) -> None:
    path = a_file(tmp_path / "a.safetensors")
    checkpoint = checkpoint_of(folder, path)
    heard.then = lambda: a_file(path, b"\x03")
    hashes.want(checkpoint)
    assert hashes.wait(PATIENCE_S)
    assert heard.told
    assert known.sha256(state_of(checkpoint)) is None
    assert known.sha256(state_of(checkpoint_of(folder, path))) is None


def test_closing_stops_it_at_once(
    folder: Path, tmp_path: Path, known: KnownFiles, heard: Heard
) -> None:
    hashes = BackgroundHash(known, heard)
    checkpoint = checkpoint_of(folder, write_sparse(tmp_path / "a.safetensors", LARGE))
    hashes.want(checkpoint)
    assert heard.something.wait(PATIENCE_S)
    process = hashes._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    hashes.close()
    assert process.wait(PATIENCE_S) != 0
    assert known.sha256(state_of(checkpoint)) is None
    hashes.want(checkpoint)
    assert hashes.wait(PATIENCE_S)
    assert heard.told[-1][2] is None


def test_the_latest_wish_comes_first_and_old_ones_are_dropped(
    folder: Path, tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, heard: Heard
) -> None:
    large = checkpoint_of(folder, write_sparse(tmp_path / "large.safetensors", LARGE))
    hashes.want(large)
    assert heard.something.wait(PATIENCE_S)
    wished = [
        checkpoint_of(folder, a_file(tmp_path / f"{number}.safetensors", bytes([number])))
        for number in range(6)
    ]
    for checkpoint in (*wished, wished[3]):
        hashes.want(checkpoint)
    process = hashes._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    process.kill()
    assert hashes.wait(PATIENCE_S)
    found = [state.path.stem for state, _, sha256 in heard.told if sha256]
    assert found == ["3", "5", "4", "2"]


def test_a_file_that_was_just_written_is_waited_for(
    folder: Path, tmp_path: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until its times would tell of a further change."""
    monkeypatch.setattr(background_hash, "_SETTLED_S", 0.05)
    moments = iter([0, 1 << 62, 1 << 62, 1 << 62])
    young = KnownFiles(tmp_path / "known", lambda: next(moments))
    hashes = BackgroundHash(young, heard)
    checkpoint = checkpoint_of(folder, a_file(tmp_path / "a.safetensors"))
    hashes.want(checkpoint)
    assert hashes.wait(PATIENCE_S)
    assert young.sha256(state_of(checkpoint)) is not None
    hashes.close()


def test_one_that_goes_on_being_written_is_given_up(
    folder: Path, tmp_path: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_hash, "_SETTLED_S", 0.05)
    busy = KnownFiles(tmp_path / "known", time.time_ns)
    hashes = BackgroundHash(busy, heard)
    hashes.want(checkpoint_of(folder, a_file(tmp_path / "a.safetensors")))
    assert hashes.wait(PATIENCE_S)
    assert heard.told == []
    hashes.close()


def test_without_python_to_run_it_is_given_up(
    folder: Path,
    tmp_path: Path,
    hashes: BackgroundHash,
    heard: Heard,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "nowhere"))
    hashes.want(checkpoint_of(folder, a_file(tmp_path / "a.safetensors")))
    assert hashes.wait(PATIENCE_S)
    assert heard.told == []
    assert shutil.which(str(tmp_path / "nowhere")) is None
