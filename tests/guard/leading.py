"""A ControlNet, an IP-Adapter and a vision encoder for the guard's Stable Diffusion 1."""

import json
from itertools import pairwise
from pathlib import Path

from tests.families.listings import SMALL_UNET, Listing, affine, ldm_unet
from tests.guard.weights import drawn, write_safetensors

# The channels of a map's embedding: one halving, as a latent's cell has two pixels a side.
_MAP_WIDTHS = (4, 4, 8)
# Encoder: its width, its layers, the side of a picture and of a patch, and its projection.
_WIDTH, _LAYERS, _SIDE, _PATCH, _PROJECTED = 64, 3, 28, 7, 40
_TOKENS = 4
# The layers that attend to the text, on the way down, up and in the middle.
_ATTENDING = (64, 96, 96, 96, 64, 64, 96)


def write_control_net(path: Path) -> None:
    """Write a ControlNet as its authors do."""
    unet = ldm_unet(SMALL_UNET)
    names = {name: shape for name, shape in unet.items() if not name.startswith("out")}
    widths = [SMALL_UNET.width]
    for level, multiplier in enumerate(SMALL_UNET.multipliers):
        halves = level < len(SMALL_UNET.multipliers) - 1
        widths += [SMALL_UNET.width * multiplier] * (SMALL_UNET.blocks + halves)
    for place, width in enumerate(widths):
        names |= affine(f"zero_convs.{place}.0", width, width, 1, 1)
    names |= affine("middle_block_out.0", widths[-1], widths[-1], 1, 1)
    channels = (3, *_MAP_WIDTHS, SMALL_UNET.width)
    for place, (before, after) in enumerate(pairwise(channels)):
        names |= affine(f"input_hint_block.{2 * place}", after, before, 3, 3)
    prefixed = {f"control_model.{name}": shape for name, shape in names.items()}
    write_safetensors(path, drawn(prefixed, 3))


def write_adapter(path: Path) -> None:
    """Write an IP-Adapter of four tokens."""
    context = SMALL_UNET.context
    names = affine("image_proj.proj", _TOKENS * context, _PROJECTED)
    names |= affine("image_proj.norm", context)
    for place, width in enumerate(_ATTENDING):
        for part in "kv":
            names[f"ip_adapter.{2 * place + 1}.to_{part}_ip.weight"] = (width, context)
    write_safetensors(path, drawn(names, 4))


def write_encoder(folder: Path) -> None:
    """Write a vision encoder as transformers does."""
    folder.mkdir()
    settings = {
        "model_type": "clip_vision_model",
        "hidden_size": _WIDTH,
        "hidden_act": "quick_gelu",
        "num_attention_heads": 4,
    }
    (folder / "config.json").write_text(json.dumps(settings))
    write_safetensors(folder / "model.safetensors", drawn(_vision(), 5))


def _vision() -> Listing:
    root = "vision_model"
    names: Listing = {
        f"{root}.embeddings.class_embedding": (_WIDTH,),
        f"{root}.embeddings.patch_embedding.weight": (_WIDTH, 3, _PATCH, _PATCH),
        f"{root}.embeddings.position_embedding.weight": ((_SIDE // _PATCH) ** 2 + 1, _WIDTH),
        "visual_projection.weight": (_PROJECTED, _WIDTH),
    }
    names |= affine(f"{root}.pre_layrnorm", _WIDTH) | affine(f"{root}.post_layernorm", _WIDTH)
    for place in range(_LAYERS):
        layer = f"{root}.encoder.layers.{place}"
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            names |= affine(f"{layer}.self_attn.{part}", _WIDTH, _WIDTH)
        for part in ("layer_norm1", "layer_norm2"):
            names |= affine(f"{layer}.{part}", _WIDTH)
        names |= affine(f"{layer}.mlp.fc1", 96, _WIDTH) | affine(f"{layer}.mlp.fc2", _WIDTH, 96)
    return names
