"""Whole checkpoints are hashed beside everything else; what goes wrong there harms nobody."""

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from engine.checkpoints import background_hash
from engine.checkpoints.background_hash import BackgroundHash, Wish
from engine.checkpoints.full_hash import FullHash, hash_file
from engine.checkpoints.index import FileState, Stamp, TensorIndex
from engine.checkpoints.known_files import KnownFiles
from engine.checkpoints.safetensors import read_index
from tests.checkpoints.files import write_sparse

# At the lowest priority a busy computer leaves a hash a hundredth of its usual speed.
PATIENCE_S = 600.0
# Takes long enough to be stopped in the middle of.
LARGE = {"w": (8 << 10, 1 << 20)}


class Heard:
    """A receiver that keeps each report, and an event that is set by the first one."""

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
    hashes = BackgroundHash(known, heard)
    yield hashes
    hashes.close()


def a_file(path: Path, content: bytes = b"\x01") -> Path:
    write_sparse(path, {"w": (100,)})
    with path.open("r+b") as file:
        file.seek(-1, 2)
        file.write(content)
    return path


def state_of(index: TensorIndex) -> FileState:
    assert index.state is not None
    return index.state


def want(hashes: BackgroundHash, index: TensorIndex) -> None:
    hashes.want(state_of(index))


def test_the_hash_is_computed_stored_and_reported(
    tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, heard: Heard
) -> None:
    index = read_index(a_file(tmp_path / "a.safetensors"))
    want(hashes, index)
    assert hashes.wait(PATIENCE_S)
    state = state_of(index)
    expected = hashlib.sha256(state.path.read_bytes()).hexdigest()
    assert known.sha256(state) == expected
    assert heard.told[-1] == (state, state.size, expected)
    assert [sha256 for *_, sha256 in heard.told[:-1]] == [None] * (len(heard.told) - 1)
    # Found out once.
    heard.told.clear()
    want(hashes, index)
    assert hashes.wait(PATIENCE_S)
    assert heard.told == []


@pytest.mark.parametrize("is_known", [True, False])
def test_a_hash_leaves_the_file_its_own_digest(
    tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, is_known: bool
) -> None:
    path = a_file(tmp_path / "a.safetensors")
    own = known.read_index(path) if is_known else read_index(path)
    want(hashes, own)
    assert hashes.wait(PATIENCE_S)
    assert known.read_index(path).digest == own.digest
    assert known.sha256(state_of(own)) is not None


def test_a_file_that_is_deleted_meanwhile_is_given_up(
    tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, heard: Heard
) -> None:
    index = read_index(write_sparse(tmp_path / "a.safetensors", LARGE))
    want(hashes, index)
    assert heard.something.wait(PATIENCE_S)
    other = read_index(a_file(tmp_path / "b.safetensors"))
    state_of(index).path.unlink()
    # As from a drive that is gone: the process that reads ends.
    process = hashes._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    process.kill()
    want(hashes, other)
    assert hashes.wait(PATIENCE_S)
    assert known.sha256(state_of(index)) is None
    assert known.sha256(state_of(other)) is not None


def test_a_file_that_is_gone_before_its_turn_is_not_looked_for(
    tmp_path: Path, hashes: BackgroundHash, heard: Heard
) -> None:
    index = read_index(a_file(tmp_path / "a.safetensors"))
    state_of(index).path.unlink()
    want(hashes, index)
    assert hashes.wait(PATIENCE_S)
    assert heard.told == []


@pytest.mark.parametrize("when", ["before", "while it is read"])
def test_a_replaced_file_is_not_hashed_in_place_of_the_old_one(
    tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, heard: Heard, when: str
) -> None:
    path = a_file(tmp_path / "a.safetensors")
    index = read_index(path)
    other = a_file(tmp_path / "b.safetensors", b"\x02")
    if when == "before":
        other.replace(path)
    else:
        heard.then = lambda: other.replace(path)
    want(hashes, index)
    assert hashes.wait(PATIENCE_S)
    assert not other.exists()
    assert known.sha256(state_of(index)) is None
    heard.then = None
    now = read_index(path)
    assert known.sha256(state_of(now)) is None
    want(hashes, now)
    assert hashes.wait(PATIENCE_S)
    assert known.sha256(state_of(now)) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_that_is_written_to_meanwhile_is_given_up(
    tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, heard: Heard
) -> None:
    path = a_file(tmp_path / "a.safetensors")
    index = read_index(path)
    heard.then = lambda: a_file(path, b"\x03")
    want(hashes, index)
    assert hashes.wait(PATIENCE_S)
    assert heard.told
    assert known.sha256(state_of(index)) is None
    assert known.sha256(state_of(read_index(path))) is None


def test_closing_stops_the_process_at_once(tmp_path: Path, known: KnownFiles, heard: Heard) -> None:
    hashes = BackgroundHash(known, heard)
    index = read_index(write_sparse(tmp_path / "a.safetensors", LARGE))
    want(hashes, index)
    assert heard.something.wait(PATIENCE_S)
    process = hashes._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    hashes.close()
    assert process.wait(PATIENCE_S) != 0
    assert known.sha256(state_of(index)) is None
    want(hashes, index)
    assert hashes.wait(PATIENCE_S)
    assert heard.told[-1][2] is None


def test_the_checkpoint_looked_at_last_comes_first_and_early_ones_are_dropped(
    tmp_path: Path, hashes: BackgroundHash, known: KnownFiles, heard: Heard
) -> None:
    large = read_index(write_sparse(tmp_path / "large.safetensors", LARGE))
    want(hashes, large)
    assert heard.something.wait(PATIENCE_S)
    wished = [
        read_index(a_file(tmp_path / f"{number}.safetensors", bytes([number])))
        for number in range(6)
    ]
    for index in (*wished, wished[3]):
        want(hashes, index)
    process = hashes._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    process.kill()
    assert hashes.wait(PATIENCE_S)
    found = [state.path.stem for state, _, sha256 in heard.told if sha256]
    assert found == ["3", "5", "4", "2"]


def test_whoever_waits_is_told_that_a_file_has_no_hash(
    tmp_path: Path, hashes: BackgroundHash
) -> None:
    given_up: list[str] = []
    kept: list[FullHash] = []

    def wish(name: str) -> Wish:
        path = a_file(tmp_path / name)
        return Wish(path, Stamp.of(path.stat()), kept.append, give_up=lambda: given_up.append(name))

    gone = wish("gone.safetensors")
    gone.path.unlink()
    hashes.want_file(gone)
    assert hashes.wait(PATIENCE_S)
    assert given_up == ["gone.safetensors"]
    busy = wish("busy.safetensors")
    write_sparse(busy.path, LARGE)
    begun = Event()

    def tell(done: int) -> None:
        begun.set()

    hashes.want_file(replace(busy, stamp=Stamp.of(busy.path.stat()), tell=tell))
    assert begun.wait(PATIENCE_S)
    # Once those beyond the fourth were given up.
    for number in range(6):
        hashes.want_file(wish(str(number)))
    process = hashes._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    process.kill()
    assert hashes.wait(PATIENCE_S)
    assert given_up[1:] == ["busy.safetensors"]
    assert len(kept) == 6


def test_whoever_waits_is_told_of_a_file_that_is_wanted_more_than_once(
    tmp_path: Path, hashes: BackgroundHash
) -> None:
    large = wish(write_sparse(tmp_path / "large.safetensors", LARGE), [])
    begun, told, counted = Event(), list[str](), list[tuple[str, FullHash]]()

    def tell(done: int) -> None:
        begun.set()

    # It is waited for, too, or it would give way.
    hashes.want_file(replace(large, tell=tell, give_up=told.clear))
    assert begun.wait(PATIENCE_S)
    plain = wish(a_file(tmp_path / "a.safetensors"), counted)

    def waiting(name: str) -> Wish:
        def keep(found: FullHash) -> None:
            told.append(name)

        return replace(plain, keep=keep, give_up=told.clear)

    # A picture that uses the file wants its hash, too, and waits for nothing.
    for wanted in (waiting("first"), waiting("second"), plain):
        hashes.want_file(wanted)
    process = hashes._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    process.kill()
    assert hashes.wait(PATIENCE_S)
    assert sorted(told) == ["first", "second"]
    assert counted == []


def test_a_file_that_was_just_written_is_waited_for(
    tmp_path: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until its times would tell of a further change."""
    monkeypatch.setattr(background_hash, "_SETTLED_S", 0.05)
    moments = iter([time.time_ns(), 1 << 62, 1 << 62, 1 << 62])
    young = KnownFiles(tmp_path / "known", lambda: next(moments))
    hashes = BackgroundHash(young, heard)
    index = read_index(a_file(tmp_path / "a.safetensors"))
    want(hashes, index)
    assert hashes.wait(PATIENCE_S)
    assert young.sha256(state_of(index)) is not None
    hashes.close()


def test_a_file_that_is_written_to_for_long_is_given_up(
    tmp_path: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_hash, "_SETTLED_S", 0.05)
    busy = KnownFiles(tmp_path / "known", time.time_ns)
    hashes = BackgroundHash(busy, heard)
    want(hashes, read_index(a_file(tmp_path / "a.safetensors")))
    assert hashes.wait(PATIENCE_S)
    assert heard.told == []
    hashes.close()


def test_a_hash_without_an_interpreter_is_given_up(
    tmp_path: Path,
    hashes: BackgroundHash,
    heard: Heard,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "nowhere"))
    want(hashes, read_index(a_file(tmp_path / "a.safetensors")))
    assert hashes.wait(PATIENCE_S)
    assert heard.told == []
    assert shutil.which(str(tmp_path / "nowhere")) is None


def wish(path: Path, kept: list[tuple[str, FullHash]]) -> Wish:
    return Wish(
        path,
        Stamp.of(path.stat()),
        lambda found: kept.append((path.stem, found)),
        tensors=True,
    )


def test_a_wish_gets_the_hashes_of_the_file_and_of_its_tensors(
    tmp_path: Path, hashes: BackgroundHash
) -> None:
    path = a_file(tmp_path / "a.safetensors")
    kept: list[tuple[str, FullHash]] = []
    hashes.want_file(wish(path, kept))
    assert hashes.wait(PATIENCE_S)
    assert kept == [("a", hash_file(path, lambda _: None, tensors=True))]


def test_files_that_nothing_waits_for_are_hashed_after_the_others_and_while_no_job_runs(
    tmp_path: Path, hashes: BackgroundHash
) -> None:
    kept: list[tuple[str, FullHash]] = []
    first, second, urgent = (
        wish(a_file(tmp_path / f"{name}.safetensors"), kept) for name in ("1", "2", "urgent")
    )
    with hashes.holding():
        hashes.want_leisurely([first, second])
        hashes.want_file(urgent)
        while not kept:
            time.sleep(0.01)
        assert not hashes.wait(0.2)
        assert [name for name, _ in kept] == ["urgent"]
    assert hashes.wait(PATIENCE_S)
    assert [name for name, _ in kept] == ["urgent", "1", "2"]


def test_a_file_that_a_job_interrupts_is_hashed_after_it(
    tmp_path: Path, hashes: BackgroundHash
) -> None:
    path = write_sparse(tmp_path / "large.safetensors", {"w": (100, 1 << 20)})
    kept: list[tuple[str, FullHash]] = []
    begun = Event()

    def tell(_done: int) -> None:
        begun.set()

    hashes.want_leisurely([replace(wish(path, kept), tell=tell)])
    assert begun.wait(PATIENCE_S)
    process = hashes._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    with hashes.holding():
        assert process.wait(PATIENCE_S) != 0
        assert not hashes.wait(0.2)
        assert kept == []
    assert hashes.wait(PATIENCE_S)
    assert [name for name, _ in kept] == ["large"]


def test_a_file_that_is_waited_for_interrupts_one_that_is_not(
    tmp_path: Path, hashes: BackgroundHash, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the lowest priority the other may take for ever; the new one has the engine's own."""
    kept: list[tuple[str, FullHash]] = []
    flags: list[bool] = []
    begun = Event()
    of_python = background_hash.python_command

    def command(*arguments: str) -> tuple[str, ...]:
        flags.append("--waited-for" in arguments)
        return of_python(*arguments)

    def tell(_done: int) -> None:
        begun.set()

    monkeypatch.setattr(background_hash, "python_command", command)
    large = write_sparse(tmp_path / "large.safetensors", LARGE)
    hashes.want_file(replace(wish(large, kept), tell=tell))
    assert begun.wait(PATIENCE_S)
    wanted = replace(wish(a_file(tmp_path / "wanted.safetensors"), kept), give_up=begun.clear)
    hashes.want_file(wanted)
    while not kept:
        time.sleep(0.01)
    assert [name for name, _ in kept] == ["wanted"]
    assert flags[:2] == [False, True]
    assert begun.is_set()
    # The other begins again.
    assert not hashes.wait(0.1)


def test_files_of_the_last_call_are_no_longer_wanted_after_another(
    tmp_path: Path, hashes: BackgroundHash
) -> None:
    kept: list[tuple[str, FullHash]] = []
    old, new = (wish(a_file(tmp_path / f"{name}.safetensors"), kept) for name in ("old", "new"))
    with hashes.holding():
        hashes.want_leisurely([old])
        hashes.want_leisurely([new])
    assert hashes.wait(PATIENCE_S)
    assert [name for name, _ in kept] == ["new"]
