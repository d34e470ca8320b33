"""Sizes of an autoencoder, read off the shapes of its weights under canonical names."""

import math
from collections.abc import Mapping
from pathlib import Path

from engine.api.sentences import sentence
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.keys.shapes import Shapes, check_divides
from engine.graphs.vae import VaeConfig
from engine.weights.stored import StoredWeight

# The groups of normalisation, of which no shape tells.
_NORM_GROUPS = 32
# Of the normalisation of a latent whose cells are packed (FLUX.2).
_PACKED = "bn.running_mean"


def vae_config(
    weights: Mapping[str, StoredWeight], path: Path, norm_groups: int = _NORM_GROUPS
) -> VaeConfig:
    """Read the sizes of an AutoencoderKL. Raises EngineError for inconsistent shapes."""
    shapes = Shapes(weights, path)
    levels = shapes.blocks("encoder.down_blocks", "resnets.0.conv1.weight")
    layers = shapes.blocks("encoder.down_blocks.0.resnets", "conv1.weight")
    if shapes.blocks("decoder.up_blocks", "resnets.0.conv1.weight") != levels:
        name = f"decoder.up_blocks.{levels - 1}.resnets.0.conv1.weight"
        raise damaged(path, sentence("it lacks {name!r}", name=name))
    for level in range(levels):
        for block, wanted in (("encoder.down", layers), ("decoder.up", layers + 1)):
            if shapes.count(f"{block}_blocks.{level}.resnets") != wanted:
                name = f"{block}_blocks.{level}.resnets.{wanted - 1}.conv1.weight"
                raise damaged(path, sentence("it lacks {name!r}", name=name))
    channels = shapes.of("decoder.conv_in.weight", 4)[1]
    packed = shapes.of(_PACKED, 1)[0] if _PACKED in shapes else channels
    patch = math.isqrt(packed // channels)
    if packed != channels * patch**2:
        raise damaged(path, sentence("{name!r} has the shape {list}", name=_PACKED, list=[packed]))
    widths = _widths(shapes, "encoder.down_blocks", levels)
    # The decoder's levels are numbered as they run.
    decoder_widths = _widths(shapes, "decoder.up_blocks", levels)[::-1]
    config = VaeConfig(
        latent_channels=packed,
        widths=widths,
        layers=layers,
        norm_groups=norm_groups,
        quant_convolutions="quant_conv.weight" in shapes,
        mid_attention="decoder.mid_block.attentions.0.to_q.weight" in shapes,
        image_channels=shapes.of("encoder.conv_in.weight", 4)[1],
        patch=patch,
        decoder_widths=decoder_widths if decoder_widths != widths else None,
    )
    for width in {*widths, *decoder_widths}:
        check_divides(path, width, norm_groups, "normalisation groups")
    return config


def _widths(shapes: Shapes, blocks: str, levels: int) -> tuple[int, ...]:
    names = (f"{blocks}.{level}.resnets.0.conv1.weight" for level in range(levels))
    return tuple(shapes.of(name, 4)[0] for name in names)
