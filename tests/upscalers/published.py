"""Upscalers of the sizes of well-known files, as networks without weights."""

from collections.abc import Mapping
from functools import partial

from engine.graphs.upscalers.compact import CompactConfig, compact
from engine.graphs.upscalers.omni_sr import OmniSrConfig, omni_sr
from engine.graphs.upscalers.plksr import PlkNorm, PlksrConfig, plksr
from engine.graphs.upscalers.rrdb import RrdbConfig, rrdb
from engine.graphs.upscalers.span import SpanConfig, span
from engine.graphs.upscalers.swin_ir import Reconstruction, SwinIrConfig, swin_ir
from engine.upscalers.network import Emit

REAL_ESRGAN: Emit = partial(
    rrdb, config=RrdbConfig(channels=3, width=64, growth=32, blocks=23, doublings=2)
)
# RealESRGAN_x4plus, realesr-general-x4v3, 4x-spanx4, RealPLKSR, SwinIR-M and OmniSR.
PUBLISHED: Mapping[str, Emit] = {
    "Real-ESRGAN": REAL_ESRGAN,
    "Real-ESRGAN Compact": partial(
        compact, config=CompactConfig(channels=3, width=64, layers=32, scale=4)
    ),
    "SPAN": partial(span, config=SpanConfig(channels=3, width=48, scale=4, norm=True)),
    "RealPLKSR": partial(
        plksr,
        config=PlksrConfig(
            width=64, blocks=28, scale=4, kernel=17, partial=16, norm=PlkNorm.GROUP
        ),
    ),
    "SwinIR": partial(
        swin_ir,
        config=SwinIrConfig(
            channels=3, width=180, depths=(6,) * 6, heads=(6,) * 6, window=8, mlp_width=360,
            reconstruction=Reconstruction.NEAREST_CONV, enlarges=4, features=64,
        ),
    ),
    "OmniSR": partial(
        omni_sr, config=OmniSrConfig(channels=3, width=64, groups=5, blocks=1, window=8, scale=4)
    ),
}  # fmt: skip
