"""Weights of 16 or 32 bits, and fp8, rounded to blocks of 8 or 4 bits where that is asked for."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Array, DType, FileSlice, Precision
from backends.cpu import CpuBackend
from backends.forms import BlockForm
from engine.cancel import CancelToken
from engine.graphs.operators import GraphBuilder
from engine.weights.binding import bind
from engine.weights.packing import Field, PackedWeight, bound_bytes, packing_of
from engine.weights.patched import FullDifference, PatchedWeight
from engine.weights.rounding import EXACT, Role, Rounding
from engine.weights.sources import FileWeight, ScaledSlice
from engine.weights.working_copies import WorkingCopies

# Of numbers drawn from a normal distribution, relative to their size.
LIMITS = {BlockForm(bits=8): 0.007, BlockForm(bits=4): 0.12}
forms = pytest.mark.parametrize("form", LIMITS, ids=lambda form: f"{form.bits} bits")
PLAIN = (DType.F32, DType.F16, DType.BF16, DType.F8_E4M3)


def stored(path: Path, dtype: DType, shape: tuple[int, ...] = (40, 96)) -> FileWeight:
    numbers = np.random.default_rng(0).standard_normal(shape).astype(dtype.numpy)
    path.write_bytes(numbers.tobytes())
    return FileWeight(FileSlice(path, 0, dtype, shape))


def numbers_of(
    weight: FileWeight | ScaledSlice, form: BlockForm, element: DType = DType.F32
) -> Array:
    """The numbers that integers and scales stand for, by the operator's definition."""
    packing = packing_of(weight, form)
    assert packing is not None
    assert not packing.has_zeros
    fields = [
        PackedWeight(weight, packing, field, element).read()
        for field in (Field.INTEGERS, Field.SCALES)
    ]
    integers, scales = fields[0], fields[1].astype(np.float32)
    if packing.bits == 4:
        halves = (integers & np.uint8(15), integers >> np.uint8(4))
        integers = np.stack(halves, axis=-1).reshape(*integers.shape[:2], -1)
    whole = integers.astype(np.float32) - np.float32(packing.middle)
    return (scales[..., None] * whole).reshape(weight.shape)


def error(found: Array, expected: Array) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


@forms
@pytest.mark.parametrize("dtype", PLAIN)
@pytest.mark.parametrize("element", [DType.F32, DType.F16, DType.BF16])
def test_numbers_are_rounded_to_half_a_step(
    form: BlockForm, dtype: DType, element: DType, tmp_path: Path
) -> None:
    weight = stored(tmp_path / "weight", dtype)
    numbers, found = weight.read_as(DType.F32), numbers_of(weight, form, element)
    packing = packing_of(weight, form)
    assert packing is not None
    runs = numbers.reshape(-1, 32)
    steps = np.abs(runs).max(axis=1, keepdims=True) / (packing.middle - 1)
    # A scale of 8 bits of mantissa moves the largest numbers by up to 2^-9 of their size.
    slack = {DType.F32: 1e-6, DType.F16: 1e-3, DType.BF16: 4e-3}[element] * np.abs(runs)
    assert (np.abs(found.reshape(runs.shape) - runs) <= steps * 0.505 + slack).all()
    assert 0 < error(found, numbers) < LIMITS[form]


@forms
def test_small_numbers_keep_their_precision_with_scales_of_16_bits(
    form: BlockForm, tmp_path: Path
) -> None:
    """A step that float16 holds roughly is the step that numbers are rounded to."""
    numbers = np.random.default_rng(0).standard_normal((8, 64)).astype(np.float32) * np.float32(
        1e-4
    )
    path = tmp_path / "small"
    path.write_bytes(numbers.tobytes())
    weight = FileWeight(FileSlice(path, 0, DType.F32, numbers.shape))
    assert error(numbers_of(weight, form, DType.F16), numbers) < 1.5 * LIMITS[form]


@forms
def test_rows_are_rounded_in_pieces_as_the_whole(
    form: BlockForm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weight = stored(tmp_path / "weight", DType.F16)
    whole = numbers_of(weight, form)
    monkeypatch.setattr("engine.weights.packing._ROUNDED_AT_ONCE", 7 * 96)
    assert (numbers_of(weight, form) == whole).all()
    assert (numbers_of(weight.rows(3, 20), form) == whole[3:20]).all()


@forms
def test_fp8_with_a_scale_is_rounded_as_its_products(form: BlockForm, tmp_path: Path) -> None:
    weight = stored(tmp_path / "weight", DType.F8_E4M3)
    (tmp_path / "scale").write_bytes(np.float32(0.25).tobytes())
    scale = FileSlice(tmp_path / "scale", 0, DType.F32, ())
    scaled = ScaledSlice(weight.slice, scale)
    expected = np.float32(0.25) * numbers_of(weight, form)
    np.testing.assert_allclose(numbers_of(scaled, form), expected, rtol=1e-5)


@forms
def test_zeros_stay_zeros(form: BlockForm, tmp_path: Path) -> None:
    path = tmp_path / "zeros"
    path.write_bytes(bytes(2 * 64 * 2))
    weight = FileWeight(FileSlice(path, 0, DType.F16, (2, 64)))
    assert not numbers_of(weight, form).any()


@forms
@pytest.mark.parametrize("dtype", PLAIN)
def test_a_linear_layer_computes_with_rounded_numbers(
    form: BlockForm, dtype: DType, tmp_path: Path
) -> None:
    weight, backend = stored(tmp_path / "weight", dtype), CpuBackend()
    device = backend.probe()[0]
    operators = msgspec.structs.replace(backend.operators(device), blocks=form)
    g = GraphBuilder("test", {"a.weight": weight}, operators, DType.F32, Precision.F32)
    x = g.input("x", DType.F32, ("rows", 96))
    g.output(g.linear(x, "a", (96, 40), bias=False), "y", DType.F32, ("rows", 40))
    copies = WorkingCopies(tmp_path / "copies")
    copied = copies.make("key", g.used, DType.F32, lambda _done, _total: None)
    assert sum(ref.nbytes for ref in copied.values()) == bound_bytes(weight, DType.F32, form)
    numbers = np.random.default_rng(1).standard_normal((5, 96)).astype(np.float32)
    for refs in (copied, bind(g.used, DType.F32)):
        session = backend.load(g.build(refs), None, device, lambda _done: None, CancelToken())
        found = session.run({"x": numbers})["y"]
        session.close()
        assert error(found, numbers @ numbers_of(weight, form).T) < 1e-5
        assert error(found, numbers @ weight.read_as(DType.F32).T) < LIMITS[form]


@forms
def test_other_weights_are_not_rounded(form: BlockForm, tmp_path: Path) -> None:
    weight = stored(tmp_path / "weight", DType.F16)
    assert packing_of(weight, BlockForm()) is None
    assert packing_of(weight.reshaped((40, 3, 32)), form) is None
    assert packing_of(weight.reshaped((80, 48)), form) is None
    assert packing_of(PatchedWeight(weight, (FullDifference(weight, 0.5),)), form) is None


def test_each_part_of_a_model_keeps_the_bits_that_were_asked_for() -> None:
    rounding = Rounding(text_encoder=8, denoiser=4)
    found = {role: rounding.bits_of(role) for role in Role}
    assert found == {Role.TEXT_ENCODER: 8, Role.DENOISER: 4, Role.OTHER: 16}
    assert {EXACT.bits_of(role) for role in Role} == {16}
