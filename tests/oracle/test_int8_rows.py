"""int8 weights as comfy-kitchen makes them, ComfyUI's own package for quantised tensors."""
# pyright: basic, reportMissingImports=false

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
kitchen = pytest.importorskip("comfy_kitchen.tensor.int8")

from backends.base import Array, DType  # noqa: E402
from engine.weights.int8_rows import Int8Rows  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402

pytestmark = pytest.mark.oracle


def made(folder: Path, numbers: Array, **wishes: object) -> tuple[Int8Rows, Array]:
    """Their integers and scales, read by us, and the numbers that they make of them."""
    layout = kitchen.TensorWiseINT8Layout
    integers, told = layout.quantize(torch.from_numpy(numbers), **wishes)
    stored = {"w": integers.numpy(), "s": told.scale.numpy()}
    found = write_arrays(folder / "a.safetensors", stored, {"w": DType.I8, "s": DType.F32})
    rotation = told.convrot_groupsize if told.convrot else 0
    return Int8Rows(found["w"], found["s"], rotation), layout.dequantize(integers, told).numpy()


@pytest.mark.parametrize("wishes", [{}, {"per_channel": True}], ids=["whole", "rows"])
def test_numbers_are_theirs_bit_for_bit(wishes: dict[str, object], tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).standard_normal((320, 2048), np.float32)
    found, expected = made(tmp_path, numbers, **wishes)
    np.testing.assert_array_equal(found.read_as(DType.F32), expected)
    np.testing.assert_array_equal(found.rows(7, 90).read_as(DType.F32), expected[7:90])


@pytest.mark.parametrize("group", [4, 64, 256, 1024])
def test_numbers_that_were_rotated_are_theirs(group: int, tmp_path: Path) -> None:
    """To float32's rounding: products are summed in the order of the library of each."""
    numbers = np.random.default_rng(1).standard_normal((320, 2048), np.float32)
    wishes = {"per_channel": True, "convrot": True, "convrot_groupsize": group}
    found, expected = made(tmp_path, numbers, **wishes)
    np.testing.assert_allclose(found.read_as(DType.F32), expected, rtol=0, atol=5e-6)
    assert np.abs(expected - numbers).max() < 0.1
