"""The section `quantized_files` on a small transformer: each file is read as it says."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers.quantized import QuantizedStep
from benchmarks.sections.parity import relative_error
from benchmarks.sections.quantized_files import FILES, random_weights
from tests.families.flux.files import FluxSizes

_SIZES = FluxSizes(256, 64, 512, 256, 64, 1, 1)
# The error of a step, and the working copy beside that of 16 bits, which are float32 there.
_MOST_ERROR = {"4 bits": 0.2, "fp8": 0.06, "8 bits": 0.02, "int8": 0.02}
_COPY = {"4 bits": 0.2, "8 bits": 0.35, "int8": 0.35, "fp8": 1.01}


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, int]:
    return _step(tmp_path_factory.mktemp("exact"), 0)


def _step(folder: Path, at: int) -> tuple[np.ndarray, int]:
    file, path, result = FILES[at], folder / "blocks.safetensors", folder / "found.npy"
    file.write(path, random_weights(_SIZES))
    peer = QuantizedStep(str(path), "cpu", "f32", "working_copy", 64, file.bits)
    cached = peer.answer("step", {"result": str(result)})["cached"]
    peer.close()
    return np.load(result), int(cached)


@pytest.mark.parametrize("at", range(1, len(FILES)), ids=[file.name for file in FILES[1:]])
def test_a_file_is_rounded_as_its_name_says(
    tmp_path: Path, exact: tuple[np.ndarray, int], at: int
) -> None:
    name, (found, cached) = FILES[at].name, _step(tmp_path, at)
    kind = next(kind for kind in _COPY if kind in name)
    assert cached / exact[1] < _COPY[kind]
    limit = max(most for kind, most in _MOST_ERROR.items() if kind in name)
    assert 1e-5 < relative_error(found, exact[0]) < limit
