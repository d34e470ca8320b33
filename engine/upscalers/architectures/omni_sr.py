"""OmniSR."""

import math
from functools import partial

from engine.api.sentences import sentence
from engine.graphs.upscalers.omni_sr import OmniSrConfig, omni_sr
from engine.upscalers.network import Needs, UpscalerArchitecture, UpscalerNetwork
from engine.upscalers.tensors import Tensors

_GROUP = "residual_layer.0.residual_layer"
_TABLE = f"{_GROUP}.0.layer.2.fn.rel_pos_bias.weight"
# The windows of networks without positions, which no tensor shows.
_USUAL_WINDOW = 8
_LEAST, _REACH, _HEADS = 16, 48, 4


def recognises(tensors: Tensors) -> bool:
    """Tell whether the tensors are an OmniSR's."""
    return tensors.has(f"{_GROUP}.0.layer.0.fn.0.weight", "input.weight", "up.0.weight")


def read(tensors: Tensors) -> UpscalerNetwork:
    """Read an OmniSR. Raises EngineError(CHECKPOINT_MISMATCH)."""
    width, inner, *_ = tensors.shape("input.weight", 4)
    channels = tensors.picture_channels(inner)
    positions = tensors.has(_TABLE)
    rows = tensors.shape(_TABLE, 2)[0] if positions else (2 * _USUAL_WINDOW - 1) ** 2
    window = (math.isqrt(rows) + 1) // 2
    if window < 2 or width % _HEADS:
        raise tensors.misfit(sentence("its windows have {rows} distances", rows=rows))
    scale = tensors.shuffled_scale(tensors.shape("up.0.weight", 4)[0], channels)
    config = OmniSrConfig(
        channels=channels,
        width=width,
        groups=tensors.count("residual_layer."),
        blocks=tensors.count(f"{_GROUP}.") - 1,
        window=window,
        scale=scale,
        positions=positions,
        bias=tensors.has("input.bias"),
    )
    least = math.ceil(_LEAST / window) * window
    return UpscalerNetwork(
        channels,
        scale,
        partial(omni_sr, config=config),
        tensors.found,
        Needs(multiple=window, least=least, reach=_REACH, zeros=True, sees_all=True),
        10 * width,
        overflows_f16=True,
        attends=True,
    )


ARCHITECTURE = UpscalerArchitecture("OmniSR", recognises, read)
