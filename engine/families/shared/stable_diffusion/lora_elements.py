"""The names that A1111 gives to the layers of Stable Diffusion, as its extensions see them.

Reference: A1111 `extensions-builtin/Lora/networks.py`, `convert_diffusers_name_to_compvis`,
`assign_network_names_to_compvis_modules`.
"""

import re
from collections.abc import Callable
from functools import cache

from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.unet.blocks import block_of
from engine.families.shared.unet.original_names import original_layers
from engine.lora.layers import spelled
from engine.text.lora_blocks import BASE

_TEXTS = (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2)
_EMBEDDING = "text_model.embeddings.token_embedding.weight"
# The width of the only text encoder whose names are not OpenCLIP's.
_WIDTH_OF_CLIP_L = 768
_LAYER = re.compile(r"text_model_encoder_layers_(\d+)_(.+)")
_OPEN_CLIP = (("mlp_fc1", "mlp_c_fc"), ("mlp_fc2", "mlp_c_proj"), ("self_attn", "attn"))


def lora_block(component: str, layer: str) -> str | None:
    """Return the block of a component's layer, for weights by block; None for what is in none."""
    return block_of(layer) if component == Component.DENOISER.value else BASE


def element_names(checkpoint: IdentifiedCheckpoint) -> Callable[[str, str], str]:
    """Return the function from a component and its layer's canonical name to A1111's name."""
    texts = [component for component in _TEXTS if component in checkpoint.components]

    @cache
    def denoiser() -> dict[str, str]:
        names = checkpoint.components[Component.DENOISER].weights
        return original_layers([name.removesuffix(".weight") for name in names])

    @cache
    def beginning(component: str) -> str:
        # SDXL's text encoders are a list there.
        several = Component.TEXT_ENCODER_2 in texts
        place = f"{texts.index(Component(component))}_" if several else ""
        return place + ("transformer_" if is_clip_l(component) else "model_transformer_")

    @cache
    def is_clip_l(component: str) -> bool:
        table = checkpoint.components[Component(component)].weights.get(_EMBEDDING)
        return table is None or table.shape[-1] == _WIDTH_OF_CLIP_L

    def name(component: str, layer: str) -> str:
        if component == Component.DENOISER.value:
            return f"diffusion_model_{spelled(denoiser().get(layer, layer))}"
        inner = spelled(layer)
        found = None if is_clip_l(component) else _LAYER.fullmatch(inner)
        if found:
            inner = f"resblocks_{found[1]}_{found[2]}"
            for ours, original in _OPEN_CLIP:
                inner = inner.replace(ours, original)
        return beginning(component) + inner

    return name
