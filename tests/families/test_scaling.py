"""Scaled fp8 in the two ways that files have it: each scale is joined to its weight, or refused."""

from pathlib import Path

import pytest

from backends.base import DType
from engine.api.request import ComponentFiles
from engine.api.values import ErrorCode
from engine.checkpoints.safetensors import read_index
from engine.errors import EngineError
from engine.families import Component, identify, supply
from engine.weights.sources import ScaledSlice
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import UNET, Listing, prefixed

SMALL = listings.original(listings.SMALL_UNET, listings.SMALL_VAE, listings.SMALL_CLIP)
FP8, F16, F32, U8 = DType.F8_E4M3, DType.F16, DType.F32, DType.U8
MARK = "scaled_fp8"
# Of a linear layer in the original layout, and its canonical name.
LAYER = "middle_block.1.transformer_blocks.0.attn1.to_q"
CANONICAL = "mid_block.attentions.0.transformer_blocks.0.attn1.to_q.weight"


def linear(names: Listing) -> list[str]:
    """The layers that ComfyUI scales."""
    weights = (name for name in names if name.endswith(".weight"))
    return [name.removesuffix(".weight") for name in weights if len(names[name]) == 2]


def older(names: Listing, mark: str) -> tuple[Listing, dict[str, DType]]:
    """With a marker for the component, and scales of weights and of what is multiplied by them."""
    layers = linear(names)
    scales = {f"{n}.{kind}": (1,) for n in layers for kind in ("scale_weight", "scale_input")}
    return _typed(names, {**scales, mark: (2,)}, {mark: FP8})


def newer(names: Listing) -> tuple[Listing, dict[str, DType]]:
    """With a note beside each layer, JSON in bytes."""
    layers = linear(names)
    scales = {f"{n}.{kind}": () for n in layers for kind in ("weight_scale", "input_scale")}
    notes = {f"{name}.comfy_quant": (27,) for name in layers}
    return _typed(names, {**scales, **notes}, dict.fromkeys(notes, U8))


def _typed(
    names: Listing, scales: Listing, others: dict[str, DType]
) -> tuple[Listing, dict[str, DType]]:
    weights = {f"{layer}.weight" for layer in linear(names)}
    types = {name: FP8 if name in weights else F16 for name in names}
    return names | scales, types | dict.fromkeys(scales, F32) | others


BARE = listings.ldm_unet(listings.SMALL_UNET)


def checked(path: Path, bare: Listing) -> None:
    """Every linear layer has a scale of its own, and nothing else has one."""
    checkpoint = identify(path)
    weights = checkpoint.components[Component.DENOISER].weights
    scaled = [weight for weight in weights.values() if isinstance(weight, ScaledSlice)]
    assert len(scaled) == len(linear(bare))
    assert {(w.stored.dtype, w.scale.dtype, w.scale.elements) for w in scaled} == {(FP8, F32, 1)}
    assert {w.dtype for w in weights.values() if not isinstance(w, ScaledSlice)} == {F16}
    assert len({weight.scale.offset for weight in scaled}) == len(scaled)


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "denoiser alone"])
@pytest.mark.parametrize("way", ["older", "newer"])
def test_each_linear_layer_has_its_scale(tmp_path: Path, way: str, *, whole: bool) -> None:
    prefix = UNET if whole else ""
    unet = prefixed(prefix, BARE)
    names, types = older(unet, f"{prefix}{MARK}") if way == "older" else newer(unet)
    rest = {name: shape for name, shape in SMALL.items() if whole and name not in unet}
    names, types = rest | names, dict.fromkeys(rest, F16) | types
    path = write_sparse(tmp_path / "fp8.safetensors", names, types)
    checked(path, BARE)
    # Scales that were joined, those of inputs, notes and the marker.
    assert identify(path).ignored_keys == len(names) - len(unet) - len(rest)


def test_the_scale_is_the_one_beside_the_weight(tmp_path: Path) -> None:
    names, types = older(BARE, MARK)
    path = write_sparse(tmp_path / "fp8.safetensors", names, types)
    found = identify(path).components[Component.DENOISER].weights[CANONICAL]
    index = read_index(path).tensors
    assert found == ScaledSlice(index[f"{LAYER}.weight"], index[f"{LAYER}.scale_weight"])


def test_a_scaled_text_encoder_supplies(tmp_path: Path) -> None:
    text = listings.clip_text(listings.SMALL_CLIP)
    whole = identify(write_sparse(tmp_path / "whole.safetensors", SMALL))
    path = write_sparse(tmp_path / "clip.safetensors", *older(text, MARK))
    supplied = supply(whole, ComponentFiles(text_encoder=str(path)))
    weights = supplied.components[Component.TEXT_ENCODER].weights
    layer = "text_model.encoder.layers.0.mlp.fc1.weight"
    assert isinstance(weights[layer], ScaledSlice)


@pytest.mark.parametrize(
    ("key", "shape", "dtype", "code", "says"),
    [
        # Blocks of 16, as NVFP4 and MXFP8 have them.
        (f"{LAYER}.weight_scale", (96, 6), F32, ErrorCode.CHECKPOINT_UNREADABLE, "in parts"),
        (f"{LAYER}.weight_scale", (), DType.I32, ErrorCode.CHECKPOINT_UNREADABLE, "in parts"),
        (f"{LAYER}x.scale_weight", (), F32, ErrorCode.CHECKPOINT_CORRUPT, "no weight of its own"),
    ],
)
def test_other_scales_are_refused(
    tmp_path: Path, key: str, shape: tuple[int, ...], dtype: DType, code: ErrorCode, says: str
) -> None:
    names = BARE | {key: shape}
    types = dict.fromkeys(BARE, F16) | {key: dtype}
    with pytest.raises(EngineError, match=says) as caught:
        identify(write_sparse(tmp_path / "x.safetensors", names, types))
    assert caught.value.code is code


def test_a_weight_has_one_scale(tmp_path: Path) -> None:
    names = BARE | {f"{LAYER}.weight_scale": (), f"{LAYER}.scale_weight": ()}
    with pytest.raises(EngineError, match="no weight of its own"):
        identify(write_sparse(tmp_path / "x.safetensors", names, F32))
