"""Control networks are recognised by their keys, and other files are told what they are."""

import json
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType
from engine.api.preprocessors import ControlKind
from engine.api.values import ErrorCode
from engine.control.network import BorrowedSizes, ControlForm, ControlNetSizes, ControlNetwork
from engine.control.reading import read_control_network
from engine.errors import EngineError
from engine.graphs.t2i_adapter import AdapterConfig
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.control.layouts import original_adapter, original_control_net
from tests.control.small import (
    SMALL_ADAPTER,
    adapter_arrays,
    control_net_arrays,
    small_control_net,
)
from tests.upscalers.small import new_esrgan

FAMILIES = {
    "sd1": small_control_net(),
    "sd2": small_control_net(linear=True),
    "sdxl": small_control_net(linear=True, added=40),
}


def written(path: Path, arrays: dict[str, Array], dtype: DType = DType.F32) -> Path:
    write_arrays(path, arrays, dtype)
    return path


def numbers(network: ControlNetwork) -> dict[str, Array]:
    return {name: as_source(weight).read_as(DType.F32) for name, weight in network.weights.items()}


def same(found: dict[str, Array], wanted: dict[str, Array]) -> bool:
    return found.keys() == wanted.keys() and all(
        np.array_equal(found[name], array) for name, array in wanted.items()
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layout", ["diffusers", "original", "prefixed"])
def test_a_control_net_is_read_with_its_family(tmp_path: Path, family: str, layout: str) -> None:
    config = FAMILIES[family]
    arrays = control_net_arrays(config)
    prefix = "control_model." if layout == "prefixed" else ""
    named = arrays if layout == "diffusers" else original_control_net(arrays, prefix)
    network = read_control_network(written(tmp_path / "a.safetensors", named))
    assert (network.form, network.family) == (ControlForm.CONTROL_NET, family)
    assert isinstance(network.sizes, ControlNetSizes)
    assert network.sizes.config.widths == config.widths
    assert network.sizes.config.map_widths == config.map_widths
    assert same(numbers(network), arrays)


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16, DType.F8_E4M3])
def test_narrow_numbers_are_read(tmp_path: Path, dtype: DType) -> None:
    arrays = control_net_arrays(small_control_net())
    network = read_control_network(written(tmp_path / "a.safetensors", arrays, dtype))
    stored = {name: array.astype(dtype.numpy).astype(np.float32) for name, array in arrays.items()}
    assert same(numbers(network), stored)


def test_a_control_net_beside_a_checkpoint_is_read_alone(tmp_path: Path) -> None:
    arrays = control_net_arrays(small_control_net())
    named = original_control_net(arrays, "control_model.")
    named["model.diffusion_model.out.2.weight"] = np.zeros((4, 32, 3, 3), np.float32)
    network = read_control_network(written(tmp_path / "a.safetensors", named))
    assert same(numbers(network), arrays)


@pytest.mark.parametrize("layout", ["diffusers", "original"])
def test_an_adapter_is_read(tmp_path: Path, layout: str) -> None:
    arrays = adapter_arrays()
    named = arrays if layout == "diffusers" else original_adapter(_four_levels(arrays))
    network = read_control_network(written(tmp_path / "t2i_keypose.safetensors", named))
    assert (network.form, network.family) == (ControlForm.ADAPTER, "sd1")
    assert isinstance(network.sizes, AdapterConfig)
    assert network.sizes.blocks[:2] == SMALL_ADAPTER.blocks
    assert network.kind is ControlKind.POSE


def _four_levels(arrays: dict[str, Array]) -> dict[str, Array]:
    """The adapter with its second level twice more: the original has four of them."""
    more = dict(arrays)
    for name, array in arrays.items():
        if name.startswith("adapter.body.1.resnets"):
            for level in (2, 3):
                more[name.replace("body.1", f"body.{level}")] = array
    return more


def control_lora(arrays: dict[str, Array], rank: int = 3) -> dict[str, Array]:
    """A control-LoRA: factors in place of a ControlNet's large weights that a UNet has, too."""
    random, lora = np.random.default_rng(3), dict[str, Array]()
    for name, array in original_control_net(arrays).items():
        own = name.startswith(("zero_convs", "middle_block_out", "input_hint_block"))
        if own or array.ndim == 1:
            lora[name] = array
            continue
        layer, square = name.removesuffix(".weight"), (1,) * (array.ndim - 2)
        lora[f"{layer}.up"] = random.standard_normal((len(array), rank, *square), np.float32)
        lora[f"{layer}.down"] = random.standard_normal((rank, *array.shape[1:]), np.float32)
    return lora | {"lora_controlnet": np.zeros(0, np.float32)}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_control_lora_is_read_with_its_family(tmp_path: Path, family: str) -> None:
    arrays = control_net_arrays(FAMILIES[family])
    path = written(tmp_path / "control-lora-canny-rank3.safetensors", control_lora(arrays))
    network = read_control_network(path)
    assert (network.form, network.family) == (ControlForm.CONTROL_LORA, family)
    assert network.sizes == BorrowedSizes(24)
    assert network.kind is ControlKind.CANNY
    assert network.changes.keys() | network.weights.keys() == arrays.keys()


def test_half_a_change_is_refused(tmp_path: Path) -> None:
    lora = control_lora(control_net_arrays(small_control_net()))
    del lora["time_embed.0.up"]
    with pytest.raises(EngineError) as caught:
        read_control_network(written(tmp_path / "a.safetensors", lora))
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("control_v11p_sd15_canny.pth", ControlKind.CANNY),
        ("control_v11f1e_sd15_tile.pth", ControlKind.TILE),
        ("control_v11p_sd15s2_lineart_anime.pth", ControlKind.LINEART),
        ("control_v11p_sd15_softedge.pth", ControlKind.SOFTEDGE),
        ("control_sd15_hed.safetensors", ControlKind.SOFTEDGE),
        ("control_v11f1p_sd15_depth.pth", ControlKind.DEPTH),
        ("control_v11p_sd15_openpose.pth", ControlKind.POSE),
        ("control_v11p_sd15_normalbae.pth", ControlKind.NORMAL),
        ("control_v11p_sd15_seg.pth", ControlKind.SEG),
        ("control_v11p_sd15_inpaint.pth", ControlKind.INPAINT),
        ("control_v11e_sd15_shuffle.pth", ControlKind.SHUFFLE),
        ("control-lora-recolor-rank256.safetensors", ControlKind.RECOLOR),
        ("control-lora-sketch-rank256.safetensors", ControlKind.SCRIBBLE),
        ("t2iadapter_color_sd14v1.pth", ControlKind.COLOR),
        ("control_v1p_sd15_qrcode_monster.safetensors", None),
        ("finished.safetensors", None),
    ],
)
def test_the_name_of_a_usual_file_tells_its_maps(
    tmp_path: Path, name: str, kind: ControlKind | None
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    arrays = control_net_arrays(small_control_net())
    network = read_control_network(written(folder / name, arrays))
    assert network.kind is kind
    assert isinstance(network.sizes, ControlNetSizes)
    assert network.sizes.config.pools is (kind is ControlKind.SHUFFLE)


def folder_of(path: Path, **stated: object) -> Path:
    config = small_control_net()
    path.mkdir()
    settings = {"block_out_channels": [32, 64], "norm_num_groups": 32, **stated}
    (path / "config.json").write_text(json.dumps(settings))
    write_arrays(path / "diffusion_pytorch_model.safetensors", control_net_arrays(config))
    return path


def test_a_folder_tells_heads_and_pooling(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "a", attention_head_dim=4, global_pool_conditions=True)
    sizes = read_control_network(folder).sizes
    assert isinstance(sizes, ControlNetSizes)
    assert sizes.states_heads
    assert sizes.config.pools
    assert {block.heads for block in sizes.config.encoder.down} == {4}


def test_a_folder_of_bgr_maps_is_read_for_rgb(tmp_path: Path) -> None:
    name = "controlnet_cond_embedding.conv_in.weight"
    plain = numbers(read_control_network(folder_of(tmp_path / "a")))[name]
    folder = folder_of(tmp_path / "b", controlnet_conditioning_channel_order="bgr")
    assert np.array_equal(numbers(read_control_network(folder))[name], plain[:, ::-1])


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ({"act_fn": "gelu"}, ErrorCode.CHECKPOINT_UNKNOWN_FAMILY),
        ({"num_class_embeds": 3}, ErrorCode.CHECKPOINT_UNKNOWN_FAMILY),
        ({"block_out_channels": [32, 128]}, ErrorCode.CHECKPOINT_MISMATCH),
    ],
)
def test_a_folder_with_other_settings_is_refused(
    tmp_path: Path, setting: dict[str, object], code: ErrorCode
) -> None:
    with pytest.raises(EngineError) as caught:
        read_control_network(folder_of(tmp_path / "a", **setting))
    assert caught.value.code is code


def test_a_folder_without_a_network_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="not a control network"):
        read_control_network(tmp_path)


OTHERS: dict[str, tuple[dict[str, tuple[int, ...]], str]] = {
    "checkpoint": (
        {
            "model.diffusion_model.input_blocks.1.1.proj_in.weight": (320, 320, 1, 1),
            "model.diffusion_model.output_blocks.11.1.proj_in.weight": (320, 320, 1, 1),
            "model.diffusion_model.input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight": (
                320,
                768,
            ),
        },
        "is a model of SD 1.x, not a control network",
    ),
    "LoRA": (
        {"lora_unet_down_blocks_0_attentions_0_proj_in.lora_down.weight": (4, 320, 1, 1)},
        "is a LoRA, not a control network",
    ),
    "VAE": ({"decoder.conv_in.weight": (512, 4, 3, 3)}, "is a VAE, not a control network"),
    "Flux": (
        {"controlnet_blocks.0.weight": (3072, 3072)},
        "is a ControlNet of a kind that is not run",
    ),
    "else": ({"something.weight": (3,)}, "is not a control network this version knows"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_another_file_is_told_what_it_is(tmp_path: Path, kind: str) -> None:
    shapes, words = OTHERS[kind]
    arrays = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    with pytest.raises(EngineError, match=words) as caught:
        read_control_network(written(tmp_path / "a.safetensors", arrays))
    assert caught.value.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY


def test_an_upscaler_is_told_what_it_is(tmp_path: Path) -> None:
    arrays = {new_esrgan("model.1.sub.0.RDB1.conv1.0.weight"): np.zeros((8, 8, 3, 3), np.float32)}
    with pytest.raises(EngineError, match="is an upscaler, not a control network"):
        read_control_network(written(tmp_path / "a.safetensors", arrays))


def test_a_text_and_a_cut_file_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "a.safetensors"
    text.write_text("a picture of a ControlNet")
    with pytest.raises(EngineError):
        read_control_network(text)
    whole = written(tmp_path / "b.safetensors", control_net_arrays(small_control_net()))
    whole.write_bytes(whole.read_bytes()[:-100])
    with pytest.raises(EngineError):
        read_control_network(whole)


@pytest.mark.parametrize(
    "missing", ["time_embed.0.weight", "zero_convs.3.0.bias", "input_hint_block.4.weight"]
)
def test_a_missing_tensor_is_named(tmp_path: Path, missing: str) -> None:
    named = original_control_net(control_net_arrays(small_control_net()))
    del named[missing]
    with pytest.raises(EngineError) as caught:
        read_control_network(written(tmp_path / "a.safetensors", named))
    assert caught.value.code in {ErrorCode.CHECKPOINT_CORRUPT, ErrorCode.CHECKPOINT_MISMATCH}


def test_an_unknown_tensor_is_named(tmp_path: Path) -> None:
    arrays = control_net_arrays(small_control_net()) | {"more.weight": np.zeros(3, np.float32)}
    with pytest.raises(EngineError, match=r"more\.weight"):
        read_control_network(written(tmp_path / "a.safetensors", arrays))


def test_a_dot_in_a_folders_name_hides_no_kind(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "controlnet-v1.1-canny")
    network = read_control_network(folder)
    assert (network.name, network.kind) == (folder.name, ControlKind.CANNY)
