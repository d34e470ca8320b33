"""The layers of Chroma under the names of LoRA files' dialects."""

from collections.abc import Mapping

from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.flow.lora_layers import (
    OriginalNames,
    layer_table,
    lone_t5,
    omi_names,
    own_names,
)
from engine.families.shared.flux.keys import JOINED, LAYERS, MODULES
from engine.families.shared.flux.lora_names import norm_names
from engine.graphs.chroma import APPROXIMATOR
from engine.lora.layers import LayerTable, Target

ORIGINAL = OriginalNames(
    {**MODULES, f"{APPROXIMATOR}.layers.": f"{APPROXIMATOR}.layers."},
    {**LAYERS, ".in_layer.": ".linear_1.", ".out_layer.": ".linear_2."},
    JOINED,
)


def chroma_lora_layers(checkpoint: IdentifiedCheckpoint) -> LayerTable:
    """Return the layers of a checkpoint by all names that LoRA files have for them."""
    return layer_table(checkpoint, _transformer_names, {Component.TEXT_ENCODER: lone_t5()})


def _transformer_names(targets: Mapping[str, Target]) -> dict[str, tuple[Target, ...]]:
    names = own_names(targets) | dict(norm_names(targets, LAYERS))
    return names | dict(ORIGINAL.of(targets)) | dict(omi_names(targets))
