"""The layers of Z-Image under the names of LoRA files' dialects."""

from collections.abc import Mapping

from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.flow.lora_layers import (
    OriginalNames,
    layer_table,
    lone_qwen3,
    own_names,
)
from engine.families.zimage.keys import JOINED, LAYERS, MODULES
from engine.lora.layers import LayerTable, Target

_BLOCKS = ("layers.", "noise_refiner.", "context_refiner.")
_ORIGINAL = OriginalNames({**MODULES, **{block: block for block in _BLOCKS}}, LAYERS, JOINED)
_ENCODERS = {Component.TEXT_ENCODER: lone_qwen3("qwen3_4b")}


def zimage_lora_layers(checkpoint: IdentifiedCheckpoint) -> LayerTable:
    """Return the layers of a checkpoint by all names that LoRA files have for them."""
    return layer_table(checkpoint, _transformer_names, _ENCODERS)


def _transformer_names(targets: Mapping[str, Target]) -> dict[str, tuple[Target, ...]]:
    return own_names(targets) | dict(_ORIGINAL.of(targets))
