"""Real-ESRGAN's compact network (SRVGGNetCompact)."""

from functools import partial

from engine.api.sentences import sentence
from engine.graphs.upscalers.compact import CompactConfig, compact
from engine.upscalers.network import Needs, UpscalerArchitecture, UpscalerNetwork
from engine.upscalers.tensors import Tensors

_RANKS = {"body.0.weight": 4, "body.1.weight": 1, "body.2.weight": 4}
_MOST_REACH = 64


def recognises(tensors: Tensors) -> bool:
    """Tell whether the tensors are a compact network's: convolutions and slopes in turns."""
    return tensors.has(*_RANKS) and all(
        len(tensors.found[name].shape) == rank for name, rank in _RANKS.items()
    )


def read(tensors: Tensors) -> UpscalerNetwork:
    """Read a compact network. Raises EngineError(CHECKPOINT_MISMATCH)."""
    last = tensors.count("body.") - 1
    if last % 2:
        raise tensors.misfit(sentence("it has {count} layers", count=last + 1))
    width, inner, *_ = tensors.shape("body.0.weight", 4)
    channels = tensors.picture_channels(inner)
    scale = tensors.shuffled_scale(tensors.shape(f"body.{last}.weight", 4)[0], channels)
    config = CompactConfig(channels, width, (last - 2) // 2, scale)
    # Each convolution reaches one pixel further.
    needs = Needs(reach=min(last // 2 + 1, _MOST_REACH))
    numbers = max(2 * width, 2 * channels * scale**2)
    emit = partial(compact, config=config)
    return UpscalerNetwork(channels, scale, emit, tensors.found, needs, numbers)


ARCHITECTURE = UpscalerArchitecture("Real-ESRGAN Compact", recognises, read)
