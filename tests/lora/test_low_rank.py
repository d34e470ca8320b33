"""LoRA: low-rank products of linear layers and convolutions, at alpha / rank times the strength."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Array, DType
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.lora.modules import LoraModule
from engine.lora.patches import patches_of
from engine.weights.patched import PatchedWeight
from tests.checkpoints.arrays import write_arrays
from tests.weights.files import write_sources

LAYER = "lora_unet_mid_block_attentions_0_proj_in"
OUT, IN, RANK = 12, 10, 3
RANDOM = np.random.default_rng(0)


def numbers(*shape: int) -> Array:
    return RANDOM.integers(-4, 5, shape).astype(np.float32)


UP, DOWN = numbers(OUT, RANK), numbers(RANK, IN)


def module(folder: Path, dtype: DType = DType.F32, **tensors: Array | float) -> LoraModule:
    """A layer with tensors by part; `lora_up__weight` stands for `lora_up.weight`."""
    arrays = {part.replace("__", "."): np.asarray(value) for part, value in tensors.items()}
    return LoraModule(LAYER, write_arrays(folder / "lora.safetensors", arrays, dtype))


def merged(base: Array, lora: LoraModule, strength: float, folder: Path) -> Array:
    weight = write_sources(folder / "base.safetensors", {"w": base})["w"]
    patches = patches_of(lora, strength, shape=base.shape)
    return PatchedWeight(weight, tuple(patches.values())).read()


@pytest.mark.parametrize("dtype", [DType.F32, DType.F16, DType.BF16, DType.F8_E4M3])
@pytest.mark.parametrize("strength", [1.0, -0.5, 2.0])
def test_a_low_rank_product_is_added(tmp_path: Path, dtype: DType, strength: float) -> None:
    lora = module(tmp_path, dtype, lora_up__weight=UP, lora_down__weight=DOWN, alpha=1.5)
    base = numbers(OUT, IN)
    expected = base + strength * 0.5 * (UP @ DOWN)
    np.testing.assert_array_equal(merged(base, lora, strength, tmp_path), expected)


def test_without_alpha_the_product_is_added_as_it_is(tmp_path: Path) -> None:
    lora = module(tmp_path, lora_up__weight=UP, lora_down__weight=DOWN)
    np.testing.assert_array_equal(merged(np.zeros((OUT, IN)), lora, 1.0, tmp_path), UP @ DOWN)


def test_no_rank_at_all_changes_nothing(tmp_path: Path) -> None:
    lora = module(tmp_path, lora_up__weight=UP, lora_down__weight=DOWN)
    base = numbers(OUT, IN)
    weight = write_sources(tmp_path / "base.safetensors", {"w": base})["w"]
    patch = patches_of(lora, 1.0, shape=base.shape, rank=0)["weight"]
    np.testing.assert_array_equal(PatchedWeight(weight, (patch,)).read(), base)


def test_a_convolution_has_a_small_kernel_above_a_large_one(tmp_path: Path) -> None:
    up, down = numbers(OUT, RANK, 1, 1), numbers(RANK, 5, 3, 3)
    lora = module(tmp_path, lora_up__weight=up, lora_down__weight=down)
    expected = np.einsum("or,rikl->oikl", up[:, :, 0, 0], down)
    found = merged(np.zeros((OUT, 5, 3, 3)), lora, 1.0, tmp_path)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("base", [(OUT, IN), (OUT, IN, 1, 1)])
@pytest.mark.parametrize("ones", [(), (1, 1)])
def test_linear_layers_and_small_kernels_take_each_others_loras(
    tmp_path: Path, base: tuple[int, ...], ones: tuple[int, ...]
) -> None:
    up, down = UP.reshape(*UP.shape, *ones), DOWN.reshape(*DOWN.shape, *ones)
    lora = module(tmp_path, lora_up__weight=up, lora_down__weight=down)
    found = merged(np.zeros(base), lora, 1.0, tmp_path)
    np.testing.assert_array_equal(found, (UP @ DOWN).reshape(base))


def test_at_strength_zero_nothing_is_patched(tmp_path: Path) -> None:
    lora = module(tmp_path, lora_up__weight=UP, lora_down__weight=DOWN)
    assert patches_of(lora, 0.0) == {}


def refusal(lora: LoraModule, shape: tuple[int, ...] = (OUT, IN)) -> EngineError:
    with pytest.raises(EngineError) as caught:
        patches_of(lora, 1.0, shape=shape)
    assert "lora.safetensors" in caught.value.message
    assert LAYER in caught.value.message
    return caught.value


def test_ranks_that_differ_are_refused(tmp_path: Path) -> None:
    error = refusal(module(tmp_path, lora_up__weight=UP, lora_down__weight=numbers(RANK + 1, IN)))
    assert error.code is ErrorCode.CHECKPOINT_MISMATCH
    assert "lora_up.weight [12, 3] and lora_down.weight [4, 10]" in error.message


def test_another_layers_shape_is_refused(tmp_path: Path) -> None:
    error = refusal(module(tmp_path, lora_up__weight=UP, lora_down__weight=DOWN), (OUT, 20))
    assert error.code is ErrorCode.CHECKPOINT_MISMATCH
    assert "the weight [12, 20]" in error.message


def test_a_missing_factor_is_named(tmp_path: Path) -> None:
    error = refusal(module(tmp_path, lora_up__weight=UP))
    assert error.code is ErrorCode.CHECKPOINT_INCOMPLETE
    assert "lora_down.weight" in error.message


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_factor_with_nan_is_named_when_it_is_read(tmp_path: Path, bad: float) -> None:
    down = DOWN.copy()
    down[2, 3] = bad
    lora = module(tmp_path, lora_up__weight=UP, lora_down__weight=down)
    with pytest.raises(EngineError, match=r"lora_down\.weight \[3, 10\] of lora_unet") as caught:
        merged(numbers(OUT, IN), lora, 1.0, tmp_path)
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT


def test_a_kernel_with_its_channels_last_is_refused(tmp_path: Path) -> None:
    lora = module(tmp_path, lora_up__weight=UP, lora_down__weight=numbers(RANK, 5, 3, 3))
    odd = {
        part: msgspec.structs.replace(tensor, channels_last=len(tensor.shape) == 4)
        for part, tensor in lora.tensors.items()
    }
    with pytest.raises(EngineError, match="order of its own"):
        patches_of(msgspec.structs.replace(lora, tensors=odd), 1.0)
