"""Whole pictures from files of unusual types: those of the numbers that the files stand for."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType, Precision
from backends.registry import find
from engine.families import Component, identify
from tests.checkpoints.arrays import write_arrays
from tests.pipeline.jobs import a_request, run
from tests.thinned import thinned
from tests.tiny_checkpoint import Weights, write_checkpoint

UNET = Path("unet") / "diffusion_pytorch_model.safetensors"
FP8 = pytest.mark.parametrize("stored", thinned([DType.F8_E4M3, DType.F8_E5M2], [DType.F8_E5M2]))
# A weight's numbers, then how they are stored: their type, and the scale beside them.
Stored = tuple[Array, DType, float | None]


def picture(folder: Path, backend_name: str = "cpu") -> Array:
    found = find(backend_name)
    assert found
    return run(a_request(folder, steps=2), found.create(), (Precision.F32,)).pixels[0]


def rounded(dtype: DType) -> Callable[[Weights], None]:
    def change(weights: Weights) -> None:
        for arrays in weights.values():
            for name, array in arrays.items():
                arrays[name] = array.astype(dtype.numpy).astype(np.float32)

    return change


@pytest.mark.parametrize(
    ("backend_name", "stored"),
    thinned([("cpu", DType.F8_E4M3), ("intel_openvino", DType.F8_E5M2)], [("cpu", DType.F8_E4M3)]),
)
def test_an_fp8_checkpoint_makes_the_picture_of_its_rounded_weights(
    tmp_path: Path, stored: DType, backend_name: str
) -> None:
    small = write_checkpoint(tmp_path / "fp8" / "it", dtype=stored)
    same = write_checkpoint(tmp_path / "f32" / "it", change=rounded(stored))
    weights = [w for part in identify(small).components.values() for w in part.weights.values()]
    assert {weight.dtype for weight in weights} == {stored}
    pixels = picture(small, backend_name)
    assert pixels.std() > 10
    np.testing.assert_array_equal(pixels, picture(same, backend_name))


def as_comfy_scales(name: str, array: Array, stored: DType) -> Stored:
    """Linear layers fill fp8's range and have a scale, norms stay in float32, the rest in half."""
    if "norm" in name:
        return array, DType.F32, None
    if array.ndim != 2:
        return array.astype(np.float16), DType.F16, None
    scale = np.float32(np.abs(array).max() / 400)
    return (array / scale).astype(stored.numpy), stored, float(scale)


def write_scaled(unet: Path, arrays: dict[str, Array], stored: DType) -> dict[str, Stored]:
    """Write a UNet under ComfyUI's names for scaled fp8; what was written of each weight."""
    found = {name: as_comfy_scales(name, array, stored) for name, array in arrays.items()}
    written: dict[str, Array] = {"scaled_fp8": np.zeros(2)}
    types = {"scaled_fp8": stored}
    for name, (numbers, dtype, scale) in found.items():
        written[name], types[name] = numbers, dtype
        if scale is not None:
            key = f"{name.removesuffix('.weight')}.scale_weight"
            written[key], types[key] = np.array([scale], np.float32), DType.F32
    write_arrays(unet, written, types)
    return found


@FP8
def test_a_scaled_denoiser_of_mixed_types(tmp_path: Path, stored: DType) -> None:
    kept: dict[str, Array] = {}

    def keep(weights: Weights) -> None:
        kept.update(weights[Component.DENOISER])

    small, same = (write_checkpoint(tmp_path / name / "it", change=keep) for name in ("a", "b"))
    found = write_scaled(small / UNET, kept, stored)
    pixels = picture(small)
    plain = {name: numbers.astype(np.float32) for name, (numbers, *_) in found.items()}
    scales = {
        name: np.float32(1 if scale is None else scale) for name, (*_, scale) in found.items()
    }
    write_arrays(same / UNET, {name: plain[name] * scales[name] for name in plain})
    np.testing.assert_array_equal(pixels, picture(same))
    # Without the scales it is another picture.
    write_arrays(same / UNET, plain)
    assert np.abs(pixels.astype(float) - picture(same)).mean() > 5


def test_a_float64_checkpoint_makes_the_picture_of_its_float32_twin(tmp_path: Path) -> None:
    wide = write_checkpoint(tmp_path / "f64" / "it", dtype=DType.F64)
    plain = write_checkpoint(tmp_path / "f32" / "it")
    np.testing.assert_array_equal(picture(wide), picture(plain))
