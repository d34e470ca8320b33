"""PyTorch files of PyTorch's own making, read without it."""

from pathlib import Path

import numpy as np
import pytest

from engine.checkpoints.files import read_index
from engine.families import identify
from engine.weights.sources import as_source, mapped
from tests.families import listings

torch = pytest.importorskip("torch")
safetensors_torch = pytest.importorskip("safetensors.torch")
pytestmark = pytest.mark.oracle


def test_a_saved_module_is_read_back(tmp_path: Path) -> None:
    torch.manual_seed(0)
    layers = torch.nn.Conv2d(4, 8, 3), torch.nn.GroupNorm(2, 8), torch.nn.Linear(8, 5)
    state = torch.nn.Sequential(*layers).half().state_dict()
    torch.save(state, tmp_path / "m.bin")
    tensors = read_index(tmp_path / "m.bin").tensors
    assert tensors.keys() == state.keys()
    for name, tensor in state.items():
        assert np.array_equal(mapped(tensors[name]), tensor.numpy())


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_module_saved_as_before_2020_is_read_back(tmp_path: Path, protocol: int) -> None:
    """Tied and sliced tensors share a storage, and one is of another type."""
    torch.manual_seed(0)
    state = {"params": torch.nn.Conv2d(4, 8, 3).state_dict()}
    whole = torch.randn(6, 4)
    state["params"] |= {"tied": whole, "rows": whole[2:5], "half": whole.half()}
    torch.save(
        state,
        tmp_path / "m.pth",
        _use_new_zipfile_serialization=False,
        pickle_protocol=protocol,
    )
    tensors = read_index(tmp_path / "m.pth").tensors
    assert tensors.keys() == {f"params.{name}" for name in state["params"]}
    for name, tensor in state["params"].items():
        assert np.array_equal(mapped(tensors[f"params.{name}"]), tensor.detach().numpy())


def test_a_checkpoint_is_the_same_in_either_kind_of_file(tmp_path: Path) -> None:
    torch.manual_seed(0)
    names = listings.original(listings.SMALL_UNET, listings.SMALL_VAE, listings.SMALL_CLIP)
    state = {name: torch.randn(shape) for name, shape in names.items()}
    torch.save({"state_dict": state, "global_step": 7}, tmp_path / "a.ckpt")
    safetensors_torch.save_file(state, tmp_path / "a.safetensors")
    pickled, plain = (identify(tmp_path / f"a.{kind}") for kind in ("ckpt", "safetensors"))
    assert pickled.evidence == plain.evidence
    assert not pickled.missing
    for component, source in plain.components.items():
        other = pickled.components[component]
        assert other.config == source.config
        assert other.weights.keys() == source.weights.keys()
        for name, ref in source.weights.items():
            assert np.array_equal(as_source(ref).read(), as_source(other.weights[name]).read())


@pytest.mark.slow
def test_a_file_of_more_than_four_gigabytes_is_read(tmp_path: Path) -> None:
    first, last = torch.zeros(1 << 31, dtype=torch.half), torch.arange(8.0)
    torch.save({"state_dict": {"first": first, "last": last}}, tmp_path / "m.ckpt")
    tensors = read_index(tmp_path / "m.ckpt").tensors
    assert tensors["last"].offset > 1 << 32
    assert np.array_equal(mapped(tensors["last"]), last.numpy())
