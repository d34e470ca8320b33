"""Checks of working copies: every damage is seen, once for each state of the file, in time."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from backends.base import DType, Precision
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.checkpoints.known_files import CHECKED_NS, KnownFiles
from engine.errors import Cancelled, EngineError
from engine.memory.plan import WeightPlacement
from engine.weights import block_checksums, copy_checks
from engine.weights.copy_file import is_sound
from engine.weights.sources import WeightSource
from engine.weights.working_copies import WorkingCopies
from tests.compile.compiling import Bench, network, write_weights
from tests.weights.files import write_sources

KEY = "key"
Weights = Mapping[str, WeightSource]


class Days:
    """The folder of copies as processes of several days see it, and what they read of it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 10**18
        self.reads: list[Path] = []
        self._folder = folder
        arrays = {f"{n}.weight": np.full(7 + n, n / 8, np.float16) for n in range(6)}
        self.weights: Weights = write_sources(folder / "half.safetensors", arrays, DType.F16)
        check = copy_checks.is_sound

        def counting(path: Path, unwanted: Event) -> bool | None:
            self.reads.append(path)
            return check(path, unwanted)

        monkeypatch.setattr(copy_checks, "is_sound", counting)

    def copies(self) -> WorkingCopies:
        """Return the copies as another process opens them."""
        known = KnownFiles(self._folder / "files", lambda: self.now)
        return WorkingCopies(self._folder / "weights", known=known)

    def make(self) -> Path:
        copies = self.copies()
        copies.make(KEY, self.weights, DType.F32, lambda _done, _total: None)
        return copies.folder / f"{KEY}.safetensors"

    def use(self) -> None:
        """Find the copy, and keep what was made with it."""
        copies = self.copies()
        with copies.holding():
            assert copies.find(KEY, self.weights) is not None
            copies.require_sound(CancelToken())


@pytest.fixture
def days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Days:
    monkeypatch.setattr(block_checksums, "BLOCK_BYTES", 100)
    return Days(tmp_path, monkeypatch)


def test_every_changed_byte_is_seen(days: Days) -> None:
    path = days.make()
    whole = path.read_bytes()
    assert is_sound(path, Event())
    assert len(whole) > 700  # several blocks, the last of them shorter
    missed: list[int] = []
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x10]) + whole[position + 1 :])
        if is_sound(path, Event()) is not False:
            missed.append(position)
    assert missed == []


def test_a_missing_copy_is_not_sound(days: Days, tmp_path: Path) -> None:
    assert is_sound(tmp_path / "nothing", Event()) is False
    assert is_sound(tmp_path, Event()) is False
    assert is_sound(days.weights["0.weight"].parts()[0].path, Event()) is False  # without sums


def test_a_copy_is_read_once_for_each_state_of_its_file(days: Days) -> None:
    path = days.make()
    for _ in range(3):
        days.use()
    assert days.reads == [path]
    os.utime(path, ns=(10**18, 10**18))
    for _ in range(2):
        days.use()
    assert days.reads == [path] * 2


def test_a_copy_is_read_again_after_a_month(days: Days) -> None:
    """A disk may rot without changing a time."""
    days.make()
    for now, reads in ((0, 1), (CHECKED_NS - 1, 1), (CHECKED_NS, 2), (CHECKED_NS + 1, 2)):
        days.now = 10**18 + now
        days.use()
        assert len(days.reads) == reads
    days.now = 10**18  # a clock that was put back
    days.use()
    assert len(days.reads) == 3


def test_a_copy_that_this_process_wrote_is_not_read_again_by_it(days: Days) -> None:
    copies = days.copies()
    copies.make(KEY, days.weights, DType.F32, lambda _done, _total: None)
    assert copies.find(KEY, days.weights) is not None
    copies.require_sound(CancelToken())
    assert days.reads == []


def test_a_damaged_copy_is_said_once_and_then_is_not_there(days: Days) -> None:
    path = days.make()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"\xff")
    copies = days.copies()
    with copies.holding():
        assert copies.find(KEY, days.weights) is not None
        with pytest.raises(EngineError) as caught:
            copies.require_sound(CancelToken())
        assert caught.value.code is ErrorCode.WORKING_COPY_DAMAGED
        assert caught.value.detail == KEY
        copies.require_sound(CancelToken())
        assert copies.find(KEY, days.weights) is None
        assert not path.exists()
        copies.make(KEY, days.weights, DType.F32, lambda _done, _total: None)
        assert copies.find(KEY, days.weights) is not None
        copies.require_sound(CancelToken())
    assert path.read_bytes() == whole


def test_a_damaged_copy_that_another_process_holds_is_not_found_either(days: Days) -> None:
    path = days.make()
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    copies, others = days.copies(), days.copies()
    with others.holding(), copies.holding():
        assert others.find(KEY, days.weights) is not None
        assert copies.find(KEY, days.weights) is not None
        with pytest.raises(EngineError):
            copies.require_sound(CancelToken())
        assert path.exists()
        assert copies.find(KEY, days.weights) is None
        assert not copies.has(KEY)


def test_a_copy_of_an_earlier_version_without_sums_is_made_again(days: Days) -> None:
    path = days.make()
    shutil.copy(days.weights["0.weight"].parts()[0].path, path)
    assert days.copies().find(KEY, days.weights) is None


def test_nobody_waits_for_a_check_once_the_job_is_stopped(
    days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it ends with the block that holds the copies."""
    days.make()
    ended = Event()

    def endless(_path: Path, unwanted: Event) -> None:
        unwanted.wait()
        ended.set()

    monkeypatch.setattr(copy_checks, "is_sound", endless)
    copies, stopped = days.copies(), CancelToken()
    stopped.cancel()
    with copies.holding():
        copies.find(KEY, days.weights)
        with pytest.raises(Cancelled):
            copies.require_sound(stopped)
    assert ended.wait(60)


def test_an_artifact_with_weights_is_not_compiled_from_a_damaged_copy(tmp_path: Path) -> None:
    """The artifact would outlive the job that finds the damage."""
    bench = Bench(tmp_path)
    bench.change(carries_weights=True)
    write_weights(bench.weights, dtype=DType.F16)
    made = network(bench.weights)

    expected = bench.numbers(made)
    bench.store.remove()
    prepared = bench.compiler().prepared(made, Precision.F32)
    prepared.prepare(WeightPlacement.WORKING_COPY, lambda _done, _total: None, CancelToken())
    (copy,) = (bench.cache / "weights").glob("*.safetensors")
    copy.write_bytes(copy.read_bytes()[:-4000] + bytes(4000))
    bench.store.remove()
    np.testing.assert_array_equal(bench.numbers(made), expected)
    np.testing.assert_array_equal(bench.numbers(made), expected)
