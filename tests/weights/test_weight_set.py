"""A set of weights has one digest: what changes a number changes it, what does not leaves it."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import DType, FileSlice
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.weights.patched import FullDifference, LowRankDifference
from engine.weights.sources import FileWeight, ScaledSlice
from engine.weights.weight_set import WeightSet
from tests.checkpoints.arrays import write_arrays

# As identification gives it for a large file, of which it reads samples: it misses what differs.
CONTENT = "sampled"
ARRAYS = {"a": np.arange(12.0).reshape(3, 4), "b": np.arange(12.0), "s": np.array(2.0)}
PATCH = {"up": np.ones((3, 2)), "down": np.ones((2, 4)), "full": np.ones(12)}


class Files:
    """A checkpoint and a file of differences, with one time of modification whatever happens."""

    def __init__(self, folder: Path) -> None:
        self.checkpoint, self.patch = folder / "w.safetensors", folder / "p.safetensors"
        self.slices = self.write(self.checkpoint, ARRAYS)
        self.patches = self.write(self.patch, PATCH)
        self.strength = 0.5

    def write(self, path: Path, arrays: dict[str, np.ndarray]) -> dict[str, FileSlice]:
        before = path.stat().st_ctime_ns if path.exists() else 0
        while True:  # until the clock of the file system has ticked
            slices = write_arrays(path, arrays)
            os.utime(path, ns=(10**18, 10**18))
            if path.stat().st_ctime_ns != before:
                return slices
            time.sleep(0.001)

    def plain(self) -> WeightSet:
        return WeightSet(CONTENT, {name: self.slices[name] for name in ("a", "b")})

    def scaled(self) -> WeightSet:
        return WeightSet(CONTENT, {"a": ScaledSlice(self.slices["a"], self.slices["s"])})

    def low_rank(self) -> WeightSet:
        up, down = (FileWeight(self.patches[name]) for name in ("up", "down"))
        difference = LowRankDifference(up, down, self.strength)
        return self.plain().patched("patch", {"a": [difference]})

    def full(self) -> WeightSet:
        difference = FullDifference(FileWeight(self.patches["full"]), self.strength)
        return self.plain().patched("patch", {"b": [difference]})


Kind = Callable[[Files], WeightSet]
KINDS: list[Kind] = [Files.plain, Files.scaled, Files.low_rank, Files.full]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_each_kind_of_set_has_its_own_digest(files: Files) -> None:
    assert len({kind(files).digest() for kind in KINDS}) == len(KINDS)


@every_kind
def test_the_digest_of_unchanged_files_stays(files: Files, kind: Kind) -> None:
    first = kind(files)
    assert first.digest() == first.digest() == kind(files).digest()


def test_the_order_of_the_weights_does_not_count(files: Files) -> None:
    first = files.plain()
    turned = WeightSet(CONTENT, {name: first[name] for name in ("b", "a")})
    assert turned.digest() == first.digest()


@every_kind
def test_one_number_of_the_checkpoint_counts_at_an_equal_size_and_time(
    files: Files, kind: Kind
) -> None:
    made = kind(files)
    before, facts = made.digest(), files.checkpoint.stat()
    changed = ARRAYS["a"].copy()
    changed[1, 1] += 1
    files.write(files.checkpoint, {**ARRAYS, "a": changed})
    after = files.checkpoint.stat()
    assert (facts.st_size, facts.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    assert made.digest() != before
    assert kind(files).digest() != before


@pytest.mark.parametrize("kind", [Files.low_rank, Files.full], ids=lambda kind: kind.__name__)
def test_one_number_of_a_difference_counts_and_leaves_the_base(files: Files, kind: Kind) -> None:
    made = kind(files)
    before, base = made.digest(), made.base.digest()
    changed = {name: array.copy() for name, array in PATCH.items()}
    for array in changed.values():
        array.flat[1] = 3
    files.write(files.patch, changed)
    assert made.digest() != before
    assert made.base.digest() == base


@pytest.mark.parametrize("kind", [Files.low_rank, Files.full], ids=lambda kind: kind.__name__)
def test_a_strength_counts_and_leaves_the_base(files: Files, kind: Kind) -> None:
    digests: set[str] = set()
    bases: set[str] = set()
    for strength in (0.5, np.nextafter(0.5, 1), -0.5, 0.0):
        files.strength = float(strength)
        made = kind(files)
        digests.add(made.digest())
        bases.add(made.base.digest())
    assert len(digests) == 4
    assert bases == {files.plain().digest()}


def test_a_scale_counts_by_its_value(files: Files) -> None:
    """Also in a file whose sampled content, size and times cannot tell: it is read."""
    first = files.scaled().digest()
    with files.checkpoint.open("r+b") as file:
        file.seek(files.slices["s"].offset)
        file.write(np.float32(3).tobytes())
    os.utime(files.checkpoint, ns=(10**18, 10**18))
    assert files.scaled().digest() != first
    described = files.scaled()["a"].describe(lambda part: [part.offset])
    assert described[-1] == np.float32(3).tobytes().hex()


def test_place_type_and_shape_of_a_slice_count(files: Files) -> None:
    a, b = files.slices["a"], files.slices["b"]
    changed = (
        msgspec.structs.replace(a, offset=a.offset + 4),
        msgspec.structs.replace(a, dtype=DType.I32),
        a.reshaped((4, 3)),
    )
    digests = {WeightSet(CONTENT, {"a": part, "b": b}).digest() for part in (a, *changed)}
    assert len(digests) == 4


def test_weights_that_change_places_count(files: Files) -> None:
    a, b = files.slices["a"], files.slices["b"].reshaped((3, 4))
    digests = {WeightSet(CONTENT, {"a": x, "b": y}).digest() for x, y in ((a, b), (b, a))}
    assert len(digests) == 2


def test_other_content_counts(files: Files) -> None:
    made = files.plain()
    assert WeightSet("other", made).digest() != made.digest()
    assert made.patched("one", {}).digest() != made.patched("two", {}).digest()


def test_a_difference_that_fits_no_weight_is_refused(files: Files) -> None:
    difference = FullDifference(FileWeight(files.patches["down"]), 1.0)
    for name in ("a", "missing"):
        with pytest.raises(ValueError, match=name):
            files.plain().patched("patch", {name: [difference]})


def test_a_patched_set_keeps_the_weights_that_no_difference_is_for(files: Files) -> None:
    plain = files.plain()
    made = plain.patched("patch", {"a": [FullDifference(FileWeight(files.patches["full"]), 1)]})
    again = made.patched("more", {"a": [FullDifference(FileWeight(files.patches["full"]), 1)]})
    assert made["b"] is plain["b"]
    assert plain.base is plain
    assert made.base is again.base is plain
    assert again["a"].base is plain["a"]
    np.testing.assert_array_equal(again["a"].read(), ARRAYS["a"] + 2)
    assert made.elements == plain.elements == 24


def test_a_file_that_is_gone_is_named(files: Files) -> None:
    made = files.plain()
    files.checkpoint.unlink()
    with pytest.raises(EngineError, match=re.escape(files.checkpoint.name)) as caught:
        made.digest()
    assert caught.value.code is ErrorCode.CHECKPOINT_NOT_FOUND


def test_a_kernel_with_its_channels_last_is_another_weight(files: Files) -> None:
    plain = msgspec.structs.replace(files.slices["b"], shape=(3, 2, 2, 1))
    digests = {
        WeightSet(CONTENT, {"b": kernel}).digest()
        for kernel in (plain, msgspec.structs.replace(plain, channels_last=True))
    }
    assert len(digests) == 2
