"""Pictures by control-LoRAs of Flux.1 beside diffusers', which widens dev's first layer."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:Already found a `peft_config` attribute:UserWarning"),
]
pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
pytest.importorskip("peft")

from backends.base import Array  # noqa: E402
from engine.api.control import ControlLayer  # noqa: E402
from engine.api.lora import LoraChoice, LoraMode  # noqa: E402
from engine.families import Component, identify  # noqa: E402
from engine.lora.folder import LoraLookup  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.oracle.diffusers_pictures import check, opened, our_pixels, their_pixels  # noqa: E402
from tests.oracle.flow_loras import RANK, STRENGTH, load  # noqa: E402
from tests.oracle.flow_pictures import asked, write_map  # noqa: E402
from tests.oracle.flux_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

OURS, THEIRS = asked(steps=4, guidance=10.0)
CHANNELS = 128
_QKV = "to_q", "to_k", "to_v"
_ADDED = "add_q_proj", "add_k_proj", "add_v_proj"
# The original layers of a block, each with diffusers' layers that it joins.
_DOUBLE = {
    "img_mod.lin": ("norm1.linear",),
    "txt_mod.lin": ("norm1_context.linear",),
    "img_attn.qkv": tuple(f"attn.{layer}" for layer in _QKV),
    "txt_attn.qkv": tuple(f"attn.{layer}" for layer in _ADDED),
    "img_attn.proj": ("attn.to_out.0",),
    "txt_attn.proj": ("attn.to_add_out",),
    "img_mlp.0": ("ff.net.0.proj",),
    "img_mlp.2": ("ff.net.2",),
    "txt_mlp.0": ("ff_context.net.0.proj",),
    "txt_mlp.2": ("ff_context.net.2",),
}
_SINGLE = {
    "modulation.lin": ("norm.linear",),
    "linear1": (*(f"attn.{layer}" for layer in _QKV), "proj_mlp"),
    "linear2": ("proj_out",),
}
_NORMS = {
    "img_attn.norm.query_norm": "attn.norm_q",
    "img_attn.norm.key_norm": "attn.norm_k",
    "txt_attn.norm.query_norm": "attn.norm_added_q",
    "txt_attn.norm.key_norm": "attn.norm_added_k",
}
_SINGLE_NORMS = {"norm.query_norm": "attn.norm_q", "norm.key_norm": "attn.norm_k"}
_EMBEDDERS = {"time_in": "timestep", "vector_in": "text", "guidance_in": "guidance"}


def layers() -> dict[str, tuple[str, ...]]:
    """The original layers of two double and two single blocks, and all others."""
    found: dict[str, tuple[str, ...]] = {"img_in": ("x_embedder",)}
    found["txt_in"] = ("context_embedder",)
    found["final_layer.linear"] = ("proj_out",)
    for original, name in _EMBEDDERS.items():
        stem = f"time_text_embed.{name}_embedder.linear_"
        found |= {f"{original}.in_layer": (f"{stem}1",), f"{original}.out_layer": (f"{stem}2",)}
    for kind, own, named in (
        ("double_blocks", "transformer_blocks", _DOUBLE),
        ("single_blocks", "single_transformer_blocks", _SINGLE),
    ):
        for block in range(2):
            for original, parts in named.items():
                inner = tuple(f"{own}.{block}.{part}" for part in parts)
                found[f"{kind}.{block}.{original}"] = inner
    return found


def norms() -> dict[str, str]:
    found = {}
    for block in range(2):
        for original, own in _NORMS.items():
            found[f"double_blocks.{block}.{original}"] = f"transformer_blocks.{block}.{own}"
        for original, own in _SINGLE_NORMS.items():
            name = f"single_transformer_blocks.{block}.{own}"
            found[f"single_blocks.{block}.{original}"] = name
    return found


def files(folder: Path) -> dict[str, dict[str, Array]]:
    """A control-LoRA as Black Forest Labs and as diffusers write it."""
    weights = identify(folder).components[Component.DENOISER].weights
    random, bfl, own = np.random.default_rng(1), {}, {}

    def drawn(*shape: int) -> Array:
        return random.standard_normal(shape).astype(np.float32)

    for original, parts in layers().items():
        shapes = [weights[f"{part}.weight"].shape for part in parts]
        into = CHANNELS if original == "img_in" else shapes[0][1]
        size = 3.0 if original == "img_in" else 0.3  # so that the map shows
        down = size * drawn(RANK, into) / np.float32(np.sqrt(RANK * into))
        ups, biases = zip(*((drawn(out, RANK), 0.1 * drawn(out)) for out, _ in shapes), strict=True)
        bfl[f"{original}.lora_A.weight"] = down
        bfl[f"{original}.lora_B.weight"] = np.concatenate(ups)
        bfl[f"{original}.lora_B.bias"] = np.concatenate(biases)
        for part, up, bias in zip(parts, ups, biases, strict=True):
            name = f"transformer.{part}"
            own |= {f"{name}.lora_A.weight": down, f"{name}.lora_B.weight": up}
            own[f"{name}.lora_B.bias"] = bias
    for original, name in norms().items():
        scale = 1 + 0.3 * drawn(*weights[f"{name}.weight"].shape)
        bfl[f"{original}.scale"] = own[f"transformer.{name}.weight"] = scale
    return {"bfl": bfl, "diffusers": own}


@pytest.fixture(scope="module")
def dev(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("dev"))


@pytest.fixture(scope="module")
def loras(dev: Path, tmp_path_factory) -> dict[str, Path]:
    folder, found = tmp_path_factory.mktemp("loras"), {}
    for name, arrays in files(dev).items():
        found[name] = folder / f"{name}-depth-lora.safetensors"
        write_arrays(found[name], arrays)
    return found


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> Path:
    return write_map(tmp_path_factory.mktemp("map") / "map.png", is_grey=True)


def ours(dev: Path, lora: Path, shown: Path, mode: LoraMode = LoraMode.MERGE, **changes) -> Array:
    choice = LoraChoice(file=str(lora), strength=STRENGTH)
    layer = ControlLayer(image=str(shown))
    given = {**OURS, "loras": (choice,), "lora_mode": mode, "controls": (layer,), **changes}
    return our_pixels(dev, lookup=LoraLookup(()), **given)


def test_pictures_with_a_control_lora_equal_diffusers(
    dev: Path, loras: dict[str, Path], shown: Path, tmp_path: Path
) -> None:
    pipe = opened(diffusers.FluxControlPipeline, dev)
    path = loras["diffusers"]
    load(pipe, path)
    expected = their_pixels(pipe, **THEIRS, control_image=Image.open(shown))
    for lora in loras.values():
        for mode in (LoraMode.MERGE, LoraMode.SIDE):
            check(ours(dev, lora, shown, mode), expected)
    Image.new("RGB", (64, 64)).save(tmp_path / "black.png")
    assert psnr(ours(dev, path, tmp_path / "black.png"), expected) < 45
