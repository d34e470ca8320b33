"""The layers of FLUX.2 klein under the names of LoRA files' dialects."""

from collections.abc import Mapping

from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.flux2.keys import LAYERS, MODULES
from engine.families.shared.flow.lora_layers import (
    OriginalNames,
    halves,
    layer_table,
    lone_qwen3,
    own_names,
)
from engine.families.shared.flux.keys import JOINED_ATTENTION
from engine.families.shared.flux.lora_names import norm_names
from engine.lora.layers import LayerTable, Target

_ORIGINAL = OriginalNames(MODULES, LAYERS, JOINED_ATTENTION)
# Some files have double blocks as `sformer_blocks` (diffusers,
# `_convert_non_diffusers_flux2_lora_to_diffusers`).
_CUT = "tran"
_ENCODERS = {Component.TEXT_ENCODER: lone_qwen3("qwen3_4b", "qwen3_8b")}


def flux2_lora_layers(checkpoint: IdentifiedCheckpoint) -> LayerTable:
    """Return the layers of a checkpoint by all names that LoRA files have for them."""
    return layer_table(checkpoint, _transformer_names, _ENCODERS)


def _transformer_names(targets: Mapping[str, Target]) -> dict[str, tuple[Target, ...]]:
    own = own_names(targets)
    cut = {
        layer.removeprefix(_CUT): found for layer, found in own.items() if layer.startswith(_CUT)
    }
    last = halves(targets, "norm_out", "final_layer.adaLN_modulation.1")
    names = own | cut | dict(_ORIGINAL.of(targets)) | dict(last)
    return names | dict(norm_names(targets, LAYERS))
