"""The blocks of transformers like Flux.1's, and the names of layers, for LoRAs' weights by block.

As sd-webui-lora-block-weight has them (`scripts/lora_block_weight.py`, `get_flux_blocks`), which
sees the layers under their original names.
"""

from collections.abc import Callable, Mapping
from functools import cache

from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.flow.lora_layers import OriginalNames, targets_of
from engine.lora.layers import spelled

_BLOCKS = {"transformer_blocks": "D", "single_transformer_blocks": "S"}
# Beginnings of names whose original ones have "_in" or "final_layer", as the extension looks for.
_IN = ("x_embedder", "context_embedder", "time_text_embed", "distilled_guidance_layer.in_proj")
_OUT = ("norm_out", "proj_out")
_FIRST_LINEAR = ".linear_1"
_KEYS = {"CLIP": "clip_l_transformer_", "T5": "t5xxl_transformer_"}

# The encoders of a family, by component, each CLIP or T5.
Texts = Mapping[Component, str]


def block_namer(texts: Texts) -> Callable[[str, str], str | None]:
    """Return the function from a component and its layer's canonical name to the layer's block."""

    def block(component: str, layer: str) -> str | None:
        if component != Component.DENOISER.value:
            return texts.get(Component(component))
        top, _, rest = layer.partition(".")
        if top in _BLOCKS:
            return f"{_BLOCKS[top]}{rest.partition('.')[0].zfill(2)}"
        if layer.startswith(_OUT):
            return "OUT"
        return "IN" if layer.startswith(_IN) or layer.endswith(_FIRST_LINEAR) else None

    return block


def element_namer(
    checkpoint: IdentifiedCheckpoint, original: OriginalNames, texts: Texts
) -> Callable[[str, str], str]:
    """Return the function from a component and its layer's canonical name to the extension's."""

    @cache
    def denoiser() -> dict[str, str]:
        names: dict[str, str] = {}
        for name, targets in original.of(targets_of(checkpoint, Component.DENOISER)):
            for target in targets:
                # A joined layer comes before its numbered parts.
                names.setdefault(target.layer, name)
        return names

    def name(component: str, layer: str) -> str:
        if component == Component.DENOISER.value:
            return f"diffusion_model_{spelled(denoiser().get(layer, layer))}"
        return _KEYS.get(texts.get(Component(component), ""), "") + spelled(layer)

    return name
