"""Numbers of fp8 beside torch's casts, and whole fp8 files beside diffusers' loader."""
# pyright: basic, reportMissingImports=false
# torch and safetensors.torch are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest

from backends.base import DType
from engine.checkpoints.files import read_index
from engine.weights.sources import ScaledSlice, as_source

torch = pytest.importorskip("torch")
safetensors_torch = pytest.importorskip("safetensors.torch")
pytestmark = pytest.mark.oracle

FLOAT8 = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
ELEMENTS = {
    DType.F32: torch.float32,
    DType.F16: torch.float16,
    DType.BF16: torch.bfloat16,
}


def every(kind: str):
    """Every number of a kind of fp8: NaN, infinities where there are any, subnormals."""
    return torch.arange(256, dtype=torch.uint8).view(FLOAT8[kind])


def bits(array) -> np.ndarray:
    return array.view(f"u{array.itemsize}")


def torch_bits(tensor) -> np.ndarray:
    return bits(tensor.view(torch.int32 if tensor.itemsize == 4 else torch.int16).numpy())


def assert_same(ours: np.ndarray, theirs) -> None:
    """Bit for bit, but for which of the many NaNs a NaN is."""
    missing = np.isnan(ours.astype(np.float32))
    np.testing.assert_array_equal(missing, torch.isnan(theirs).numpy())
    np.testing.assert_array_equal(bits(ours)[~missing], torch_bits(theirs)[~missing])


@pytest.mark.parametrize("ending", ["safetensors", "ckpt"])
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("kind", FLOAT8)
def test_every_fp8_number_equals_torchs(
    tmp_path: Path, kind: str, element: DType, ending: str
) -> None:
    path = tmp_path / f"w.{ending}"
    save = safetensors_torch.save_file if ending == "safetensors" else torch.save
    save({"w": every(kind)}, path)
    weight = read_index(path).tensors["w"]
    assert_same(as_source(weight).read_as(element), every(kind).to(ELEMENTS[element]))


@pytest.mark.parametrize("kind", FLOAT8)
def test_every_scaled_fp8_number_equals_torchs(tmp_path: Path, kind: str) -> None:
    scale = torch.tensor([0.0123])
    safetensors_torch.save_file({"w": every(kind), "s": scale}, tmp_path / "w.safetensors")
    tensors = read_index(tmp_path / "w.safetensors").tensors
    weight = ScaledSlice(tensors["w"], tensors["s"])
    product = every(kind).to(torch.float32) * scale
    assert_same(weight.read(), product)
    for element, dtype in ELEMENTS.items():
        assert_same(weight.read_as(element), product.to(dtype))


def test_other_element_types_equal_those_torch_writes(tmp_path: Path) -> None:
    """Down to those of tensors that no network reads, such as positions."""
    tensors = {
        "f64": torch.linspace(-1, 1, 7, dtype=torch.float64),
        "i64": torch.arange(77).reshape(1, 77),
        "i32": torch.arange(3, dtype=torch.int32),
        "u16": torch.arange(3).to(torch.uint16),
        "u32": torch.arange(3).to(torch.uint32),
        "u64": torch.arange(3).to(torch.uint64),
        "bool": torch.tensor([True, False]),
    }
    safetensors_torch.save_file(tensors, tmp_path / "w.safetensors")
    found = read_index(tmp_path / "w.safetensors").tensors
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(as_source(found[name]).read(), tensor.numpy())
