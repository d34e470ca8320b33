"""PyTorch files of PyTorch's own making, read without it."""

from pathlib import Path

import numpy as np
import pytest

from engine.checkpoints.torch_file import read_torch_index
from engine.graphs.weights import mapped

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle


def test_a_module_reads_back_as_it_was_saved(tmp_path: Path) -> None:
    torch.manual_seed(0)
    layers = torch.nn.Conv2d(4, 8, 3), torch.nn.GroupNorm(2, 8), torch.nn.Linear(8, 5)
    state = torch.nn.Sequential(*layers).half().state_dict()
    torch.save(state, tmp_path / "m.bin")
    tensors = read_torch_index(tmp_path / "m.bin").tensors
    assert tensors.keys() == state.keys()
    for name, tensor in state.items():
        assert np.array_equal(mapped(tensors[name]), tensor.numpy())


@pytest.mark.slow
def test_a_file_of_more_than_four_gigabytes(tmp_path: Path) -> None:
    first, last = torch.zeros(1 << 31, dtype=torch.half), torch.arange(8.0)
    torch.save({"state_dict": {"first": first, "last": last}}, tmp_path / "m.ckpt")
    tensors = read_torch_index(tmp_path / "m.ckpt").tensors
    assert tensors["last"].offset > 1 << 32
    assert np.array_equal(mapped(tensors["last"]), last.numpy())
