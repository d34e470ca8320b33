"""The layers of Stable Diffusion 3 under the names of LoRA files' dialects."""

from collections.abc import Mapping

from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.sd3.keys import JOINED, LAYERS, MODULES
from engine.families.shared.clip.lora_names import clip_names
from engine.families.shared.flow.lora_layers import (
    CLIP_L_PREFIXES,
    EncoderNames,
    OriginalNames,
    halves,
    layer_table,
    numbered_prefixes,
    own_names,
    t5_prefixes,
)
from engine.lora.layers import LayerTable, Target

_ORIGINAL = OriginalNames(
    MODULES,
    LAYERS,
    {
        f".{attention}{joint}": tuple(f".{attention}{part}" for part in parts)
        for attention in ("attn", "attn2")
        for joint, parts in JOINED.items()
    },
)
_ENCODERS = {
    Component.TEXT_ENCODER: EncoderNames(CLIP_L_PREFIXES, clip_names),
    Component.TEXT_ENCODER_2: EncoderNames(numbered_prefixes(2, "clip_g"), clip_names),
    Component.TEXT_ENCODER_3: EncoderNames(t5_prefixes(), own_names),
}
# The modulations whose halves are in opposite order in the two layouts, by their originals' names.
_LAST, _LAST_TEXT = "norm_out", ".norm1_context"


def sd3_lora_layers(checkpoint: IdentifiedCheckpoint) -> LayerTable:
    """Return the layers of a checkpoint by all names that LoRA files have for them."""
    return layer_table(checkpoint, _transformer_names, _ENCODERS)


def _transformer_names(targets: Mapping[str, Target]) -> dict[str, tuple[Target, ...]]:
    names = own_names(targets) | dict(_ORIGINAL.of(targets))
    for layer in targets:
        stem = layer.removesuffix(".scale")
        if stem == _LAST:
            names |= dict(halves(targets, stem, "final_layer.adaLN_modulation.1"))
        elif stem != layer and stem.endswith(_LAST_TEXT):
            block = stem.removesuffix(_LAST_TEXT).rpartition(".")[2]
            original = f"joint_blocks.{block}.context_block.adaLN_modulation.1"
            names |= dict(halves(targets, stem, original))
    return names
