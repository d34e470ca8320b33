"""Networks with the blocks of published ones, and narrow: their runs take a few seconds."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from backends.base import Array
from engine.graphs.control_net import ControlNetConfig, control_net
from engine.graphs.flux import FluxConfig, flux
from engine.graphs.sd3 import Sd3Config, sd3
from engine.graphs.t5 import T5Config, position_buckets, t5_encoder
from engine.graphs.unet import UNetBlock, UNetConfig, unet
from tests.graphs.wide_jobs import encoder_of
from tests.graphs.wide_networks import WideNetwork


def _block(width: int, layers: int, depth: int, *, resample: bool) -> UNetBlock:
    return UNetBlock(width, (depth,) * layers, width // 64, resample)


_UNET = UNetConfig(
    in_channels=4,
    out_channels=4,
    context_width=128,
    down=(
        _block(64, 2, 0, resample=True),
        _block(128, 2, 1, resample=True),
        _block(256, 2, 1, resample=False),
    ),
    mid=_block(256, 1, 1, resample=False),
    up=(
        _block(256, 3, 1, resample=True),
        _block(128, 3, 1, resample=True),
        _block(64, 3, 0, resample=False),
    ),
    linear_projection=True,
    added_width=64,
)
_T5 = T5Config(512, width=1024, heads=16, head_width=64, mlp_width=2816, layers=2)
_SD3 = Sd3Config(
    channels=16,
    width=512,
    heads=8,
    mlp_width=2048,
    context_width=256,
    pooled_width=64,
    blocks=3,
    places=192,
    normalised=True,
    dual_blocks=(0,),
)
_FLUX = FluxConfig(
    in_channels=64,
    out_channels=64,
    width=512,
    heads=4,
    mlp_width=2048,
    context_width=256,
    double_blocks=1,
    single_blocks=1,
    pooled_width=64,
)


def _words(sizes: Mapping[str, int]) -> dict[str, Array]:
    tokens = sizes["tokens"]
    return {"tokens": np.zeros((1, tokens), np.int64), "buckets": position_buckets(tokens)}


def _rows(sizes: Mapping[str, int]) -> dict[str, Array]:
    return {"row_contexts": np.arange(sizes["rows"])}


def networks() -> dict[str, WideNetwork]:
    """The networks by name. "control" is "unet", which another one leads."""
    alone = WideNetwork(partial(unet, config=_UNET, halves_evenly=True), tokens=77)
    leading = partial(control_net, config=ControlNetConfig(encoder_of(_UNET)))
    return {
        "unet": alone,
        "control": replace(alone, before=(replace(alone, fed=_rows, emit=leading),)),
        "t5": WideNetwork(partial(t5_encoder, config=_T5), tokens=512, fed=_words),
        "sd3": WideNetwork(partial(sd3, config=_SD3), tokens=333),
        "flux": WideNetwork(partial(flux, config=_FLUX), tokens=512),
    }
