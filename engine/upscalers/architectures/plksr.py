"""PLKSR and RealPLKSR."""

from functools import partial

from engine.api.sentences import sentence
from engine.graphs.upscalers.plksr import PlkNorm, PlksrConfig, plksr
from engine.graphs.upscalers.sampling import SamplingConfig
from engine.upscalers.network import Needs, UpscalerArchitecture, UpscalerNetwork
from engine.upscalers.tensors import Tensors

_FIRST, _REAL = "feats.1.channe_mixer.0.weight", "feats.1.channel_mixer.0.weight"
_LARGE = "feats.1.lk.conv.weight"
_COLOURS = 3
_REACH = 48


def recognises(tensors: Tensors) -> bool:
    """Tell whether the tensors are a PLKSR's or a RealPLKSR's."""
    mixes = tensors.has(_FIRST) or tensors.has(_REAL)
    return mixes and tensors.has("feats.0.weight", "feats.1.refine.weight")


def read(tensors: Tensors) -> UpscalerNetwork:
    """Read a PLKSR. Raises EngineError(CHECKPOINT_MISMATCH), also for sparse large kernels.

    The distances within these cannot be known from a file.
    """
    if not tensors.has(_LARGE):
        raise tensors.misfit(sentence("its large kernels are in parts, which is not run"))
    layers, is_real = tensors.count("feats."), tensors.has(_REAL)
    width = tensors.shape("feats.0.weight", 4)[0]
    partial_width, _, kernel, _ = tensors.shape(_LARGE, 4)
    mixer = _REAL if is_real else _FIRST
    ends = mixer, mixer.replace(".0.weight", ".2.weight")
    outer = tensors.shape(f"feats.{layers - 1}.weight", 4)[0]
    scale = tensors.shuffled_scale(outer, _COLOURS)
    first, second = (tensors.shape(name, 4)[2] for name in ends)
    layer_norm = tensors.has("feats.1.layer_norm.weight")
    config = PlksrConfig(
        width=width,
        blocks=layers - (3 if is_real else 2),
        scale=scale,
        kernel=kernel,
        partial=partial_width,
        mixer=(first, second),
        attends=tensors.has("feats.1.attn.f.0.weight"),
        norm=(PlkNorm.LAYER if layer_norm else PlkNorm.GROUP) if is_real else None,
        sampling=_sampling(tensors, scale),
    )
    grouped = config.norm is PlkNorm.GROUP
    return UpscalerNetwork(
        _COLOURS,
        scale,
        partial(plksr, config=config),
        tensors.found,
        Needs(reach=_REACH, sees_all=grouped),
        max(5 * width, 6 * scale**2),
        overflows_f16=is_real,
    )


def _sampling(tensors: Tensors, scale: int) -> SamplingConfig | None:
    """Return the sizes of a DySample; None where pixels are shuffled."""
    if not tensors.has("to_img.offset.weight"):
        return None
    places, inner, *_ = tensors.shape("to_img.offset.weight", 4)
    groups = places // (2 * scale**2)
    if groups * 2 * scale**2 != places or not groups or inner % groups:
        raise tensors.misfit(sentence("it samples at {places} places", places=places))
    return SamplingConfig(inner, _COLOURS, scale, groups, tensors.has("to_img.end_conv.weight"))


ARCHITECTURE = UpscalerArchitecture("PLKSR", recognises, read)
