"""Adapters and vision encoders are recognised by keys and shapes, in every layout of files."""

import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Array, DType
from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families import Component, identify
from engine.graphs.clip_text import Activation, Projection
from engine.graphs.image_prompts import AttendingLayer
from engine.graphs.ip_adapter import FullProjection, LinearProjection, Resampler
from engine.graphs.unet import attending_layers
from engine.image_prompts.adapters import is_adapter, read_adapter
from engine.image_prompts.encoders import read_encoder
from engine.image_prompts.finding import find_encoder
from engine.weights.sources import mapped
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import sd15_unet
from tests.image_prompts.files import (
    CLIP,
    KINDS,
    PROJECTED,
    STATES,
    adapter_arrays,
    encoder_arrays,
    flat,
    write_adapter,
    write_encoder,
)
from tests.tiny_checkpoint import Weights, write_checkpoint

WIDTHS, CONTEXT = (32, 32, 64), 48
# The parts of a layer of the resampler: the original names, and those of diffusers.
_RENAMED = (
    (r"0\.norm1", "ln0"),
    (r"0\.norm2", "ln1"),
    (r"0\.to_q", "attn.to_q"),
    (r"0\.to_out", "attn.to_out.0"),
    (r"1\.0", "ff.0"),
    (r"1\.1", "ff.1.net.0.proj"),
    (r"1\.3", "ff.1.net.2"),
)
LAYERS = tuple(AttendingLayer(f"layer_{i}", width, 0, i) for i, width in enumerate(WIDTHS))


@pytest.mark.parametrize("kind", KINDS)
def test_an_adapter_is_recognised_by_its_projection(tmp_path: Path, kind: str) -> None:
    adapter = read_adapter(write_adapter(tmp_path / "a.safetensors", kind, WIDTHS, CONTEXT))
    projections = {
        "standard": LinearProjection(4),
        "full": FullProjection(),
        "plus": Resampler(5, 48, 192, 4, 2),
    }
    assert adapter.config.projection == projections[kind]
    assert adapter.config.seen_width == (PROJECTED if kind == "standard" else STATES)
    assert adapter.config.context_width == CONTEXT
    assert adapter.widths == WIDTHS


def test_keys_of_the_resampler_in_diffusers_layout_are_those_of_the_original(
    tmp_path: Path,
) -> None:
    arrays = flat(adapter_arrays("plus", WIDTHS, CONTEXT))
    first = read_adapter(write_named(tmp_path / "a.safetensors", arrays))
    converted: dict[str, Array] = {}
    for name, array in arrays.items():
        renamed = name
        for pattern, other in _RENAMED:
            renamed = re.sub(rf"(layers\.\d)\.{pattern}\.", rf"\1.{other}.", renamed)
        if ".0.to_kv." in renamed:
            key, value = np.split(array, 2)
            converted[renamed.replace(".0.to_kv.", ".attn.to_k.")] = key
            converted[renamed.replace(".0.to_kv.", ".attn.to_v.")] = value
        else:
            converted[renamed] = array
    second = read_adapter(write_named(tmp_path / "b.safetensors", converted))
    assert first.config == second.config
    for name, weight in first.weights(LAYERS).items():
        assert np.array_equal(mapped(weight), mapped(second.weights(LAYERS)[name]))


def write_named(path: Path, arrays: dict[str, Array]) -> Path:
    write_arrays(path, arrays)
    return path


def test_an_adapter_of_sd_1_fits_sd_1_alone(tmp_path: Path) -> None:
    layers = attending_layers(sd15_unet())
    widths = [layer.width for layer in layers]
    adapter = read_adapter(write_adapter(tmp_path / "a.safetensors", "standard", widths, 768))
    assert adapter.family == "sd1"
    adapter.require_fitting(layers, 768)
    with pytest.raises(
        EngineError, match=r"is for SD 1\.x; the model is of another kind"
    ) as caught:
        adapter.require_fitting(LAYERS, CONTEXT)
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH


def test_layers_are_numbered_as_in_diffusers_down_up_and_middle_last() -> None:
    layers = attending_layers(sd15_unet())
    assert [layer.name.split(".attentions")[0] for layer in layers[:: len(layers) - 1]] == [
        "down_blocks.0",
        "mid_block",
    ]
    assert len(layers) == 16
    # In the order they run the middle is the seventh.
    assert {layer.block for layer in layers} == set(range(16))
    assert layers[-1].block == 6
    assert [layer.level for layer in layers] == [0, 0, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1, 0, 0, 0, 3]


def face_keys(name: str) -> dict[str, Array]:
    arrays = flat(adapter_arrays("plus", WIDTHS, CONTEXT))
    match name:
        case "plain":
            projection = {
                "image_proj.proj.0.weight": np.zeros((1024, 512)),
                "image_proj.proj.0.bias": np.zeros(1024),
                "image_proj.proj.2.weight": np.zeros((4 * CONTEXT, 1024)),
                "image_proj.proj.2.bias": np.zeros(4 * CONTEXT),
                "image_proj.norm.weight": np.zeros(CONTEXT),
                "image_proj.norm.bias": np.zeros(CONTEXT),
            }
            return projection | {k: v for k, v in arrays.items() if k.startswith("ip_adapter")}
        case "plus":
            return {
                name.replace("image_proj.", "image_proj.perceiver_resampler."): array
                for name, array in arrays.items()
            }
        case "with_lora":
            return arrays | {"ip_adapter.0.to_q_lora.down.weight": np.zeros((4, 32))}
        case _:
            return arrays | {"image_proj.proj_in.weight": np.zeros((48, 512))}


@pytest.mark.parametrize("name", ["plain", "plus", "with_lora", "instant_id"])
def test_an_adapter_of_faces_is_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    path = write_named(tmp_path / "face.safetensors", face_keys(name))
    with pytest.raises(EngineError, match="network that recognises faces"):
        read_adapter(path)
    assert is_adapter(read_index(path).tensors)


def test_a_file_without_an_adapters_keys_is_refused(tmp_path: Path) -> None:
    path = write_named(tmp_path / "other.safetensors", {"some.weight": np.zeros((2, 2))})
    with pytest.raises(EngineError, match="no keys of an IP-Adapter"):
        read_adapter(path)
    assert not is_adapter(read_index(path).tensors)


def test_an_adapter_that_lacks_a_weight_is_damaged(tmp_path: Path) -> None:
    arrays = flat(adapter_arrays("plus", WIDTHS, CONTEXT))
    del arrays["image_proj.proj_in.weight"]
    with pytest.raises(EngineError) as caught:
        read_adapter(write_named(tmp_path / "a.safetensors", arrays))
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT


def test_a_folder_of_transformers_states_the_heads_and_the_activation(tmp_path: Path) -> None:
    config = msgspec.structs.replace(CLIP, heads=8, activation=Activation.QUICK_GELU)
    encoder = read_encoder(write_encoder(tmp_path / "image_encoder", config))
    assert encoder.config == config
    assert encoder.gives(states=True) == STATES
    assert encoder.gives(states=False) == PROJECTED
    assert read_encoder(tmp_path / "image_encoder" / "model.safetensors").config == config


def open_clip_arrays() -> dict[str, Array]:
    """The tiny encoder as OpenCLIP stores it."""
    arrays, found = encoder_arrays(), dict[str, Array]()
    names = {
        "vision_model.embeddings.class_embedding": "class_embedding",
        "vision_model.embeddings.patch_embedding.weight": "conv1.weight",
        "vision_model.embeddings.position_embedding.weight": "positional_embedding",
        **{f"vision_model.pre_layrnorm.{end}": f"ln_pre.{end}" for end in ("weight", "bias")},
        **{f"vision_model.post_layernorm.{end}": f"ln_post.{end}" for end in ("weight", "bias")},
    }
    leaves = {"layer_norm1": "ln_1", "layer_norm2": "ln_2", "mlp.fc1": "mlp.c_fc"}
    leaves |= {"mlp.fc2": "mlp.c_proj", "self_attn.out_proj": "attn.out_proj"}
    for name, other in names.items():
        found[f"visual.{other}"] = arrays[name]
    for layer in range(CLIP.layers):
        ours, theirs = f"vision_model.encoder.layers.{layer}", f"transformer.resblocks.{layer}"
        for end in ("weight", "bias"):
            parts = [arrays[f"{ours}.self_attn.{part}_proj.{end}"] for part in "qkv"]
            found[f"visual.{theirs}.attn.in_proj_{end}"] = np.concatenate(parts)
            for leaf, other in leaves.items():
                found[f"visual.{theirs}.{other}.{end}"] = arrays[f"{ours}.{leaf}.{end}"]
    found["visual.proj"] = arrays["visual_projection.weight"].T.copy()
    return found | {"logit_scale": np.zeros(1), "token_embedding.weight": np.zeros((9, 8))}


def test_an_encoder_of_open_clip_has_the_weights_of_transformers(tmp_path: Path) -> None:
    encoder = read_encoder(write_named(tmp_path / "clip.safetensors", open_clip_arrays()))
    expected = encoder_arrays()
    assert encoder.config.projection is Projection.MATRIX
    assert encoder.gives(states=False) == PROJECTED
    for name, weight in encoder.weights.items():
        stored = mapped(weight)
        if name == "visual_projection":
            name, stored = "visual_projection.weight", stored.T
        assert np.array_equal(stored, expected[name].astype(np.float32)), name
    assert len(encoder.weights) == len(expected)


def test_an_encoder_is_found_beside_its_adapter_and_among_the_models(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    path = tmp_path / "models" / "ip.safetensors"
    adapter = read_adapter(write_adapter(path, "plus", WIDTHS, CONTEXT))
    with pytest.raises(EngineError, match="needs the vision encoder"):
        find_encoder(adapter, None, (tmp_path,), read_index)
    other = msgspec.structs.replace(CLIP, width=32)
    write_encoder(tmp_path / "clip_vision" / "small", other)
    with pytest.raises(EngineError, match="needs the vision encoder"):
        find_encoder(adapter, None, (tmp_path,), read_index)
    with pytest.raises(EngineError, match="is CLIP") as caught:
        find_encoder(adapter, str(tmp_path / "clip_vision" / "small"), (), read_index)
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    far = write_encoder(tmp_path / "clip_vision" / "right")
    assert find_encoder(adapter, None, (tmp_path,), read_index).path.parent == far
    near = write_encoder(tmp_path / "models" / "image_encoder")
    assert find_encoder(adapter, None, (tmp_path,), read_index).path == near


def test_weights_may_be_stored_in_half_precision(tmp_path: Path) -> None:
    arrays = flat(adapter_arrays("standard", WIDTHS, CONTEXT))
    write_arrays(tmp_path / "a.safetensors", arrays, DType.F16)
    adapter = read_adapter(tmp_path / "a.safetensors")
    assert all(weight.dtype is DType.F16 for weight in adapter.weights(LAYERS).values())


def test_a_unet_that_was_saved_with_an_adapter_in_it_is_refused_in_words(tmp_path: Path) -> None:
    """diffusers saves both, once an adapter was loaded."""

    def change(weights: Weights) -> None:
        layer = "down_blocks.1.attentions.0.transformer_blocks.0.attn2"
        weights[Component.DENOISER] |= {
            f"{layer}.processor.to_k_ip.0.weight": np.zeros((4, 4), np.float32),
            "encoder_hid_proj.image_projection_layers.0.latents": np.zeros((1, 4, 4), np.float32),
        }

    folder = write_checkpoint(tmp_path / "tiny", change=change)
    with pytest.raises(EngineError, match="was saved with an IP-Adapter in it"):
        identify(folder)
    with pytest.raises(EngineError, match="It is a UNet that was saved with an adapter in it"):
        read_adapter(folder / "unet" / "diffusion_pytorch_model.safetensors")
