"""Quantised weights as the inputs of MatMulNBits: the numbers they stand for, bound and copied."""

from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType, Precision
from backends.cpu import CpuBackend
from backends.forms import BlockForm
from engine.cancel import CancelToken
from engine.graphs.operators import GraphBuilder
from engine.weights.binding import bind
from engine.weights.dequantization import PIECE
from engine.weights.packing import (
    Field,
    PackedWeight,
    bound_bytes,
    have_joined,
    packing_of,
)
from engine.weights.patched import FullDifference, PatchedWeight
from engine.weights.sources import FileWeight
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.gguf_files import QUANTIZED, blocks, six_bits
from tests.weights.test_dequantization import written

FORM, JOINED = BlockForm(), BlockForm(joined=True)
types = pytest.mark.parametrize("dtype", QUANTIZED)
ROUNDED = {DType.Q5_1, DType.Q5_K}


def unpacked(weight: FileWeight, element: DType = DType.F32, form: BlockForm = FORM) -> Array:
    """The numbers that integers, scales and zeros stand for, by the operator's definition."""
    packing = packing_of(weight, form)
    assert packing is not None
    packed = {field: PackedWeight(weight, packing, field, element) for field in Field}
    fields = {field: packed_weight.read() for field, packed_weight in packed.items()}
    assert {fields[Field.SCALES].dtype, fields[Field.ZEROS].dtype} == {element.numpy}
    for field in (Field.SCALES, Field.ZEROS):
        fields[field] = fields[field].astype(np.float32)
    integers = fields[Field.INTEGERS]
    if packing.bits == 4:
        halves = (integers & np.uint8(15), integers >> np.uint8(4))
        integers = np.stack(halves, axis=-1).reshape(*integers.shape[:2], -1)
    own = fields[Field.ZEROS][..., None] if packing.has_zeros else np.float32(packing.middle)
    numbers = fields[Field.SCALES][..., None] * (integers.astype(np.float32) - own)
    return numbers.reshape(weight.shape)


@types
def test_packed_weights_stand_for_the_numbers_of_the_file(dtype: DType, tmp_path: Path) -> None:
    """Exact without offsets, within float32's rounding with them; 8 bits where rounded anew."""
    weight = written(tmp_path, blocks(dtype, (3 * PIECE // 512 + 1, 512)))
    numbers, packing = weight.read(), packing_of(weight, FORM)
    assert packing is not None
    found = unpacked(weight)
    if packing.rounds:
        assert dtype in ROUNDED
        error = np.linalg.norm(found - numbers) / np.linalg.norm(numbers)
        assert 0 < error < 0.005
    elif packing.has_zeros:
        np.testing.assert_allclose(found, numbers, rtol=1e-4, atol=1e-6)
    else:
        assert (found == numbers).all()


@types
def test_blocks_of_the_file_may_run_across_rows_but_the_operators_may_not(
    dtype: DType, tmp_path: Path
) -> None:
    whole = written(tmp_path, blocks(dtype, (5, 512)))
    weight = whole.reshaped((8, 320))
    packing = packing_of(whole, FORM)
    assert packing is not None
    assert packing_of(weight, FORM) == packing
    assert (unpacked(weight) == unpacked(whole).reshape(8, 320)).all()
    assert packing_of(whole.reshaped((320, 8)), FORM) is None


@types
@pytest.mark.parametrize(("element", "limit"), [(DType.F16, 2e-3), (DType.BF16, 8e-3)])
def test_scales_and_zeros_are_rounded_to_the_element(
    element: DType, limit: float, dtype: DType, tmp_path: Path
) -> None:
    weight = written(tmp_path, blocks(dtype, (24, 512)))
    numbers = weight.read()
    error = np.linalg.norm(unpacked(weight, element) - numbers) / np.linalg.norm(numbers)
    assert error < limit + (0.005 if dtype in ROUNDED else 0)


def test_a_zero_that_the_element_cannot_hold_makes_the_run_its_offset(tmp_path: Path) -> None:
    stored = blocks(DType.Q4_1, (1, 32))
    halves = np.array([6e-8, -0.5], np.float16).tobytes()
    weight = written(tmp_path, type(stored)(stored.dtype, (1, 32), halves + stored.raw[4:]))
    assert (unpacked(weight, DType.F16) == np.float32(-0.5)).all()


def test_a_run_with_the_scale_zero_is_its_offset(tmp_path: Path) -> None:
    stored = blocks(DType.Q4_1, (1, 32))
    halves = np.array([0, -0.5], np.float16).tobytes()
    weight = written(tmp_path, type(stored)(stored.dtype, (1, 32), halves + stored.raw[4:]))
    assert (unpacked(weight) == np.float32(-0.5)).all()


@types
def test_rows_of_packed_weights_are_those_of_the_whole(dtype: DType, tmp_path: Path) -> None:
    weight = written(tmp_path, blocks(dtype, (6, 512)))
    packing = packing_of(weight, FORM)
    assert packing is not None
    for field in Field if packing.has_zeros else (Field.INTEGERS, Field.SCALES):
        packed = PackedWeight(weight, packing, field)
        assert (packed.rows(2, 5).read() == packed.read()[2:5]).all()


@pytest.mark.parametrize(("element", "limit"), [(DType.F32, 3.5e-3), (DType.BF16, 4e-3)])
def test_joined_blocks_stand_for_the_numbers_rounded_anew(
    element: DType, limit: float, tmp_path: Path
) -> None:
    """To steps of a quarter of the larger scale: 0.4 % where Q6_K itself is 2 % from its model."""
    weight = written(tmp_path, blocks(DType.Q6_K, (3 * PIECE // 512 + 1, 512)))
    numbers, found = weight.read(), unpacked(weight, element, JOINED)
    error = np.linalg.norm(found - numbers) / np.linalg.norm(numbers)
    assert 1e-3 < error < limit
    packing = packing_of(weight, JOINED)
    assert packing is not None
    steps = PackedWeight(weight, packing, Field.SCALES, element).read().astype(np.float32)
    off = np.abs(found - numbers).reshape(*steps.shape, packing.block) / np.abs(steps)[..., None]
    # One integer, 128, is beyond 8 bits; a step in bfloat16 is up to a 256th too small.
    assert off.max() < (1.001 if element is DType.F32 else 1.51)
    assert (off > 0.501).mean() < 5e-3


def test_joining_takes_little_beside_what_six_bits_took(tmp_path: Path) -> None:
    """The numbers are drawn from a normal distribution, as trained weights nearly are."""
    drawn = np.random.default_rng(0).standard_normal((512, 1024), np.float32)
    weight = written(tmp_path, six_bits(drawn))
    six, found, size = weight.read(), unpacked(weight, form=JOINED), np.linalg.norm(drawn)
    assert 0.015 < np.linalg.norm(six - drawn) / size < 0.02
    joined = np.linalg.norm(found - six) / size
    assert 0.003 < joined < 0.004
    # With the largest number of a block as the 127th step.
    runs = six.reshape(-1, 32)
    steps = np.abs(runs).max(axis=1, keepdims=True) / 127
    assert joined < 0.75 * np.linalg.norm(np.rint(runs / steps) * steps - runs) / size
    # Together hardly more than six bits alone.
    assert np.linalg.norm(found - drawn) < 1.03 * np.linalg.norm(six - drawn)


def test_the_run_of_a_joined_block_with_the_larger_scale_keeps_its_numbers(tmp_path: Path) -> None:
    weight = written(tmp_path, blocks(DType.Q6_K, (64, 512)))
    numbers = weight.read().reshape(-1, 2, 16)
    found = unpacked(weight, form=JOINED).reshape(-1, 2, 16)
    packing = packing_of(weight, FORM)
    assert packing is not None
    scales = PackedWeight(weight, packing, Field.SCALES).read().reshape(-1, 2)
    larger = np.abs(scales).argmax(axis=1)[:, None, None]
    kept, exact = (np.take_along_axis(values, larger, axis=1) for values in (found, numbers))
    assert (kept == exact).all()
    assert (found != numbers).mean() > 0.3


def test_joined_blocks_of_zeros_stay_zeros(tmp_path: Path) -> None:
    stored = blocks(DType.Q6_K, (8, 256), scale=0.0)
    assert (unpacked(written(tmp_path, stored), form=JOINED) == 0).all()


@types
def test_blocks_of_q6_k_alone_are_joined(dtype: DType, tmp_path: Path) -> None:
    weight, six = written(tmp_path, blocks(dtype, (4, 512))), dtype is DType.Q6_K
    patched = PatchedWeight(weight, (FullDifference(weight, 0.5),))
    assert have_joined([weight]) is have_joined([patched]) is six
    for bits in (16, 8, 4):
        own, joined = BlockForm(bits), BlockForm(bits, joined=True)
        assert packing_of(weight, own) == packing_of(weight, FORM)
        assert packing_of(weight, joined) == packing_of(weight, JOINED)
        assert (packing_of(weight, own) == packing_of(weight, joined)) is not six
        sizes = [bound_bytes(weight, DType.F32, form) for form in (own, joined)]
        assert (sizes[0] > sizes[1]) is six


@types
def test_a_linear_layer_in_blocks_computes_as_with_numbers(dtype: DType, tmp_path: Path) -> None:
    weight = written(tmp_path, blocks(dtype, (48, 512)))
    backend = CpuBackend()
    device = backend.probe()[0]
    operators = backend.operators(device)
    g = GraphBuilder("test", {"a.weight": weight}, operators, DType.F32, Precision.F32)
    x = g.input("x", DType.F32, ("rows", 512))
    g.output(g.linear(x, "a", (512, 48), bias=False), "y", DType.F32, ("rows", 48))
    assert b"MatMulNBits" in g.build({}).model
    assert "a.weight" not in g.used
    copies = WorkingCopies(tmp_path / "copies")
    bound = copies.make("key", g.used, DType.F32, lambda _done, _total: None)
    assert {ref.dtype for ref in bound.values()} == {DType.U8, DType.F32}
    assert sum(ref.nbytes for ref in bound.values()) == bound_bytes(weight, DType.F32, FORM)
    numbers = np.random.default_rng(0).standard_normal((5, 512)).astype(np.float32)
    for refs in (bound, bind(g.used, DType.F32)):
        graph = g.build(refs)
        session = backend.load(graph, None, device, lambda _done: None, CancelToken())
        found = session.run({"x": numbers})["y"]
        session.close()
        expected = numbers @ weight.read().T
        error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
        assert error < (0.006 if dtype in ROUNDED else 1e-5)


def test_patched_weights_and_other_shapes_are_not_packed(tmp_path: Path) -> None:
    weight = written(tmp_path, blocks(DType.Q8_0, (8, 64)))
    patched = PatchedWeight(weight, (FullDifference(weight, 0.5),))
    assert packing_of(patched, FORM) is None
    assert packing_of(weight.reshaped((8, 2, 32)), FORM) is None
    assert packing_of(weight, None) is None
