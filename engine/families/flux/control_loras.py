"""Control-LoRAs of Flux.1: files by which dev follows a map as Canny and Depth do.

Their first layer takes the latent of a map beside the latent (Black Forest Labs'
FLUX.1-Canny-dev-lora and Depth-dev-lora). To dev's own, columns of zeros are added for it, as
diffusers does (`_maybe_expand_transformer_param_shape_or_error_`); what the file changes in them is
the LoRA's, with its strength.
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
from msgspec.structs import replace as replace_fields

from backends.base import Array
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.flux.denoiser import map_channels
from engine.families.flux.hints import CONTROLS, learnt_hints, variant_by_name
from engine.graphs.flux import FluxConfig
from engine.lora.file import LoraFile
from engine.lora.widths import widths
from engine.weights.derived import DerivedWeight
from engine.weights.sources import as_source

_FIRST = "x_embedder"


def widened_for(checkpoint: IdentifiedCheckpoint, lora: LoraFile) -> IdentifiedCheckpoint | None:
    """Return a checkpoint with inputs for a map if a LoRA needs them; itself for other LoRAs.

    None for a checkpoint whose first layer takes something else beside the latent.
    """
    source = checkpoint.components.get(Component.DENOISER)
    if source is None or not isinstance(config := source.config, FluxConfig):
        return checkpoint
    channels = map_channels(config)
    if config.in_channels == channels or not _takes(lora, checkpoint, channels):
        return checkpoint
    if config.in_channels != config.out_channels:
        return None
    name = f"{_FIRST}.weight"
    first = as_source(source.weights[name])
    shape = config.width, channels
    wide = DerivedWeight((first,), shape, _with_zeros, "columns of zeros for a map")
    config = msgspec.structs.replace(config, in_channels=channels)
    widened = msgspec.structs.replace(source, config=config, weights={**source.weights, name: wide})
    sources = {**checkpoint.parts.sources, Component.DENOISER: widened}
    variant = variant_by_name(lora.path.stem, (), CONTROLS)
    parts = msgspec.structs.replace(checkpoint.parts, sources=sources)
    found = replace(checkpoint, parts=parts, variant=variant)
    learnt = learnt_hints(found)
    assert learnt is not None, "the checkpoint has a transformer"
    return replace(found, hints=replace_fields(checkpoint.hints, guidance=learnt.hints.guidance))


def _takes(lora: LoraFile, checkpoint: IdentifiedCheckpoint, channels: int) -> bool:
    """Tell whether a file changes a first layer that takes numbers of so many channels."""
    table = checkpoint.architecture.lora_layers
    return table is not None and any(
        widths(module)[1] == channels
        and [target.layer for target in table.find(module.layer)] == [_FIRST]
        for module in lora.modules
    )


def _with_zeros(parts: Sequence[Array], out: Array) -> None:
    (first,) = parts
    out[...] = 0
    out[:, : first.shape[1]] = first
