"""An artifact is found again when nothing changed, and not when anything did that it is made of."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Device, DimensionRange, OperatorSet, Precision, ShapeSupport
from backends.null import Compiling, NullBackend
from engine.compile import key
from engine.weights.weight_set import WeightSet
from tests.compile.compiling import Bench, network, write_weights


class OtherOperators(NullBackend):
    def operators(self, device: Device) -> OperatorSet:
        return OperatorSet(opset=21)


class OtherName(NullBackend):
    def probe(self) -> list[Device]:
        return [
            msgspec.structs.replace(device, name="another device") for device in super().probe()
        ]


class OtherId(NullBackend):
    def probe(self) -> list[Device]:
        return [msgspec.structs.replace(device, id="null:1") for device in super().probe()]


class OtherBackend(NullBackend):
    def probe(self) -> list[Device]:
        return [msgspec.structs.replace(device, backend="null2") for device in super().probe()]


@dataclass
class Change:
    """A change of one thing that a key depends on."""

    bench: Bench
    patch: pytest.MonkeyPatch
    skip: int = 1
    precision: Precision = Precision.F32

    def numbers(self) -> np.ndarray:
        made = network(self.bench.weights, skip=self.skip)
        return self.bench.numbers(made, precision=self.precision)

    def driver(self) -> None:
        self.bench.change(runtime="null 1, driver 2")

    def device_name(self) -> None:
        self.bench.backend = OtherName

    def device_id(self) -> None:
        self.bench.backend = OtherId

    def backend(self) -> None:
        self.bench.backend = OtherBackend

    def operators(self) -> None:
        self.bench.backend = OtherOperators

    def graph(self) -> None:
        self.skip = 2

    def precision_of_the_computation(self) -> None:
        self.precision = Precision.F16

    def kind_of_shapes(self) -> None:
        self.bench.change(shapes=ShapeSupport.RANGES)

    def code_of_the_backends(self) -> None:
        self.patch.setattr(key, "_own_code", lambda: "newer")

    def form_of_the_cache(self) -> None:
        self.patch.setattr(key, "FORMAT", key.FORMAT + 1)

    def carrying(self) -> None:
        self.bench.change(carries_weights=True)

    def refitting(self) -> None:
        self.bench.change(refits=True)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize("carries_weights", [False, True])
@pytest.mark.parametrize("shapes", ShapeSupport)
def test_an_unchanged_network_is_compiled_once(
    bench: Bench, shapes: ShapeSupport, carries_weights: bool
) -> None:
    bench.change(shapes=shapes, carries_weights=carries_weights)
    first, second = bench.numbers(), bench.numbers()
    assert bench.compiles == 1
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "change",
    [
        Change.driver,
        Change.device_name,
        Change.device_id,
        Change.backend,
        Change.operators,
        Change.graph,
        Change.precision_of_the_computation,
        Change.kind_of_shapes,
        Change.code_of_the_backends,
        Change.form_of_the_cache,
        Change.carrying,
        Change.refitting,
    ],
    ids=lambda change: change.__name__,
)
def test_each_part_counts(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, change: Callable[[Change], None]
) -> None:
    state = Change(bench, monkeypatch)
    state.numbers()
    change(state)
    made = network(bench.weights, skip=state.skip)
    assert not bench.compiler().prepared(made, state.precision).is_prepared()
    state.numbers()
    state.numbers()
    assert bench.compiles == 2
    assert len(bench.artifacts()) == 2


def test_one_for_ranges_is_not_taken_for_one_size(bench: Bench) -> None:
    """Though that size is within them: other options made it."""
    bench.change(shapes=ShapeSupport.RANGES)
    bench.numbers()
    bench.change(shapes=ShapeSupport.STATIC)
    bench.numbers()
    assert bench.compiles == 2


def test_other_weights_count_only_where_they_are_carried(bench: Bench) -> None:
    other = network(write_weights(bench.folder / "other.safetensors", seed=1))
    bench.numbers()
    bench.numbers(other)
    assert bench.compiles == 1

    bench.change(carries_weights=True)
    mine, others = bench.numbers(), bench.numbers(other)
    assert bench.compiles == 3
    assert not np.array_equal(mine, others)  # as wrong weights would give wrong pictures
    np.testing.assert_array_equal(bench.numbers(), mine)
    assert bench.compiles == 3


def test_a_byte_that_was_changed_in_a_carried_weight_counts(bench: Bench) -> None:
    """Also where the digest of the file's content misses it, which samples large files."""
    bench.change(carries_weights=True)
    before = network(bench.weights)
    bench.numbers(before)
    content = bytearray(bench.weights.read_bytes())
    content[-1] ^= 1
    facts = bench.weights.stat()
    bench.weights.write_bytes(content)
    later = facts.st_mtime_ns + 1_000_000
    os.utime(bench.weights, ns=(later, later))
    bench.numbers(before)  # its digest is the old one
    assert bench.compiles == 2


def test_carried_weights_that_lie_elsewhere_in_the_file_count(bench: Bench) -> None:
    bench.change(carries_weights=True)
    bench.numbers()
    made = network(bench.weights)
    names = sorted(made.weights)
    first, second, *_ = (name for name in names if name.endswith("layer_norm1.bias"))
    swapped = dict(made.weights)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    bench.numbers(msgspec.structs.replace(made, weights=WeightSet(made.weights.content, swapped)))
    assert bench.compiles == 2


@pytest.mark.parametrize(
    ("shapes", "compiles"),
    [(ShapeSupport.DYNAMIC, 1), (ShapeSupport.RANGES, 2), (ShapeSupport.STATIC, 3)],
)
def test_sizes_count_as_far_as_the_runtime_says(
    bench: Bench, shapes: ShapeSupport, compiles: int
) -> None:
    bench.change(shapes=shapes)
    for present, most in ((2, 8), (3, 8), (2, 8), (9, 16)):
        made = network(bench.weights, rows=DimensionRange(1, present, most))
        assert bench.numbers(made, rows=present).shape[0] == present
    # Nine rows are within no range that was compiled for eight.
    assert bench.compiles == compiles


def test_the_code_of_weights_is_that_of_conversions_and_of_loras(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def with_newer(room: str) -> str:
        def digest(folder: Path) -> str:
            return folder.name.replace(room, "newer")

        monkeypatch.setattr(key, "code_digest", digest)
        return key.code_of_weights.__wrapped__()

    now, graphs, weights, lora = map(with_newer, ("no room", "graphs", "weights", "lora"))
    assert now == graphs
    assert len({now, weights, lora}) == 3


def test_the_digest_of_code_is_of_every_file_and_its_name(tmp_path: Path) -> None:
    (tmp_path / "runtime").mkdir()
    file = tmp_path / "runtime" / "options.py"
    file.write_text("LEVEL = 1\n")
    digests = [key.code_digest(tmp_path)]
    file.write_text("LEVEL = 2\n")
    digests.append(key.code_digest(tmp_path))
    file.rename(file.with_name("renamed.py"))
    digests.append(key.code_digest(tmp_path))
    (tmp_path / "empty.py").touch()
    digests.append(key.code_digest(tmp_path))
    assert len(set(digests)) == 4
    assert key.code_digest(tmp_path) == digests[-1]


def test_the_null_backends_artifact_shows_what_it_was_made_of(bench: Bench) -> None:
    """Else the tests above could not see a wrong artifact."""
    numbers = [bench.numbers()]
    for how in (Compiling(runtime="other"), Compiling(carries_weights=True)):
        bench.change(runtime=how.runtime, carries_weights=how.carries_weights)
        numbers.append(bench.numbers())
    assert not any(np.array_equal(numbers[0], other) for other in numbers[1:])
