"""SwinIR."""

import math
from functools import partial

from engine.api.sentences import sentence
from engine.graphs.upscalers.swin_ir import Reconstruction, SwinIrConfig, swin_ir
from engine.upscalers.network import Needs, UpscalerArchitecture, UpscalerNetwork
from engine.upscalers.tensors import Tensors

_BLOCK = "layers.0.residual_group.blocks.0"
_SIGNS = (
    f"{_BLOCK}.norm1.weight",
    f"{_BLOCK}.attn.relative_position_bias_table",
    f"{_BLOCK}.attn.qkv.bias",
    f"{_BLOCK}.mlp.fc1.bias",
)
# Files that shuffle pixels to channels first have this layer in a sequence.
_AFTER_UNSHUFFLE = "conv_first.1."
# The networks for JPEG pictures, the only ones with windows of 7, have colours up to 255.
_JPEG_WINDOW, _BYTES = 7, 255.0
_REACH = 32
_MOST_STEPS = 4


def recognises(tensors: Tensors) -> bool:
    """Tell whether the tensors are a SwinIR's; its relatives HAT, DRCT and Swin2SR lack some."""
    first = tensors.has("conv_first.weight") or tensors.has(f"{_AFTER_UNSHUFFLE}weight")
    return first and tensors.has(*_SIGNS)


def read(tensors: Tensors) -> UpscalerNetwork:
    """Read a SwinIR. Raises EngineError(CHECKPOINT_MISMATCH)."""
    tensors = tensors.renamed(lambda name: name.replace(_AFTER_UNSHUFFLE, "conv_first."))
    width, inner, *_ = tensors.shape("conv_first.weight", 4)
    kind = _reconstruction(tensors)
    shuffles = kind is Reconstruction.PIXEL_SHUFFLE_DIRECT
    channels = 3 if shuffles else tensors.shape("conv_last.weight", 4)[0]
    if shuffles and inner == 1:
        channels = 1
    channels = tensors.picture_channels(channels)
    unshuffle = math.isqrt(inner // channels)
    if channels * unshuffle**2 != inner:
        raise tensors.misfit(sentence("its first layer has {inner} channels", inner=inner))
    rows = tensors.shape(_SIGNS[1], 2)[0]
    window = (math.isqrt(rows) + 1) // 2
    groups = tensors.count("layers.")
    names = [f"layers.{group}.residual_group.blocks" for group in range(groups)]
    table = "0.attn.relative_position_bias_table"
    enlarges, features = _growth(tensors, kind, channels)
    if window < 2 or enlarges % unshuffle:
        raise tensors.misfit(sentence("its windows have {rows} distances", rows=rows))
    config = SwinIrConfig(
        channels=channels,
        width=width,
        depths=tuple(tensors.count(f"{name}.") for name in names),
        heads=tuple(tensors.shape(f"{name}.{table}", 2)[1] for name in names),
        window=window,
        mlp_width=tensors.shape(f"{_BLOCK}.mlp.fc1.bias", 1)[0],
        reconstruction=kind,
        enlarges=enlarges,
        features=features,
        unshuffle=unshuffle,
        thin=not tensors.has("conv_after_body.weight"),
        embeds_norm=tensors.has("patch_embed.norm.weight"),
        range=_BYTES if window == _JPEG_WINDOW else 1.0,
    )
    if any(heads == 0 or width % heads for heads in config.heads):
        raise tensors.misfit(sentence("its heads do not divide its width"))
    return _network(tensors, config)


def _network(tensors: Tensors, config: SwinIrConfig) -> UpscalerNetwork:
    multiple, cells = config.window * config.unshuffle, config.unshuffle**2
    # Scores of each pixel with its window for each head, and the layers that enlarge. The mask of
    # every other layer with its bias added has the size of the scores, and no picture changes it.
    scores = [heads * config.window**2 for heads in config.heads]
    masks = sum(bias * (depth // 2) for bias, depth in zip(scores, config.depths, strict=True))
    attention = 2 * max(scores) + 4 * config.width
    numbers = max(attention, 2 * config.features * config.enlarges**2) // cells
    reach = max(_REACH, 2 * config.window) * config.unshuffle
    return UpscalerNetwork(
        config.channels,
        config.scale,
        partial(swin_ir, config=config),
        tensors.found,
        Needs(multiple=multiple, least=multiple, reach=reach),
        numbers,
        overflows_f16=True,
        attends=True,
        ahead=masks // cells,
    )


def _reconstruction(tensors: Tensors) -> Reconstruction:
    if tensors.has("conv_before_upsample.0.weight"):
        nearest = tensors.has("conv_up1.weight")
        return Reconstruction.NEAREST_CONV if nearest else Reconstruction.PIXEL_SHUFFLE
    direct = tensors.has("upsample.0.weight")
    return Reconstruction.PIXEL_SHUFFLE_DIRECT if direct else Reconstruction.NONE


def _growth(tensors: Tensors, kind: Reconstruction, channels: int) -> tuple[int, int]:
    """Return the growth of the layers after the body, and their width."""
    if kind is Reconstruction.NONE:
        return 1, 0
    if kind is Reconstruction.PIXEL_SHUFFLE_DIRECT:
        return tensors.shuffled_scale(tensors.shape("upsample.0.weight", 4)[0], channels), 0
    features = tensors.shape("conv_before_upsample.0.weight", 4)[0]
    if kind is Reconstruction.NEAREST_CONV:
        levels = [
            level for level in range(1, _MOST_STEPS + 1) if tensors.has(f"conv_up{level}.weight")
        ]
        return 2 ** len(levels), features
    growth = 1
    for step in range(_MOST_STEPS):
        name = f"upsample.{2 * step}.weight"
        if tensors.has(name):
            growth *= tensors.shuffled_scale(tensors.shape(name, 4)[0], features)
    return growth, features


ARCHITECTURE = UpscalerArchitecture("SwinIR", recognises, read)
