"""Every network we emit, at a small size: what any backend must be able to run."""

from functools import cache, partial

import msgspec

from backends.base import Array, DType, Graph, OperatorSet, Precision
from engine.graphs import vae_tiles
from engine.graphs.clip_text import Activation, clip_text
from engine.graphs.tiny_vae import TinyVaeConfig, tiny_decoder, tiny_encoder
from engine.graphs.unet import unet
from engine.graphs.vae import vae_decoder, vae_encoder
from tests.graphs.networks import (
    SMALL_CLIP,
    SMALL_VAE,
    Emit,
    graph_in_memory,
    random_weights,
    small_unet,
)

_TINY_VAE = TinyVaeConfig(4, 8, (1, 2), (2, 1))
_PACKED_TINY_VAE = msgspec.structs.replace(_TINY_VAE, latent_channels=16, patch=2, normalises=True)
_GELU_CLIP = msgspec.structs.replace(SMALL_CLIP, activation=Activation.GELU)

NETWORKS: dict[str, Emit] = {
    "text encoder": partial(clip_text, config=SMALL_CLIP),
    "text encoder with gelu": partial(clip_text, config=_GELU_CLIP, clip_skip=2),
    "text encoder with hidden tokens": partial(clip_text, config=SMALL_CLIP, attention_mask=True),
    "unet": partial(unet, config=small_unet()),
    "unet for even sizes": partial(unet, config=small_unet(), halves_evenly=True),
    "unet with linear projection": partial(unet, config=small_unet(linear=True, in_channels=9)),
    "vae decoder": partial(vae_decoder, config=SMALL_VAE),
    "vae encoder": partial(vae_encoder, config=SMALL_VAE),
}
# The VAE in tiles, and the tiny one.
VAE_PARTS: dict[str, Emit] = {
    "tiny decoder": partial(tiny_decoder, config=_TINY_VAE),
    "tiny encoder": partial(tiny_encoder, config=_TINY_VAE),
    "normalised tiny decoder": partial(tiny_decoder, config=_PACKED_TINY_VAE),
    "normalised tiny encoder": partial(tiny_encoder, config=_PACKED_TINY_VAE),
    "decoder's core": partial(vae_tiles.decoder_core, config=SMALL_VAE),
    "encoder's core": partial(vae_tiles.encoder_core, config=SMALL_VAE),
    "decoder's shell": partial(vae_tiles.decoder_shell, config=SMALL_VAE),
    "decoder's shell, measured": partial(vae_tiles.decoder_shell, config=SMALL_VAE, measures=True),
    "encoder's shell": partial(vae_tiles.encoder_shell, config=SMALL_VAE),
    "encoder's shell, measured": partial(vae_tiles.encoder_shell, config=SMALL_VAE, measures=True),
}
ALL_NETWORKS = NETWORKS | VAE_PARTS


def network(
    name: str,
    operators: OperatorSet,
    element: DType = DType.F32,
    precision: Precision = Precision.F32,
) -> Graph:
    """One of `ALL_NETWORKS` with its weights in memory."""
    return graph_in_memory(ALL_NETWORKS[name], _weights(name), operators, element, precision)


@cache
def _weights(name: str) -> dict[str, Array]:
    return random_weights(ALL_NETWORKS[name])
