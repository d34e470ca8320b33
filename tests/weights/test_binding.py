"""In which type weights are bound, and that conversion rounds as it should."""

from collections.abc import Sequence
from pathlib import Path
from time import sleep

import ml_dtypes
import numpy as np
import pytest

from backends.base import Array, ComputedArray, DType, FileSlice, OperatorSet, Precision
from engine.errors import Cancelled
from engine.weights.binding import bind, element_type
from engine.weights.derived import DerivedWeight
from engine.weights.sources import FileWeight, WeightSource, stored_type
from tests.weights.files import write_sources

F32, F16, BF16 = DType.F32, DType.F16, DType.BF16
F64, F8 = DType.F64, DType.F8_E4M3
ONLY_F32, WITH_BF16, ALL = (F32,), (F32, BF16), (F32, F16, BF16)


def refs(*parts: tuple[DType, int]) -> list[WeightSource]:
    return [FileWeight(FileSlice(Path("nowhere"), 0, dtype, (count,))) for dtype, count in parts]


@pytest.mark.parametrize(
    ("stored", "elements", "precision", "expected"),
    [
        # ONNX Runtime on the processor takes float32 only.
        (F32, ONLY_F32, Precision.F32, F32),
        (F16, ONLY_F32, Precision.F32, F32),
        (BF16, ONLY_F32, Precision.F32, F32),
        # OpenVINO takes bfloat16 too; a float32 file stays as it is even if computed lower.
        (F32, WITH_BF16, Precision.F32, F32),
        (F16, WITH_BF16, Precision.F32, F32),
        (BF16, WITH_BF16, Precision.F32, F32),
        (F32, WITH_BF16, Precision.BF16, F32),
        (F16, WITH_BF16, Precision.BF16, BF16),
        (BF16, WITH_BF16, Precision.BF16, BF16),
        # A device for all three.
        (F32, ALL, Precision.F32, F32),
        (F16, ALL, Precision.F32, F32),
        (BF16, ALL, Precision.F32, F32),
        (F32, ALL, Precision.F16, F32),
        (F16, ALL, Precision.F16, F16),
        (F16, ALL, Precision.BF16, F16),
        (BF16, ALL, Precision.BF16, BF16),
        # What no compiler takes: the precision's own, which holds every number of fp8.
        (F8, ONLY_F32, Precision.F32, F32),
        (F8, WITH_BF16, Precision.F32, F32),
        (F8, WITH_BF16, Precision.BF16, BF16),
        (F8, ALL, Precision.F16, F16),
        (F8, ALL, Precision.BF16, BF16),
        (F64, ALL, Precision.F32, F32),
        (F64, ALL, Precision.F16, F16),
    ],
)
def test_the_element_type_follows_file_device_and_precision(
    stored: DType, elements: tuple[DType, ...], precision: Precision, expected: DType
) -> None:
    operators = OperatorSet(opset=20, elements=elements)
    assert element_type(stored_type(refs((stored, 10))), operators, precision) is expected


def test_the_element_type_of_a_mixed_file_is_that_of_most_bytes() -> None:
    operators = OperatorSet(opset=20, elements=ALL)
    mostly_half = refs((F16, 1000), (F32, 10), (F32, 10))
    assert element_type(stored_type(mostly_half), operators, Precision.F16) is F16
    assert element_type(stored_type(refs((F16, 10), (F32, 1000))), operators, Precision.F16) is F32
    # As scaled fp8 is shared: linear layers in fp8, convolutions in half, norms in float32.
    fp8 = refs((F8, 1000), (F16, 300), (F32, 10))
    for precision in Precision:
        assert element_type(stored_type(fp8), operators, precision) is precision.dtype
    assert element_type(stored_type([]), operators, Precision.F16) is F32


@pytest.mark.parametrize("stored", ALL)
@pytest.mark.parametrize("precision", Precision)
def test_a_strongly_typed_compiler_wants_the_type_it_is_to_compute_in(
    stored: DType, precision: Precision
) -> None:
    operators = OperatorSet(opset=23, elements=ALL, strongly_typed=True)
    assert element_type(stored_type(refs((stored, 10))), operators, precision) is precision.dtype


def odd_numbers(count: int = 4096) -> Array:
    """Normals of all sizes, ties of bfloat16, subnormals, and the ends of the range."""
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**32, count, dtype=np.uint32)
    numbers = bits.view(np.float32)
    ties = (random.integers(0x3000, 0x4800, count, dtype=np.uint32) << 16 | 0x8000).view(np.float32)
    ends = np.array([0, -0.0, 1e-45, 3.4028235e38, -3.39e38, 65504, 65520, 6e-8], np.float32)
    return np.concatenate([numbers[np.isfinite(numbers)], ties, ends])


def rounded_to_bfloat16(numbers: Array) -> Array:
    """To nearest, ties to even, on the bits: what the hardware does."""
    bits = numbers.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def test_float32_is_rounded_to_the_nearest_bfloat16(tmp_path: Path) -> None:
    numbers = odd_numbers()
    bound = bind(write_sources(tmp_path / "w.safetensors", {"w": numbers}), BF16)
    converted = bound["w"]
    assert isinstance(converted, ComputedArray)
    assert (converted.dtype, converted.array.dtype) == (BF16, ml_dtypes.bfloat16)
    np.testing.assert_array_equal(converted.array.view(np.uint16), rounded_to_bfloat16(numbers))


def test_half_becomes_float32_exactly(tmp_path: Path) -> None:
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    every = every[np.isfinite(every)]
    for dtype in (F16, BF16):
        given = every if dtype is F16 else every.astype(ml_dtypes.bfloat16)
        slices = write_sources(tmp_path / "w.safetensors", {"w": given}, dtype, odd=True)
        converted = bind(slices, F32)["w"]
        assert isinstance(converted, ComputedArray)
        np.testing.assert_array_equal(converted.array, given.astype(np.float32))


def test_a_weight_stored_in_the_type_is_bound_by_reference(tmp_path: Path) -> None:
    half = np.arange(6, dtype=np.float16).reshape(2, 3)
    slices = write_sources(tmp_path / "a.safetensors", {"half": half}, F16)
    slices |= write_sources(tmp_path / "b.safetensors", {"full": half}, F32)
    bound = bind(slices, F32)
    assert bound["full"] is slices["full"].slice_as(F32)
    assert isinstance(bound["half"], ComputedArray)
    assert bound["half"].array.shape == (2, 3)
    assert bound.keys() == slices.keys()


def test_mapping_reads_the_slice_it_is_told(tmp_path: Path) -> None:
    arrays = {"a": np.arange(5.0), "b": np.arange(12.0).reshape(3, 4), "c": np.array(7.0)}
    slices = write_sources(tmp_path / "w.safetensors", arrays, odd=True)
    for name, array in arrays.items():
        np.testing.assert_array_equal(slices[name].read(), array)
        assert slices[name].read().dtype == np.float32


def test_progress_rises_to_the_total_of_what_is_converted(tmp_path: Path) -> None:
    arrays = {f"w{i}": np.ones((i + 1, 3), np.float16) for i in range(10)}
    slices = write_sources(tmp_path / "a.safetensors", arrays, F16)
    slices |= write_sources(tmp_path / "b.safetensors", {"kept": np.ones(9)}, F32)
    seen: list[tuple[int, int]] = []
    bind(slices, F32, lambda done, total: seen.append((done, total)))
    total = sum(4 * array.size for array in arrays.values())
    assert [entry[1] for entry in seen] == [total] * 10
    done = [entry[0] for entry in seen]
    assert done == sorted(set(done))
    assert done[-1] == total


@pytest.mark.parametrize("element", [F32, BF16])
def test_derived_weights_are_computed_beside_those_bound_by_reference(
    tmp_path: Path, element: DType
) -> None:
    def doubled_sum(weights: Sequence[Array], out: Array) -> None:
        first, second = (weight.astype(np.float32) for weight in weights)
        out[...] = 2 * (first + second).T

    arrays = {"w": np.arange(6.0).reshape(2, 3), "v": np.ones((2, 3)), "kept": np.ones(4)}
    slices = write_sources(tmp_path / "w.safetensors", arrays, element)
    derived = DerivedWeight((slices["w"], slices["v"]), (3, 2), doubled_sum, "doubled sum")
    bound = bind({"w:derived": derived, "kept": slices["kept"]}, element)
    assert bound["kept"] is slices["kept"].slice_as(element)
    computed = bound["w:derived"]
    assert isinstance(computed, ComputedArray)
    assert computed.dtype is element
    np.testing.assert_array_equal(
        computed.array.astype(np.float32), 2 * (arrays["w"] + arrays["v"]).T
    )


def test_nothing_is_reported_where_nothing_is_converted(tmp_path: Path) -> None:
    def unexpected(done: int, total: int) -> None:
        raise AssertionError

    slices = write_sources(tmp_path / "w.safetensors", {"w": np.ones(3)})
    assert bind(slices, F32, unexpected) == {"w": slices["w"].parts()[0]}


def test_stopping_ends_the_conversion_of_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = {f"w{i}": np.ones(3, np.float16) for i in range(400)}
    slices = write_sources(tmp_path / "w.safetensors", arrays, F16)
    converted: list[DType] = []
    read_as = FileWeight.read_as

    def slowly(weight: FileWeight, element: DType) -> Array:
        converted.append(element)
        sleep(0.002)
        return read_as(weight, element)

    def stop(done: int, total: int) -> None:
        raise Cancelled

    monkeypatch.setattr(FileWeight, "read_as", slowly)
    with pytest.raises(Cancelled):
        bind(slices, F32, stop)
    assert len(converted) < 200


def test_a_weight_that_cannot_be_read_ends_it(tmp_path: Path) -> None:
    slices = write_sources(tmp_path / "w.safetensors", {"w": np.ones(3, np.float16)}, F16)
    (tmp_path / "w.safetensors").unlink()
    with pytest.raises(FileNotFoundError):
        bind(slices, F32)
