"""Numbers of fp8 beside torch's casts and comfy-kitchen's products, and other stored types."""
# pyright: basic, reportMissingImports=false
# torch, comfy_kitchen and safetensors.torch are absent from the environment that is type-checked.

import json
from pathlib import Path

import numpy as np
import pytest

from backends.base import DType
from engine.api.sentences import as_it_is
from engine.checkpoints.files import read_index
from engine.families.shared.keys.scaling import with_scales
from engine.weights.sources import ScaledSlice, as_source

torch = pytest.importorskip("torch")
kitchen = pytest.importorskip("comfy_kitchen.tensor.fp8")
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


def written_mixed(path: Path, numbers, told) -> ScaledSlice:
    """A layer of an `fp8mixed` file as ComfyUI writes it, read by us."""
    tensors = kitchen.TensorCoreFP8Layout.state_dict_tensors(numbers, told)
    note = json.dumps({"format": str(numbers.dtype).removeprefix("torch.")}).encode()
    stored = {f"a.weight{ending}": tensor for ending, tensor in tensors.items()}
    stored["a.comfy_quant"] = torch.frombuffer(bytearray(note), dtype=torch.uint8)
    safetensors_torch.save_file(stored, path)
    found = with_scales(as_it_is("denoiser"), read_index(path).tensors, path).tensors
    assert found.keys() == {"a.weight"}
    weight = found["a.weight"]
    assert isinstance(weight, ScaledSlice)
    return weight


@pytest.mark.parametrize("scale", [0.0123, 0.015625, 3.0, 448.0])
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("kind", FLOAT8)
def test_every_number_of_mixed_files_is_comfy_kitchens(
    tmp_path: Path, kind: str, element: DType, scale: float
) -> None:
    """Bit for bit, by the scale in the wanted type, to which comfy-kitchen rounds it first."""
    layout, wanted = kitchen.TensorCoreFP8Layout, ELEMENTS[element]
    told = torch.tensor(scale).to(wanted).to(torch.float32)
    params = layout.Params(scale=told, orig_dtype=wanted, orig_shape=(256,))
    weight = written_mixed(tmp_path / "a.safetensors", every(kind), params)
    assert_same(weight.read_as(element), layout.dequantize(every(kind), params))


def test_a_matrix_that_comfy_kitchen_quantised_is_read_as_it_reads_it(tmp_path: Path) -> None:
    layout = kitchen.TensorCoreFP8Layout
    numbers = torch.from_numpy(np.random.default_rng(0).standard_normal((320, 64), np.float32))
    stored, told = layout.quantize(numbers)
    weight = written_mixed(tmp_path / "a.safetensors", stored, told)
    expected = layout.dequantize(stored, told)
    assert 0 < (expected - numbers).abs().max() < 0.2
    assert_same(weight.read(), expected)
    assert_same(weight.rows(7, 90).read(), expected[7:90])


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
