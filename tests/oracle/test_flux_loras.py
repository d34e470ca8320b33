"""Pictures of Flux.1 with LoRAs of several dialects beside diffusers' `load_lora_weights`."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:Already found a `peft_config` attribute:UserWarning"),
]
pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
pytest.importorskip("peft")

from backends.base import Array  # noqa: E402
from engine.api.lora import LoraMode  # noqa: E402
from engine.families import Component, identify  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.oracle.diffusers_pictures import check, opened  # noqa: E402
from tests.oracle.flow_loras import RANK, Pair, check_lora, drawn, kohya, our_picture, peft  # noqa: E402
from tests.oracle.flow_pictures import asked  # noqa: E402
from tests.oracle.flux_folder import write_pipeline  # noqa: E402
from tests.oracle.sdxl_folder import NARROW  # noqa: E402

OURS, THEIRS = asked(steps=4, guidance=3.5)
# Layers with a name of their own in both layouts, and those that kohya's files join.
_MODULATED = {"norm1.linear": "img_mod_lin", "norm1_context.linear": "txt_mod_lin"}
_WIDE = {
    "ff.net.0.proj": "img_mlp_0",
    "ff.net.2": "img_mlp_2",
    "ff_context.net.0.proj": "txt_mlp_0",
    "ff_context.net.2": "txt_mlp_2",
    "attn.to_out.0": "img_attn_proj",
    "attn.to_add_out": "txt_attn_proj",
}
_JOINED = {
    ("attn.to_q", "attn.to_k", "attn.to_v"): "img_attn_qkv",
    ("attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj"): "txt_attn_qkv",
}
_XLABS = {
    "img_attn_qkv": "qkv_lora1",
    "txt_attn_qkv": "qkv_lora2",
    "img_attn_proj": "proj_lora1",
    "txt_attn_proj": "proj_lora2",
}


@pytest.fixture(scope="module")
def dev(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("dev"))


@pytest.fixture(scope="module")
def changes(dev: Path) -> dict[str, Pair]:
    """Factors `up` and `down` for each linear layer of the transformer, by diffusers' names.

    Parts of what kohya joins share their factor `down`, as a file of that dialect has it.
    """
    random, found = np.random.default_rng(1), {}
    for name, weight in identify(dev).components[Component.DENOISER].weights.items():
        layer = name.removesuffix(".weight")
        if layer == name or len(weight.shape) < 2 or layer.startswith(("time", "norm_out")):
            continue
        up, down = drawn(random, weight.shape)
        first = next((query for query in ("to_q", "add_q_proj") if "attn" in layer), None)
        shared = _first_of(layer) if first else layer
        found[layer] = up, found[shared][1] if shared in found else down
    return found


def _first_of(layer: str) -> str:
    """The layer whose factor `down` is that of all layers that are joined with it."""
    block, _, leaf = layer.rpartition(".")
    if leaf in ("to_k", "to_v"):
        return f"{block}.to_q"
    return f"{block}.add_q_proj" if leaf in ("add_k_proj", "add_v_proj") else layer


def with_clip(changes: dict[str, Pair]) -> dict[str, Array]:
    """A file as diffusers saves it, with layers of CLIP beside the transformer's."""
    arrays = peft(changes)
    up, down = changes["transformer_blocks.0.attn.to_q"]
    for part in "qv":
        name = f"text_encoder.text_model.encoder.layers.0.self_attn.{part}_proj"
        arrays[f"{name}.lora_B.weight"] = np.resize(up, (NARROW, RANK))
        arrays[f"{name}.lora_A.weight"] = np.resize(down, (RANK, NARROW))
    return arrays


def by_original_names(changes: dict[str, Pair]) -> dict[str, Pair]:
    """The changes of the blocks under the original names, with `_` for each dot.

    The first layer of a single block is left out: diffusers reads it in Flux.1's size alone.
    """
    found = {}
    for block in range(2):
        name, own = f"double_blocks_{block}", f"transformer_blocks.{block}"
        for leaf, original in (_MODULATED | _WIDE).items():
            found[f"{name}_{original}"] = changes[f"{own}.{leaf}"]
        for parts, original in _JOINED.items():
            pairs = [changes[f"{own}.{part}"] for part in parts]
            found[f"{name}_{original}"] = np.concatenate([up for up, _ in pairs]), pairs[0][1]
        single = f"single_transformer_blocks.{block}"
        found[f"single_blocks_{block}_linear2"] = changes[f"{single}.proj_out"]
        found[f"single_blocks_{block}_modulation_lin"] = changes[f"{single}.norm.linear"]
    return found


def by_kohya(changes: dict[str, Pair]) -> dict[str, Array]:
    return kohya(by_original_names(changes))


def xlabs(changes: dict[str, Pair]) -> dict[str, Array]:
    """A file of xlabs, which changes the attention alone."""
    arrays, found = {}, by_original_names(changes)
    for block in range(2):
        for original, other in _XLABS.items():
            up, down = found[f"double_blocks_{block}_{original}"]
            name = f"double_blocks.{block}.processor.{other}"
            arrays |= {f"{name}.up.weight": up, f"{name}.down.weight": down}
        single = f"single_transformer_blocks.{block}"
        pairs = [changes[f"{single}.attn.to_{part}"] for part in "qkv"]
        name = f"single_blocks.{block}.processor"
        arrays[f"{name}.qkv_lora.up.weight"] = np.concatenate([up for up, _ in pairs])
        arrays[f"{name}.qkv_lora.down.weight"] = pairs[0][1]
        up, down = changes[f"{single}.proj_out"]
        arrays |= {f"{name}.proj_lora.up.weight": up, f"{name}.proj_lora.down.weight": down}
    return arrays


@pytest.mark.parametrize("dialect", [with_clip, by_kohya, xlabs])
def test_pictures_with_a_lora_equal_diffusers(dev: Path, changes, tmp_path: Path, dialect) -> None:
    path = tmp_path / "lora.safetensors"
    write_arrays(path, dialect(changes))
    check_lora(opened(diffusers.FluxPipeline, dev), dev, path, OURS, THEIRS)


def test_openvinos_picture_with_a_lora_equals_the_processors(
    dev: Path, changes, tmp_path: Path
) -> None:
    path = tmp_path / "lora.safetensors"
    write_arrays(path, with_clip(changes))
    expected = our_picture(dev, path, LoraMode.MERGE, **OURS)
    for mode in (LoraMode.MERGE, LoraMode.SIDE):
        check(our_picture(dev, path, mode, "intel_openvino", **OURS), expected)
