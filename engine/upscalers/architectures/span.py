"""SPAN."""

from functools import partial

from engine.graphs.upscalers.span import SpanConfig, span
from engine.upscalers.network import Needs, UpscalerArchitecture, UpscalerNetwork
from engine.upscalers.tensors import Tensors

# Three convolutions in each of six blocks, and three outside.
_REACH = 21


def recognises(tensors: Tensors) -> bool:
    """Tell whether the tensors are a SPAN's."""
    return tensors.has("block_1.c1_r.sk.weight", "conv_cat.weight", "upsampler.0.weight")


def read(tensors: Tensors) -> UpscalerNetwork:
    """Read a SPAN. Raises EngineError(CHECKPOINT_MISMATCH)."""
    width, inner, *_ = tensors.shape("conv_1.sk.weight", 4)
    channels = tensors.picture_channels(inner)
    scale = tensors.shuffled_scale(tensors.shape("upsampler.0.weight", 4)[0], channels)
    # A marker of files whose network takes colours as they are; a grey picture has no mean colour.
    norm = not tensors.has("no_norm") and channels == 3
    config = SpanConfig(channels, width, scale, norm)
    numbers = max(8 * width, 2 * channels * scale**2)
    emit = partial(span, config=config)
    return UpscalerNetwork(channels, scale, emit, tensors.found, Needs(reach=_REACH), numbers)


ARCHITECTURE = UpscalerArchitecture("SPAN", recognises, read)
