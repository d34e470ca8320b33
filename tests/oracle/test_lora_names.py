"""Each layer of a LoRA file is placed where diffusers' own loaders place it, in every dialect."""
# pyright: basic, reportMissingImports=false
# torch, diffusers, transformers and peft are absent from the environment that is type-checked.

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.checkpoints.files import read_index
from engine.families import Component, IdentifiedCheckpoint, identify
from engine.families.lora_purpose import fit_lora
from engine.lora.file import read_lora
from engine.weights.sources import as_source
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import SMALL_CLIP, SMALL_OPEN_CLIP, SMALL_SDXL, SMALL_UNET, SMALL_VAE

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
transformers = pytest.importorskip("transformers")
pytest.importorskip("peft")
safetensors_torch = pytest.importorskip("safetensors.torch")
loaders = pytest.importorskip("diffusers.loaders")

from tests.oracle.test_checkpoint_layouts import unet_config  # noqa: E402

RANK = 3
UNETS = {
    "sd1": replace(SMALL_UNET, blocks=2),
    "sdxl": replace(SMALL_SDXL, multipliers=(1, 2, 3), depths=(0, 1, 2)),
}
LOADERS = {
    "sd1": "StableDiffusionLoraLoaderMixin",
    "sdxl": "StableDiffusionXLLoraLoaderMixin",
}
# A layer's place: (component, canonical name).
Places = dict[tuple[str, str], tuple[Any, Any]]


def checkpoint(family: str, path: Path) -> IdentifiedCheckpoint:
    if family == "sd1":
        listing = listings.original(UNETS[family], SMALL_VAE, SMALL_CLIP)
    else:
        listing = listings.sdxl(UNETS[family], SMALL_VAE, SMALL_CLIP, SMALL_OPEN_CLIP)
    return identify(write_sparse(path, listing))


def unet(family: str) -> Any:
    sizes = UNETS[family]
    deep = family == "sdxl"
    config = unet_config(sizes) | {
        "transformer_layers_per_block": [max(1, depth) for depth in sizes.depths],
        "use_linear_projection": sizes.linear,
        "addition_embed_type": "text_time" if deep else None,
        "addition_time_embed_dim": 16 if deep else None,
        "projection_class_embeddings_input_dim": sizes.added or None,
    }
    return diffusers.UNet2DConditionModel(**config)


def text_encoder() -> Any:
    config = transformers.CLIPTextConfig(
        vocab_size=100,
        hidden_size=SMALL_CLIP.width,
        intermediate_size=4 * SMALL_CLIP.width,
        num_hidden_layers=SMALL_CLIP.layers,
        num_attention_heads=4,
    )
    return transformers.CLIPTextModel(config)


def factors(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Random factors of a layer's weight, as kohya shapes them: a convolution's keep its kernel."""
    kernel, ones = shape[2:], (1,) * len(shape[2:])
    return torch.randn(RANK, shape[1], *kernel), torch.randn(shape[0], RANK, *ones)


def shapes_of(network: Any, only: Callable[[str], bool]) -> dict[str, tuple[int, ...]]:
    """The matrices and kernels of a network by its layers' names."""
    return {
        name.removesuffix(".weight"): tuple(weight.shape)
        for name, weight in network.named_parameters()
        if weight.ndim in (2, 4) and name.endswith(".weight") and only(name)
    }


def kohya(prefix: str, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Kohya's keys without alpha, which diffusers 0.42 with peft 0.21 loses for attention."""
    states: dict[str, Any] = {}
    for layer, shape in shapes.items():
        name = prefix + layer.replace(".", "_")
        down, up = factors(shape)
        states[f"{name}.lora_down.weight"], states[f"{name}.lora_up.weight"] = down, up
    return states


def peft_names(prefix: str, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    states: dict[str, Any] = {}
    for layer, shape in shapes.items():
        down, up = factors(shape)
        states[f"{prefix}{layer}.lora_A.weight"] = down
        states[f"{prefix}{layer}.lora_B.weight"] = up
    return states


def original_shapes(family: str) -> dict[str, tuple[int, ...]]:
    """The UNet's layers under their original names."""
    listing = listings.ldm_unet(UNETS[family])
    return {
        name.removesuffix(".weight"): shape
        for name, shape in listing.items()
        if len(shape) in (2, 4) and name.endswith(".weight")
    }


def ours(states: dict[str, Any], family: str, tmp_path: Path) -> Places:
    """The factors of each layer, by the place that we find for it."""
    path = tmp_path / "lora.safetensors"
    safetensors_torch.save_file({key: tensor.contiguous() for key, tensor in states.items()}, path)
    fitted = fit_lora(
        read_lora(read_index(path)), checkpoint(family, tmp_path / "checkpoint.safetensors")
    )
    assert fitted.unused == ()
    found: Places = {}
    for module in fitted.modules:
        parts = {name: as_source(part).read() for name, part in module.module.tensors.items()}
        place = (module.target.component, module.target.layer)
        found[place] = parts["lora_down.weight"], parts["lora_up.weight"]
    return found


def theirs(network: Any, component: Component) -> Places:
    """The same of a network that diffusers loaded a LoRA into."""
    found: Places = {}
    for name, module in network.named_modules():
        if not getattr(module, "lora_A", None):
            continue
        begins = component is not Component.DENOISER and name.startswith("encoder.")
        layer = f"text_model.{name}" if begins else name
        (adapter,) = module.lora_A
        down, up = module.lora_A[adapter].weight, module.lora_B[adapter].weight
        assert module.scaling[adapter] == 1
        found[(component, layer)] = down.detach().numpy(), up.detach().numpy()
    return found


def loaded(states: dict[str, Any], family: str) -> Places:
    """The places at which diffusers' own loader puts a UNet's layers."""
    loader = getattr(loaders, LOADERS[family])
    network = unet(family)
    converted, alphas = loader.lora_state_dict(dict(states), unet_config=network.config)[:2]
    loader.load_lora_into_unet(converted, alphas, network)
    return theirs(network, Component.DENOISER)


def assert_same(mine: Places, other: Places) -> None:
    assert set(mine) == set(other)
    for place, (down, up) in other.items():
        assert np.array_equal(mine[place][0], down), place
        assert np.array_equal(mine[place][1], up), place


def everything(_: str) -> bool:
    return True


@pytest.mark.parametrize("family", UNETS)
def test_kohyas_diffusers_names_lead_where_diffusers_puts_them(family: str, tmp_path: Path) -> None:
    # Diffusers' converter does not know the layers of added embeddings by these names.
    shapes = shapes_of(unet(family), lambda name: not name.startswith("add_embedding"))
    states = kohya("lora_unet_", shapes)
    assert_same(ours(states, family, tmp_path), loaded(states, family))


def test_kohyas_original_names_lead_where_diffusers_puts_them(tmp_path: Path) -> None:
    states = kohya("lora_unet_", original_shapes("sdxl"))
    assert_same(ours(states, "sdxl", tmp_path), loaded(states, "sdxl"))


@pytest.mark.parametrize("family", UNETS)
def test_peft_names_lead_where_diffusers_puts_them(family: str, tmp_path: Path) -> None:
    states = peft_names("unet.", shapes_of(unet(family), everything))
    assert_same(ours(states, family, tmp_path), loaded(states, family))


@pytest.mark.parametrize("family", UNETS)
def test_names_of_diffusers_first_files(family: str, tmp_path: Path) -> None:
    shapes = shapes_of(unet(family), lambda name: ".to_" in name)
    states: dict[str, Any] = {}
    for layer, shape in shapes.items():
        attention, _, projection = layer.removesuffix(".0").rpartition(".")
        down, up = factors(shape)
        states[f"unet.{attention}.processor.{projection}_lora.down.weight"] = down
        states[f"unet.{attention}.processor.{projection}_lora.up.weight"] = up
    assert_same(ours(states, family, tmp_path), loaded(states, family))


def test_kohyas_names_cover_the_text_encoder(tmp_path: Path) -> None:
    network = text_encoder()
    shapes = shapes_of(network, lambda name: "layers" in name)
    whole = {
        f"text_model.{name.removeprefix('text_model.')}": shape for name, shape in shapes.items()
    }
    states = kohya("lora_te_", whole)
    mine = ours(states, "sd1", tmp_path)
    assert {layer for _, layer in mine} == set(whole)
    for (component, layer), (down, up) in mine.items():
        assert component == Component.TEXT_ENCODER
        name = "lora_te_" + layer.replace(".", "_")
        assert np.array_equal(down, states[f"{name}.lora_down.weight"])
        assert np.array_equal(up, states[f"{name}.lora_up.weight"])
    loader = loaders.StableDiffusionLoraLoaderMixin
    converted, alphas = loader.lora_state_dict(dict(states))[:2]
    loader.load_lora_into_text_encoder(converted, alphas, network)
    assert_same(mine, theirs(network, Component.TEXT_ENCODER))


@pytest.mark.parametrize("rslora", [False, True])
def test_alpha_of_saved_metadata(rslora: bool, tmp_path: Path) -> None:
    from peft import LoraConfig, get_peft_model_state_dict

    network, family = unet("sd1"), "sd1"
    config = LoraConfig(
        r=RANK,
        lora_alpha=7,
        target_modules=["to_q", "to_k"],
        alpha_pattern={"attn2.to_k": 2},
        use_rslora=rslora,
        init_lora_weights=False,
    )
    network.add_adapter(config)
    wanted = {
        name: module.scaling["default"]
        for name, module in network.named_modules()
        if getattr(module, "lora_A", None)
    }
    diffusers.StableDiffusionPipeline.save_lora_weights(
        tmp_path,
        unet_lora_layers=get_peft_model_state_dict(network),
        unet_lora_adapter_metadata=network.peft_config["default"].to_dict(),
    )
    file = read_lora(read_index(tmp_path / "pytorch_lora_weights.safetensors"))
    fitted = fit_lora(file, checkpoint(family, tmp_path / "checkpoint.safetensors"))
    found = {module.target.layer: module.module.stated_scale for module in fitted.modules}
    assert found == pytest.approx(wanted)
    assert len(set(found.values())) == 2
