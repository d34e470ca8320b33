"""Working copies: found again, never taken for another, gone when there is no room."""

import errno
import os
import shutil
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, ComputedArray, DType, WeightRef
from backends.forms import BlockForm
from engine.api.remedies import FreeCache
from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.errors import Cancelled, EngineError
from engine.file_lock import FileLock
from engine.weights.binding import bind
from engine.weights.packing import Field, PackedWeight, packing_of
from engine.weights.sources import FileWeight, WeightSource, as_source, mapped
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.gguf_files import blocks, write_gguf
from tests.weights.files import write_sources

if sys.platform != "win32":
    import resource

linux_only = pytest.mark.skipif(sys.platform == "win32", reason="no such limits")

RANDOM = np.random.default_rng(0)
ARRAYS = {
    "a.weight": RANDOM.standard_normal((3, 5, 1, 1)).astype(np.float16),
    "b.weight": RANDOM.standard_normal(7).astype(np.float16),
    "Größe": RANDOM.standard_normal((2, 3)).astype(np.float16),
    **{f"many.{i}": np.full(i + 1, i, np.float16) for i in range(20)},
}


def ignore(done: int, total: int) -> None:
    """A report that nobody reads."""


@pytest.fixture
def weights(tmp_path: Path) -> dict[str, WeightSource]:
    return write_sources(tmp_path / "half.safetensors", ARRAYS, DType.F16)


@pytest.fixture
def copies(tmp_path: Path) -> WorkingCopies:
    return WorkingCopies(tmp_path / "cache" / "weights")


def files(copies: WorkingCopies) -> set[str]:
    return {path.name for path in copies.folder.iterdir()} if copies.folder.exists() else set()


@pytest.mark.parametrize("element", [DType.BF16, DType.F32])
def test_a_copy_is_found_again_and_holds_the_converted_numbers(
    copies: WorkingCopies, weights: dict[str, WeightSource], element: DType
) -> None:
    assert copies.find("key", weights) is None
    made = copies.make("key", weights, element, ignore)
    again = WorkingCopies(copies.folder)  # another day
    assert again.find("key", weights) == made
    assert made.keys() == weights.keys()
    for name, array in ARRAYS.items():
        assert made[name].dtype is element
        assert made[name].path == copies.folder / "key.safetensors"
        numbers: Array = mapped(made[name])
        np.testing.assert_array_equal(
            numbers.astype(np.float32), array.astype(element.numpy).astype(np.float32)
        )
    assert files(copies) == {"key.safetensors"}


def test_the_source_may_go(copies: WorkingCopies, weights: dict[str, WeightSource]) -> None:
    made = copies.make("key", weights, DType.F32, ignore)
    weights["Größe"].parts()[0].path.unlink()
    assert copies.find("key", weights) == made


def test_progress_rises_to_the_total(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    seen: list[tuple[int, int]] = []
    copies.make("key", weights, DType.F32, lambda done, total: seen.append((done, total)))
    total = sum(4 * ref.elements for ref in weights.values())
    assert len(seen) > 2
    assert {entry[1] for entry in seen} == {total}
    assert [entry[0] for entry in seen] == sorted({entry[0] for entry in seen})
    assert seen[-1][0] == total


def test_another_key_finds_nothing(copies: WorkingCopies, weights: dict[str, WeightSource]) -> None:
    copies.make("one fine-tune", weights, DType.F32, ignore)
    assert copies.find("another", weights) is None


def test_a_part_of_the_copy_is_found_and_more_than_it_is_not(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    made = copies.make("key", weights, DType.F32, ignore)
    fewer = {name: weights[name] for name in ("b.weight", "Größe")}
    assert copies.find("key", fewer) == {name: made[name] for name in fewer}
    more = weights | {"c.weight": weights["b.weight"]}
    assert copies.find("key", more) is None


def test_a_copy_is_kept_beside_one_of_another_layout_and_replaces_one_of_fewer_weights(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    fewer = {name: weights[name] for name in ("b.weight", "Größe")}
    turned = {"b.weight": weights["b.weight"], "Größe:turned": weights["Größe"].reshaped((3, 2))}
    assert copies.key_for("key", fewer) == "key"
    copies.make("key", fewer, DType.F32, ignore)
    assert copies.key_for("key", turned) == "key-2"
    copies.make("key-2", turned, DType.F32, ignore)
    assert copies.key_for("key", fewer) == "key"
    assert copies.key_for("key", weights) == "key"
    assert copies.key_for("key", turned) == "key-2"
    copies.make("key", weights, DType.F32, ignore)
    assert copies.key_for("key", fewer) == "key"
    (copies.folder / "key-2.safetensors").write_bytes(b"damaged")
    assert copies.key_for("key", turned) == "key-2"
    for other in ("key-packed", "keys"):
        copies.make(other, turned, DType.F32, ignore)
    assert copies.key_for("key", turned) == "key-2"


def test_other_shapes_are_not_taken(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    copies.make("key", weights, DType.F32, ignore)
    turned = weights | {"Größe": weights["Größe"].reshaped((3, 2))}
    assert copies.find("key", turned) is None


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _garble_header(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:8] + b"#" + content[9:])


@pytest.mark.parametrize("damage", [_truncate, _empty, _garble_header])
def test_a_damaged_copy_is_not_found_and_is_made_again(
    copies: WorkingCopies, weights: dict[str, WeightSource], damage: Callable[[Path], None]
) -> None:
    copies.make("key", weights, DType.F32, ignore)
    whole = (copies.folder / "key.safetensors").read_bytes()
    damage(copies.folder / "key.safetensors")
    assert copies.find("key", weights) is None
    copies.make("key", weights, DType.F32, ignore)
    assert copies.find("key", weights) is not None
    assert (copies.folder / "key.safetensors").read_bytes() == whole


def test_a_copy_that_is_made_again_is_not_held_by_who_looked_for_it(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    """Windows replaces no file that is open, and a lock is an open file."""
    copies.make("key", {"Größe": weights["Größe"]}, DType.F32, ignore)
    looked: list[int] = []

    def look(done: int, total: int) -> None:
        FileLock(copies.folder / "key.safetensors").release()
        looked.append(done)

    with copies.holding():
        assert copies.find("key", weights) is None
        copies.make("key", weights, DType.F32, look)
        assert looked
        with pytest.raises(BlockingIOError):
            FileLock(copies.folder / "key.safetensors")


def test_a_copy_that_another_process_made_meanwhile_is_taken_where_it_cannot_be_replaced(
    copies: WorkingCopies, weights: dict[str, WeightSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows replaces no file that the other process has open."""
    other = WorkingCopies(copies.folder)
    made: list[object] = []

    def refuse(part: Path, path: Path) -> None:
        raise PermissionError(errno.EACCES, "Access is denied", str(path))

    def make(done: int, total: int) -> None:
        if not made:
            made.append(other.make("key", weights, DType.F32, ignore))
            monkeypatch.setattr("engine.weights.copy_file.put_in_place", refuse)

    assert copies.make("key", weights, DType.F32, make) == made[0]
    assert files(copies) == {"key.safetensors"}


# --- room ---


def test_the_least_recently_used_go_first(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    for name in ("first", "second", "third"):
        copies.make(name, weights, DType.F32, ignore)
    size = (copies.folder / "first.safetensors").stat().st_size
    for age, name in enumerate(("third", "second", "first")):
        os.utime(copies.folder / f"{name}.safetensors", (1e9 - age, 1e9 - age))
    assert copies.find("first", weights)  # which makes it the last one used
    tight = WorkingCopies(copies.folder, cap_bytes=3 * size)
    tight.make("fourth", weights, DType.F32, ignore)
    assert files(copies) == {f"{name}.safetensors" for name in ("first", "third", "fourth")}
    tighter = WorkingCopies(copies.folder, cap_bytes=2 * size)
    tighter.make("fifth", weights, DType.F32, ignore)
    assert files(copies) == {f"{name}.safetensors" for name in ("fourth", "fifth")}


def test_nothing_goes_while_there_is_room(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    for name in ("first", "second"):
        copies.make(name, weights, DType.F32, ignore)
    size = (copies.folder / "first.safetensors").stat().st_size
    WorkingCopies(copies.folder, cap_bytes=3 * size).make("third", weights, DType.F32, ignore)
    assert len(files(copies)) == 3


def test_files_left_by_a_killed_process_are_removed(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    copies.folder.mkdir(parents=True)
    for name, age in (("old.part", 1e9), ("new.part", None)):
        (copies.folder / name).write_bytes(b"half")
        if age:
            os.utime(copies.folder / name, (age, age))
    copies.make("key", weights, DType.F32, ignore)
    # The new one may be another process at work.
    assert files(copies) == {"key.safetensors", "new.part"}


# --- beside a job ---


@pytest.fixture
def bound(weights: dict[str, WeightSource]) -> dict[str, WeightRef]:
    return dict(bind(weights, DType.BF16))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.fixture
def ample(tmp_path: Path) -> WorkingCopies:
    return WorkingCopies(tmp_path / "cache" / "weights")


def test_a_copy_is_written_beside_from_what_is_converted_already(
    ample: WorkingCopies,
    copies: WorkingCopies,
    weights: dict[str, WeightSource],
    bound: dict[str, WeightRef],
) -> None:
    copies.make("at once", weights, DType.BF16, ignore)
    ample.make_beside("beside", bound, DType.BF16)
    until(lambda: ample.find("beside", weights) is not None)
    at_once, beside = (copies.folder / f"{name}.safetensors" for name in ("at once", "beside"))
    assert at_once.read_bytes() == beside.read_bytes()


def test_an_abandoned_copy_leaves_no_file_and_releases_its_weights(
    ample: WorkingCopies, bound: dict[str, WeightRef], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_go_on = threading.Event(), threading.Event()
    sync = os.fsync

    def slow(descriptor: int) -> None:
        begun.set()
        assert may_go_on.wait(60)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    ample.make_beside("first", bound, DType.BF16)
    assert begun.wait(60)
    held = bound["Größe"]
    assert isinstance(held, ComputedArray)
    gone = weakref.ref(held.array)
    ample.make_beside("second", bound, DType.BF16)
    bound.clear()
    del held
    threading.Timer(0.05, may_go_on.set).start()
    ample.abandon()
    assert gone() is None
    # What was on its way to the disk got there.
    assert files(ample) == {"first.safetensors"}


def test_a_disk_without_room_to_spare_gets_no_copy_beside(
    weights: dict[str, WeightSource],
    bound: dict[str, WeightRef],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = threading.Event()
    usage = shutil.disk_usage

    def ask(path: Path) -> object:
        asked.set()
        return usage(path)._replace(free=10 * sum(ref.nbytes for ref in bound.values()))

    monkeypatch.setattr(shutil, "disk_usage", ask)
    copies = WorkingCopies(tmp_path / "cache" / "weights")
    copies.make_beside("key", bound, DType.BF16)
    assert asked.wait(60)
    copies.abandon()  # which waits for it to be done
    assert files(copies) == set()
    copies.make("key", weights, DType.BF16, ignore)  # what a job needs is made all the same


def test_a_copy_beside_that_cannot_be_written_is_no_error(
    bound: dict[str, WeightRef], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    copies = WorkingCopies(tmp_path / "file" / "weights")
    copies.make_beside("key", bound, DType.BF16)
    until(lambda: "the working copy key is not written" in caplog.text)


# --- failures ---


def test_a_full_disk_leaves_nothing_behind(
    copies: WorkingCopies, weights: dict[str, WeightSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EngineError) as caught:
        copies.make("key", weights, DType.F32, ignore)
    assert caught.value.code is ErrorCode.DISK_FULL
    assert "No space left on device" in caught.value.message
    assert str(copies.folder) in caught.value.message
    assert caught.value.hint
    assert files(copies) == set()


def test_a_disk_without_room_is_told_of_before_anything_is_converted(
    copies: WorkingCopies, weights: dict[str, WeightSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies that would not make enough room stay."""
    copies.make("first", weights, DType.F32, ignore)
    size = (copies.folder / "first.safetensors").stat().st_size
    usage = shutil.disk_usage
    whole = size

    def ask(path: Path) -> object:
        taken = sum(file.stat().st_size for file in copies.folder.iterdir())
        return usage(path)._replace(free=whole - taken)

    def fail(done: int, total: int) -> None:
        raise AssertionError("converted")

    monkeypatch.setattr(shutil, "disk_usage", ask)
    more = {f"{name}{again}": ref for name, ref in weights.items() for again in "12"}
    with pytest.raises(EngineError) as caught:
        copies.make("second", more, DType.F32, fail)
    assert caught.value.code is ErrorCode.DISK_FULL
    assert "room for 0.0 GB" in caught.value.message
    assert str(copies.folder) in caught.value.message
    assert FreeCache() in caught.value.remedies
    assert files(copies) == {"first.safetensors"}
    assert copies.room() == size
    whole = 5 * size // 2
    with pytest.raises(AssertionError, match="converted"):
        copies.make("second", more, DType.F32, fail)
    assert files(copies) == set()


@linux_only
def test_a_disk_that_fills_while_weights_are_repacked_leaves_nothing_behind(
    tmp_path: Path, copies: WorkingCopies
) -> None:
    """By a limit that the system sets, as a quota, in the middle of what is written."""
    stored = blocks(DType.Q4_0, (512, 4096))
    index = read_index(write_gguf(tmp_path / "w.gguf", {"w": stored}))
    weight = as_source(index.tensors["w"])
    assert isinstance(weight, FileWeight)
    packing = packing_of(weight, BlockForm())
    assert packing is not None
    packed = {field.value: PackedWeight(weight, packing, field) for field in Field}
    parts: list[int] = []

    def seen(done: int, total: int) -> None:
        parts.extend(path.stat().st_size for path in copies.folder.glob("*.part"))

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(EngineError) as caught:
            copies.make("key", packed, DType.F32, seen)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.code is ErrorCode.DISK_FULL
    # With more memory the copy is written all the same.
    assert caught.value.remedies == (FreeCache(),)
    assert files(copies) == set()
    made = copies.make("key", packed, DType.F32, seen)
    assert sum(part.nbytes for part in made.values()) > 100_000
    assert copies.find("key", packed) == made


def test_a_stopped_copy_leaves_nothing_behind(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    def stop(done: int, total: int) -> None:
        assert any(name.endswith(".part") for name in files(copies))
        raise Cancelled

    with pytest.raises(Cancelled):
        copies.make("key", weights, DType.F32, stop)
    assert files(copies) == set()


def test_a_failed_copy_leaves_the_one_before(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    def stop(done: int, total: int) -> None:
        raise Cancelled

    made = copies.make("key", weights, DType.F32, ignore)
    with pytest.raises(Cancelled):
        copies.make("key", weights, DType.F32, stop)
    assert copies.find("key", weights) == made


def test_a_folder_that_cannot_be(tmp_path: Path, weights: dict[str, WeightSource]) -> None:
    (tmp_path / "file").write_bytes(b"")
    copies = WorkingCopies(tmp_path / "file" / "weights")
    assert copies.find("key", weights) is None
    with pytest.raises(EngineError) as caught:
        copies.make("key", weights, DType.F32, ignore)
    assert caught.value.code is ErrorCode.CACHE_NOT_WRITABLE
    assert "space" not in caught.value.hint


# --- listing and clearing ---


def test_copies_are_listed_by_name(copies: WorkingCopies, weights: dict[str, WeightSource]) -> None:
    assert copies.listed() == ()
    for key in ("second", "first"):
        copies.make(key, weights, DType.F32, ignore)
    (copies.folder / "half-written.part").touch()
    first, second = copies.listed()
    assert (first.name, second.name) == ("first", "second")
    path = copies.folder / "first.safetensors"
    assert first.bytes == path.stat().st_size
    assert first.last_used == path.stat().st_mtime


def test_those_that_are_named_are_removed_and_without_a_name_all(
    copies: WorkingCopies, weights: dict[str, WeightSource], tmp_path: Path
) -> None:
    for key in ("first", "second", "third"):
        copies.make(key, weights, DType.F32, ignore)
    copies.remove(["second", "nothing", "../../half"])
    assert [copy.name for copy in copies.listed()] == ["first", "third"]
    copies.remove([])
    assert copies.listed() == ()
    assert (tmp_path / "half.safetensors").exists()


def test_copies_of_a_running_job_are_kept(
    copies: WorkingCopies, weights: dict[str, WeightSource]
) -> None:
    for key in ("found", "other"):
        copies.make(key, weights, DType.F32, ignore)
    with copies.holding():
        copies.find("found", weights)
        copies.make("made", weights, DType.F32, ignore)
        copies.remove([])
        copies.remove(["made"])
        assert {copy.name for copy in copies.listed()} == {"found", "made"}
    copies.remove([])
    assert copies.listed() == ()
