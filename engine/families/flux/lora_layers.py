"""The layers of Flux.1 under the names of LoRA files' dialects, xlabs' among them."""

from collections.abc import Mapping

from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.clip.lora_names import clip_names
from engine.families.shared.flow.lora_layers import (
    CLIP_L_PREFIXES,
    EncoderNames,
    OriginalNames,
    halves,
    layer_table,
    numbered_prefixes,
    omi_names,
    own_names,
    t5_prefixes,
)
from engine.families.shared.flux.keys import JOINED, LAYERS, MODULES
from engine.families.shared.flux.lora_names import norm_names
from engine.lora.layers import LayerTable, Target

ORIGINAL = OriginalNames(MODULES, LAYERS, JOINED)
# kohya numbers T5 as SD 3's third encoder, OneTrainer as the second.
_T5_PREFIXES = (*numbered_prefixes(2, "t5xxl"), *t5_prefixes())
_ENCODERS = {
    Component.TEXT_ENCODER: EncoderNames(CLIP_L_PREFIXES, clip_names),
    Component.TEXT_ENCODER_2: EncoderNames(_T5_PREFIXES, own_names),
}
# Layers of an original block, each with the part of a name that xlabs gives its change.
_XLABS = {
    ".img_attn.qkv": ".processor.qkv_lora1",
    ".txt_attn.qkv": ".processor.qkv_lora2",
    ".img_attn.proj": ".processor.proj_lora1",
    ".txt_attn.proj": ".processor.proj_lora2",
    ".linear2": ".processor.proj",
}
# The parts of a single block's joined layer that xlabs changes.
_XLABS_SINGLE, _FIRST = ".processor.qkv", ".linear1"
_ATTENDING = 3


def flux_lora_layers(checkpoint: IdentifiedCheckpoint) -> LayerTable:
    """Return the layers of a checkpoint by all names that LoRA files have for them."""
    return layer_table(checkpoint, _transformer_names, _ENCODERS)


def _transformer_names(targets: Mapping[str, Target]) -> dict[str, tuple[Target, ...]]:
    """Return the targets by diffusers' names, the original ones and those of xlabs."""
    names = own_names(targets)
    names |= dict(halves(targets, "norm_out", "final_layer.adaLN_modulation.1"))
    names |= dict(norm_names(targets, LAYERS)) | dict(omi_names(targets))
    for original, found in ORIGINAL.of(targets):
        names[original] = found
        for leaf, other in _XLABS.items():
            if original.endswith(leaf):
                names[original.removesuffix(leaf) + other] = found
        if original.endswith(_FIRST):
            names[original.removesuffix(_FIRST) + _XLABS_SINGLE] = found[:_ATTENDING]
    return names
