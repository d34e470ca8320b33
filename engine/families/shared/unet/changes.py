"""Telling a UNet from a file of changes to one, which has the same names and shapes.

IC-Light (github.com/lllyasviel/IC-Light) is published as what it adds to each weight of Stable
Diffusion 1.5, with 8 or 12 input channels, and so looks like a UNet for editing by instruction.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from backends.base import DType
from engine.api.reasons import known_kind
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.shared.unet.sizes import UNetFacts, unet_config
from engine.graphs.unet import UNetConfig
from engine.weights.sources import as_source
from engine.weights.stored import StoredWeight

# Norms scale by 1 before training, and by about as much afterwards; they change by hundredths.
_NORMS = (
    "conv_norm_out.weight",
    "mid_block.attentions.0.norm.weight",
    "mid_block.resnets.0.norm1.weight",
)
_LEAST_SCALE = 0.1


def whole_unet_config(
    weights: Mapping[str, StoredWeight], facts: UNetFacts, path: Path
) -> UNetConfig:
    """Read the sizes of a UNet. Raises EngineError as `unet_config` does, and for mere changes."""
    unet = unet_config(weights, facts, path)
    if _are_changes(weights, unet):
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            sentence(
                "{path} is {title}, which is not run yet.",
                path=path.name,
                title=known_kind("an IC-Light model"),
            ),
            sentence("Choose a text-to-image or inpainting model."),
        )
    return unet


def _are_changes(weights: Mapping[str, StoredWeight], unet: UNetConfig) -> bool:
    """Tell changes from weights by norms, for a UNet that sees other latents beside its own.

    Norms of zeros alone tell nothing.
    """
    latents, rest = divmod(unet.in_channels, unet.out_channels)
    if latents < 2 or rest:
        return False
    norms = (as_source(weights[name]).read_as(DType.F32) for name in _NORMS if name in weights)
    scale = max((float(np.abs(norm).mean()) for norm in norms), default=0.0)
    return 0 < scale < _LEAST_SCALE
