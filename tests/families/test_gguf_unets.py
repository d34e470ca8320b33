"""UNets from GGUF files, whose matrices the converter made as wide as blocks are long."""

from math import prod
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, Backend, DType, Precision, size_of
from backends.cpu import CpuBackend
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.families import Component, identify
from engine.memory.plan import WeightPlacement
from engine.weights.sources import as_source
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.gguf_files import Stored, blocks, numbers_fact, plain, write_gguf
from tests.families import listings
from tests.families.flux.files import drawn
from tests.families.gguf_parts import WideBackend, dequantised
from tests.thinned import thinned

# What llama-quantize leaves in a UNet, after city96's patch for it (ComfyUI-GGUF, `tools`).
_LEFT = ("time_embed.", "label_emb.", "input_blocks.0.0.", "out.2.")
_WIDE = 256


def write_unet(path: Path, dtype: DType) -> Path:
    """SD 1's UNet as city96's converter and llama-quantize write it."""
    stored: dict[str, Stored] = {}
    shapes: list[bytes] = []
    for name, array in drawn(listings.ldm_unet(listings.SMALL_UNET)).items():
        count, is_wide = prod(array.shape), array.shape[-1] % _WIDE == 0
        if array.ndim == 1 or (count % _WIDE and not is_wide):
            stored[name] = plain(array)
            continue
        shape = array.shape if is_wide else (count // _WIDE, _WIDE)
        if not is_wide:
            shapes.append(numbers_fact(f"comfy.gguf.orig_shape.{name}", array.shape))
        is_left = name.startswith(_LEFT)
        stored[name] = (
            plain(array.reshape(shape)) if is_left else blocks(dtype, shape, len(name), 0.003)
        )
    return write_gguf(path, stored, {"general.architecture": "sd1"}, shapes)


def prediction(path: Path, backend: Backend, copies: Path) -> Array:
    """The denoiser's prediction for one latent and one context."""
    network = identify(path).architecture.denoiser.network(64, 64)
    compiler = Compiler(backend, backend.probe()[0], WorkingCopies(copies))
    given = network, Precision.F32, WeightPlacement.MEMORY
    session = compiler.load(*given, lambda _done, _total: None, CancelToken())
    sizes = {name: dimension.optimum for name, dimension in network.dimensions.items()}
    random = np.random.default_rng(0)
    feeds = {
        spec.name: random.standard_normal([size_of(n, sizes) for n in spec.shape]).astype(
            spec.dtype.numpy
        )
        for spec in session.inputs
    }
    try:
        return session.run(feeds)["prediction"]
    finally:
        session.close()


@pytest.mark.parametrize("dtype", thinned([DType.Q4_K, DType.Q6_K, DType.Q8_0], [DType.Q4_K]))
def test_weights_have_their_own_shapes_and_predict_as_the_dequantised_ones(
    dtype: DType, tmp_path: Path
) -> None:
    file = write_unet(tmp_path / "unet.gguf", dtype)
    whole = tmp_path / "whole.safetensors"
    write_arrays(whole, dequantised(file))
    found, expected = (
        identify(path).components[Component.DENOISER].weights for path in (file, whole)
    )
    assert found.keys() == expected.keys()
    assert sum(weight.dtype is dtype for weight in found.values()) > 10
    for name, weight in found.items():
        numbers = as_source(weight).read_as(DType.F32)
        np.testing.assert_array_equal(numbers, as_source(expected[name]).read(), name)
    wanted = prediction(whole, CpuBackend(), tmp_path / "copies")
    for backend in (WideBackend(), CpuBackend()):
        error = prediction(file, backend, tmp_path / "copies") - wanted
        assert np.linalg.norm(error) < 1e-4 * np.linalg.norm(wanted)
