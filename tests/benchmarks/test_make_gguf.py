"""GGUF files of random weights: a small Flux.1, and the parts of full-size models."""

import math
from pathlib import Path

import numpy as np
import pytest

from backends.base import DType
from benchmarks import make_gguf
from benchmarks.quantized_models import ZIMAGE_LEFT, qwen3_4b
from engine.checkpoints.files import read_index
from engine.families import identify
from engine.weights.sources import as_source
from tests.families.flux import files
from tests.families.flux.files import FluxSizes
from tests.families.zimage import files as zimage

SMALL = FluxSizes(256, 128, 1024, 512, 256, 1, 1, guidance=False)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "flux.gguf"
    make_gguf.write(path, files.original(SMALL), "flux")
    return path


@pytest.mark.oracle
def test_the_file_is_a_schnell_with_matrices_in_blocks(path: Path) -> None:
    assert identify(path).variant == "schnell"
    tensors = read_index(path).tensors
    matrices = [tensor for name, tensor in tensors.items() if "linear1.weight" in name]
    assert {matrix.dtype for matrix in matrices} == {DType.Q4_0}


@pytest.mark.oracle
def test_matrices_keep_the_size_of_what_they_multiply(path: Path) -> None:
    tensor = read_index(path).tensors["single_blocks.0.linear1.weight"]
    numbers = as_source(tensor).read_as(DType.F32)
    assert np.std(numbers) * np.sqrt(numbers.shape[1]) == pytest.approx(1, rel=0.05)


@pytest.mark.oracle
def test_layers_that_converters_leave_stay_in_float16(tmp_path: Path) -> None:
    path = tmp_path / "z_image_turbo.gguf"
    sizes = zimage.ZImageSizes(128, 32, 128, 128, 64, 1, 1)
    make_gguf.write(path, zimage.original(sizes), "lumina2", ZIMAGE_LEFT)
    assert identify(path).family == "zimage"
    tensors = read_index(path).tensors
    types = {name: tensor.dtype for name, tensor in tensors.items()}
    assert types["layers.0.feed_forward.w1.weight"] is DType.Q4_0
    assert types["noise_refiner.0.feed_forward.w1.weight"] is DType.F16
    assert types["x_pad_token"] is DType.F32
    left = tensors["noise_refiner.0.feed_forward.w1.weight"]
    assert np.std(as_source(left).read_as(DType.F32)) * np.sqrt(128) == pytest.approx(1, rel=0.05)


def test_qwen3_4b_has_the_size_of_its_name() -> None:
    numbers = sum(math.prod(shape) for shape in qwen3_4b().values())
    assert numbers == pytest.approx(4.0e9, rel=0.02)
