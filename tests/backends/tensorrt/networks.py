"""SD 1's networks, tiny, with heads that are no narrower than TensorRT's attention; and sizes."""

from functools import partial
from typing import NoReturn

import msgspec

from backends.base import DimensionRange, ShapeProfile
from engine.compile.compiled import BoundLater
from engine.graphs.clip_text import Activation, ClipTextConfig, clip_text
from engine.graphs.unet import UNetBlock, UNetConfig, unet
from engine.graphs.vae import VaeConfig, vae_decoder, vae_encoder
from tests.graphs.networks import SMALL_CLIP, SMALL_VAE, Emit

# Heads of 16, the narrowest that there are kernels for; the autoencoder has one of 32.
CLIP = ClipTextConfig(vocabulary=60, width=64, mlp_width=128, layers=2, heads=4)
UNET = UNetConfig(
    in_channels=4,
    out_channels=4,
    context_width=24,
    down=(UNetBlock(32, (0,), 2, True), UNetBlock(64, (1,), 4, False)),
    mid=UNetBlock(64, (1,), 4, False),
    up=(UNetBlock(64, (1, 1), 4, True), UNetBlock(32, (0, 0), 2, False)),
    norm_groups=16,
)

NETWORKS: dict[str, Emit] = {
    "clip": partial(clip_text, config=CLIP),
    "unet": partial(unet, config=UNET),
    "decoder": partial(vae_decoder, config=SMALL_VAE),
    "encoder": partial(vae_encoder, config=SMALL_VAE),
}
VARIANTS: dict[str, Emit] = {
    "clip_gelu": partial(
        clip_text, config=msgspec.structs.replace(CLIP, activation=Activation.GELU)
    ),
    "unet_halving": partial(unet, config=UNET, halves_evenly=True),
    "unet_linear": partial(unet, config=msgspec.structs.replace(UNET, linear_projection=True)),
}
# Whose attention is written out: it is masked, or its heads are too narrow or too wide.
WITHOUT_KERNELS: dict[str, Emit] = {
    "clip_masked": partial(clip_text, config=CLIP, attention_mask=True),
    "clip_narrow": partial(clip_text, config=SMALL_CLIP),
    "decoder_wide": partial(vae_decoder, config=VaeConfig(4, (16, 512), layers=1, norm_groups=8)),
}

PROFILE = ShapeProfile(
    {
        "batch": DimensionRange(1, 1, 4),
        "contexts": DimensionRange(1, 2, 8),
        "height": DimensionRange(8, 16, 24),
        "width": DimensionRange(8, 16, 24),
        "tokens": DimensionRange(77, 77, 231),
    }
)


def _bind() -> NoReturn:
    raise AssertionError("weights are bound")


# The weights of a graph that nobody may ask for.
UNBOUND = BoundLater(_bind)
