"""Freezes the keys that trainers write: names, shapes, and the layer each of them means.

Run with torch, diffusers, transformers, peft, lycoris_lora and einops on the path, and with kohya's
sd-scripts (github.com/kohya-ss/sd-scripts) unpacked in the folder named as argument:

    python -m tests.lora.freeze_layouts SD_SCRIPTS

The networks have the published sizes, on torch's `meta` device: no numbers are made. Keys come
from the trainers' own classes and functions; the layer's meaning from the module that the trainer
wrapped, or, where its names are the original ones, from diffusers' own conversion.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
# pyright: reportPrivateImportUsage=false

import json
import lzma
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from diffusers import UNet2DConditionModel
from diffusers.loaders import lora_conversion_utils as conversions
from diffusers.utils import state_dict_utils
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

FROZEN = Path(__file__).parent / "frozen" / "layouts.json.xz"
RANK = 4

# Layers as written, each with the component's name in diffusers' pipelines and the module's in it.
Layers = dict[str, str]
Keys = dict[str, list[int]]

_SD = {
    "cross_attention_dim": 768,
    "down_block_types": ("CrossAttnDownBlock2D",) * 3 + ("DownBlock2D",),
    "up_block_types": ("UpBlock2D",) + ("CrossAttnUpBlock2D",) * 3,
    "block_out_channels": (320, 640, 1280, 1280),
    "attention_head_dim": 8,
}
UNETS: dict[str, dict[str, Any]] = {
    "sd1": _SD,
    "sd2": _SD
    | {
        "cross_attention_dim": 1024,
        "attention_head_dim": (5, 10, 20, 20),
        "use_linear_projection": True,
    },
    "sdxl": {
        "cross_attention_dim": 2048,
        "down_block_types": ("DownBlock2D",) + ("CrossAttnDownBlock2D",) * 2,
        "up_block_types": ("CrossAttnUpBlock2D",) * 2 + ("UpBlock2D",),
        "block_out_channels": (320, 640, 1280),
        "attention_head_dim": (5, 10, 20),
        "transformer_layers_per_block": (1, 2, 10),
        "use_linear_projection": True,
        "addition_embed_type": "text_time",
        "addition_time_embed_dim": 256,
        "projection_class_embeddings_input_dim": 2816,
    },
}
_CLIP_L = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12}
_CLIP_H = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 23}
_CLIP_G = {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32}
TEXTS: dict[str, tuple[dict[str, int], ...]] = {
    "sd1": (_CLIP_L,),
    "sd2": (_CLIP_H,),
    "sdxl": (_CLIP_L, _CLIP_G),
}
ATTENTION = ["to_q", "to_k", "to_v", "to_out.0"]
LINEAR = [*ATTENTION, "proj_in", "proj_out", "ff.net.0.proj", "ff.net.2"]
CONVOLUTIONS = ["conv1", "conv2", "conv_shortcut", "time_emb_proj", "downsamplers.0.conv"]
TEXT = ["q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"]


def unet(family: str) -> Any:
    with torch.device("meta"):
        return UNet2DConditionModel(**UNETS[family])


def texts(family: str) -> list[Any]:
    kinds = (CLIPTextModel, CLIPTextModelWithProjection)
    with torch.device("meta"):
        return [
            kind(
                CLIPTextConfig(
                    **sizes,
                    num_attention_heads=sizes["hidden_size"] // 64,
                    projection_dim=sizes["hidden_size"],
                )
            )
            for kind, sizes in zip(kinds, TEXTS[family], strict=False)
        ]


def encoder_name(place: int) -> str:
    return "text_encoder" if place == 0 else f"text_encoder_{place + 1}"


def names_of(root: Any, component: str) -> dict[int, str]:
    """The full names of a network's modules by identity."""
    return {id(module): f"{component}.{_clip(name)}" for name, module in root.named_modules()}


def _clip(name: str) -> str:
    """A text encoder's module as files name it: transformers 5 has no `text_model.`."""
    begins = name.startswith(("encoder.layers.", "embeddings.", "final_layer_norm"))
    return f"text_model.{name}" if begins else name


# --- PEFT and diffusers ---


def peft(root: Any, targets: list[str], **options: Any) -> dict[str, Any]:
    from peft import LoraConfig, get_peft_model, get_peft_model_state_dict

    config = LoraConfig(r=RANK, target_modules=targets, init_lora_weights=False, **options)
    with torch.device("meta"):
        return get_peft_model_state_dict(get_peft_model(root, config), save_embedding_layers=False)


def peft_layouts(family: str) -> Iterator[tuple[str, Keys, Layers]]:
    found = peft(unet(family), LINEAR + CONVOLUTIONS)
    layers = {layer_of(key): canonical("unet", layer_of(key)) for key in found}
    yield "peft", shapes(found), layers
    wanted = {"unet": peft(unet(family), LINEAR + CONVOLUTIONS)}
    for place, text in enumerate(texts(family)):
        wanted[encoder_name(place)] = peft(text, TEXT)
    yield "diffusers", *joined(wanted, lambda states: states)
    yield "diffusers 0.2x", *joined(wanted, _as_diffusers)
    dora = {"unet": peft(unet(family), ATTENTION, use_dora=True)}
    yield "diffusers dora", *joined(dora, lambda states: states)


def joined(
    wanted: dict[str, dict[str, Any]], convert: Callable[[dict[str, Any]], dict[str, Any]]
) -> tuple[Keys, Layers]:
    """The states of several networks in one file, each with its component's prefix."""
    keys: Keys = {}
    layers: Layers = {}
    for component, states in wanted.items():
        plain = {key.removeprefix("base_model.model."): tensor for key, tensor in states.items()}
        for key, tensor in convert(plain).items():
            spelled = f"{component}.{_clip(key) if component != 'unet' else key}"
            keys[spelled] = list(tensor.shape)
            layers[layer_of(spelled)] = canonical(component, layer_of(key))
    return keys, layers


def _as_diffusers(states: dict[str, Any]) -> dict[str, Any]:
    kind = state_dict_utils.StateDictType.PEFT
    return state_dict_utils.convert_state_dict_to_diffusers(states, original_type=kind)


_ENDINGS = (
    ".lora_A", ".lora_B", ".lora.down", ".lora.up", ".lora_linear_layer", ".lora_magnitude_vector",
    "_lora.down", "_lora.up",
)  # fmt: skip


def layer_of(key: str) -> str:
    """The layer of a key of PEFT's or diffusers', as it is spelled."""
    for ending in _ENDINGS:
        if ending in key:
            return key[: key.index(ending)]
    return key.rsplit(".", 1)[0]


def canonical(component: str, layer: str) -> str:
    name = layer.removeprefix("base_model.model.")
    return f"{component}.{name if component == 'unet' else _clip(name)}"


# --- kohya ---


def kohya_layouts(family: str) -> Iterator[tuple[str, Keys, Layers]]:
    from library.original_unet import UNet2DConditionModel as KohyasUNet
    from library.sdxl_original_unet import SdxlUNet2DConditionModel
    from networks.lora import LoRANetwork

    with torch.device("meta"):
        if family == "sdxl":
            network: Any = SdxlUNet2DConditionModel()
        else:
            facts = UNETS[family]
            network = KohyasUNet(
                sample_size=64,
                attention_head_dim=facts["attention_head_dim"],
                cross_attention_dim=facts["cross_attention_dim"],
                use_linear_projection=facts.get("use_linear_projection", False),
                upcast_attention=False,
            )
        encoders = texts(family)
        lora = LoRANetwork(
            encoders,
            network,
            lora_dim=RANK,
            alpha=1,
            conv_lora_dim=RANK,
            conv_alpha=1,
            is_sdxl=family == "sdxl",
        )
        lora.apply_to(encoders, network)
    keys = shapes(_kohya_names(lora.state_dict()))
    states = {key: torch.zeros(shape) for key, shape in keys.items()}
    yield "kohya", keys, kohya_meanings(states, family)
    # Diffusers' first layout, as its own converter makes it.
    old, _ = _converted(states, family)
    meanings = {key: canonical_of_old(key) for key in old}
    yield "diffusers 0.1x", shapes(old), {_old_layer(key): meanings[key] for key in old}


def _kohya_names(states: dict[str, Any]) -> dict[str, Any]:
    """transformers 5 has no `text_model.`, which files have."""
    found: dict[str, Any] = {}
    for key, tensor in states.items():
        prefix, encoder, rest = key.partition("_encoder_layers_")
        whole = encoder and key.startswith("lora_te") and not prefix.endswith("_text_model")
        found[f"{prefix}_text_model{encoder}{rest}" if whole else key] = tensor
    return found


def _converted(states: dict[str, Any], family: str) -> tuple[dict[str, Any], dict[str, Any]]:
    facts = types.SimpleNamespace(layers_per_block=2)
    mapped = conversions._maybe_map_sgm_blocks_to_diffusers(dict(states), facts)
    return conversions._convert_non_diffusers_lora_to_diffusers(mapped)


def kohya_meanings(states: dict[str, Any], family: str) -> Layers:
    """The meaning of each of kohya's layers: diffusers converts a file that marks each of them."""
    ups = [key for key in states if key.endswith(".lora_up.weight")]
    marked = dict(states)
    for number, key in enumerate(ups):
        marked[key] = torch.full((1, 1), float(number))
    converted, _ = _converted(marked, family)
    meaning = {
        int(tensor.item()): canonical_of_old(key)
        for key, tensor in converted.items()
        if ".up." in key
    }
    return {key.split(".", 1)[0]: meaning[number] for number, key in enumerate(ups)}


def canonical_of_old(key: str) -> str:
    component, _, rest = key.partition(".")
    if component == "unet":
        (peft_key,) = state_dict_utils.convert_unet_state_dict_to_peft({rest: 0})
    else:
        (peft_key,) = state_dict_utils.convert_state_dict_to_peft(
            {rest: 0, "to_out_lora": 0}, original_type=state_dict_utils.StateDictType.DIFFUSERS_OLD
        ).keys() - {"to_out_lora"}
    return f"{component}.{layer_of(peft_key)}"


def _old_layer(key: str) -> str:
    return layer_of(key)


# --- LyCORIS ---

ALGORITHMS: dict[str, dict[str, Any]] = {
    "lora": {"train_norm": True},
    "lora tucker": {"algo": "lora", "use_tucker": True, "use_scalar": True},
    "loha": {"use_tucker": True},
    "lokr": {"factor": 8},
    "ia3": {},
    "glora": {},
    "full": {"train_norm": True},
    "lora dora": {"algo": "lora", "dora_wd": True},
    "lora dora inputs": {"algo": "lora", "dora_wd": True, "wd_on_output": False},
    "diag-oft": {"rescaled": True},
    "boft": {"rescaled": True},
    "dylora": {"block_size": 1},
}


def lycoris_layouts(family: str) -> Iterator[tuple[str, Keys, Layers]]:
    from lycoris import create_lycoris
    from lycoris.config import PRESET
    from lycoris.kohya import create_network

    # LyCORIS 4.1.3 names the layers of this kind of module twice, and then refuses itself.
    modules = PRESET["full"]["unet_target_module"]
    PRESET["full"]["unet_target_module"] = [
        module for module in modules if module != "TimestepEmbedding"
    ]

    for name in ALGORITHMS if family == "sd1" else ("lora", "lokr"):
        options = ALGORITHMS[name]
        chosen = {"algo": name} | options
        root, encoders = unet(family), texts(family)
        # BOFT's factors must be twice an odd divisor of each width.
        rank = 16 if name == "boft" else RANK
        network = create_network(1, rank, 1, None, encoders, root, **chosen)
        network.apply_to(encoders, root, True, True)
        whole = names_of(root, "unet")
        for place, encoder in enumerate(encoders):
            whole |= names_of(encoder, encoder_name(place))
        layers = {
            _kohya_name(lora.lora_name): whole[id(lora.org_module[0])] for lora in network.loras
        }
        yield f"lycoris {name}", shapes(_kohya_names(network.state_dict())), layers
    root = unet(family)
    wrapper = create_lycoris(root, 1.0, RANK, 1, algo="lokr", factor=8)
    wrapper.apply_to()
    whole = names_of(root, "unet")
    layers = {lora.lora_name: whole[id(lora.org_module[0])] for lora in wrapper.loras}
    yield "lycoris wrapper", shapes(wrapper.state_dict()), layers


def _kohya_name(name: str) -> str:
    (found,) = _kohya_names({name: None})
    return found


def shapes(states: dict[str, Any]) -> Keys:
    return {key: list(tensor.shape) for key, tensor in states.items()}


def main(scripts: str) -> None:
    # Kohya's own library.utils needs packages that nothing here uses.
    logs = types.ModuleType("library.utils")
    logs.setup_logging = lambda *_, **__: None  # type: ignore[attr-defined]
    sys.path.insert(0, scripts)
    sys.modules["library.utils"] = logs
    # LyCORIS's module of whole differences copies the weight, which has no numbers here.
    torch.Tensor.cpu = lambda tensor: tensor  # type: ignore[method-assign]
    layouts: dict[str, dict[str, Any]] = {}
    for family in UNETS:
        for make in (peft_layouts, kohya_layouts, lycoris_layouts):
            for name, keys, layers in make(family):
                print(family, name, len(keys), len(layers))  # noqa: T201
                layouts[f"{family}: {name}"] = {"keys": keys, "layers": layers}
    FROZEN.parent.mkdir(exist_ok=True)
    text = json.dumps(layouts, separators=(",", ":"))
    parts = {"lora_up.weight": torch.ones(8, 2), "lora_down.weight": torch.ones(2, 6)}
    parts["alpha"] = torch.tensor(1.0)
    torch.save({f"lora_unet_a.{part}": parts[part] for part in parts}, FROZEN.parent / "lora.pt")
    FROZEN.write_bytes(lzma.compress(text.encode(), preset=9))


if __name__ == "__main__":
    main(sys.argv[1])
