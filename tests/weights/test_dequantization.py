"""Weights in ggml's blocks: their numbers, parts of them, and what depends on them."""

from pathlib import Path

import numpy as np
import pytest

from backends.base import ComputedArray, DType, OperatorSet, Precision
from engine.checkpoints.files import read_index
from engine.weights.binding import bind, element_type
from engine.weights.dequantization import PIECE, dequantized
from engine.weights.nan_check import not_a_number
from engine.weights.sources import FileWeight, stored_type
from engine.weights.weight_set import WeightSet
from tests.checkpoints.gguf_files import QUANTIZED, Stored, blocks, write_gguf

FROZEN = Path(__file__).parent / "frozen" / "dequantized.npz"
types = pytest.mark.parametrize("dtype", QUANTIZED)


def written(folder: Path, stored: Stored) -> FileWeight:
    return FileWeight(read_index(write_gguf(folder / "w.gguf", {"w": stored})).tensors["w"])


@types
def test_blocks_have_the_numbers_of_the_reference(dtype: DType) -> None:
    frozen = np.load(FROZEN)
    found = dequantized(frozen[f"{dtype.value}_raw"], dtype)
    assert (found.view(np.uint32) == frozen[dtype.value].reshape(-1).view(np.uint32)).all()


@types
def test_a_weight_is_read_in_pieces_and_rounded_once(dtype: DType, tmp_path: Path) -> None:
    rows = 3 * PIECE // 512 + 1
    stored = blocks(dtype, (rows, 512))
    weight = written(tmp_path, stored)
    whole = dequantized(np.frombuffer(stored.raw, np.uint8), dtype).reshape(rows, 512)
    assert (weight.read() == whole).all()
    for element in (DType.F32, DType.F16, DType.BF16):
        found = weight.read_as(element)
        assert found.dtype == element.numpy
        assert (found == whole.astype(element.numpy)).all()


@types
def test_rows_and_other_shapes_are_parts_of_the_whole(dtype: DType, tmp_path: Path) -> None:
    weight = written(tmp_path, blocks(dtype, (6, 512)))
    whole = weight.read()
    assert (weight.rows(2, 5).read() == whole[2:5]).all()
    assert (weight.rows(2, 5).rows(1, 2).read() == whole[3:4]).all()
    assert (weight.reshaped((6, 2, 256)).read() == whole.reshape(6, 2, 256)).all()
    with pytest.raises(ValueError, match="cut blocks"):
        weight.reshaped((6 * 512,)).rows(1, 2)


def test_a_set_of_weights_knows_types_and_places(tmp_path: Path) -> None:
    digests: set[str] = set()
    for dtype in (DType.Q4_0, DType.Q8_0):
        weight = written(tmp_path, blocks(dtype, (2, 64)))
        digests.add(WeightSet("content", {"w": weight.slice}).digest())
        digests.add(WeightSet("content", {"w": weight.rows(0, 1)}).digest())
    assert len(digests) == 4


def test_blocks_are_bound_in_the_types_of_the_precision(tmp_path: Path) -> None:
    weight = written(tmp_path, blocks(DType.Q4_K, (2, 256)))
    operators = OperatorSet(opset=20, elements=(DType.F32, DType.F16, DType.BF16))
    assert element_type(stored_type([weight]), operators, Precision.BF16) is DType.BF16
    assert element_type(stored_type([weight]), operators, Precision.F32) is DType.F32
    assert weight.slice_as(DType.F32) is None
    bound = bind({"w": weight}, DType.BF16)["w"]
    assert isinstance(bound, ComputedArray)
    assert (bound.array == weight.read_as(DType.BF16)).all()


@types
def test_scales_that_are_no_numbers_are_found(dtype: DType, tmp_path: Path) -> None:
    stored = blocks(dtype, (2, 256))
    assert not_a_number({"w": written(tmp_path, stored)}) is None
    broken = blocks(dtype, (2, 256), scale=float("nan"))
    assert not_a_number({"w": written(tmp_path, broken)}) == "w"
