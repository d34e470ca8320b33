"""Flux.1's files of random weights, small."""

from pathlib import Path

import numpy as np
import pytest

from backends.base import DType
from benchmarks import make_flux
from engine.checkpoints.files import read_index
from engine.families import identify
from engine.weights.sources import as_source
from tests.families.flux import files
from tests.families.flux.files import FluxSizes

SMALL = FluxSizes(256, 128, 1024, 512, 256, 1, 1, guidance=False)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "flux.gguf"
    make_flux.write(path, files.original(SMALL), "flux")
    return path


def test_the_file_is_a_schnell_with_matrices_in_blocks(path: Path) -> None:
    assert identify(path).variant == "schnell"
    tensors = read_index(path).tensors
    matrices = [one for name, one in tensors.items() if "linear1.weight" in name]
    assert {one.dtype for one in matrices} == {DType.Q4_0}


def test_matrices_keep_the_size_of_what_they_multiply(path: Path) -> None:
    tensor = read_index(path).tensors["single_blocks.0.linear1.weight"]
    numbers = as_source(tensor).read_as(DType.F32)
    assert np.std(numbers) * np.sqrt(numbers.shape[1]) == pytest.approx(1, rel=0.05)
