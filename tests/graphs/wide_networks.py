"""Denoisers and decoders of each family as wide as published, with few blocks and random weights.

All blocks of a network use the same memory in turn, so few of them show what all need.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from backends.base import Array, DType, FileSlice, Graph, OperatorSet, Precision
from engine.graphs.chroma import ChromaConfig, chroma
from engine.graphs.flux import PATCH, FluxConfig, flux
from engine.graphs.flux2 import Flux2Config, flux2
from engine.graphs.operators import GraphBuilder
from engine.graphs.sd3 import Sd3Config, sd3
from engine.graphs.unet import UNetBlock, UNetConfig, unet
from engine.graphs.vae import VaeConfig, vae_decoder
from engine.graphs.zimage import TOKEN_MULTIPLE, ZImageConfig, size_inputs, zimage
from engine.weights.binding import bind
from tests.graphs.networks import Emit, wanted

_PIXELS = 8
_FILE = "numbers"
# Numbers between the first ones of two weights: at least the 64 bytes that runtimes align to.
_APART = 64
_MLP = 4


@dataclass(frozen=True)
class WideNetwork:
    """A network, and what its dimensions are for a latent's cells, and contexts of some tokens.

    `contexts` are the usual ones, with a negative prompt where the family has that by default;
    `fed` are inputs whose numbers matter, for dimensions of some sizes.
    """

    emit: Emit
    # A cell's side in pixels.
    downscale: int = _PIXELS
    # Tokens of the text.
    tokens: int = 0
    contexts: int = 1
    # Cells along the side of the picture's tokens.
    patch: int = PATCH
    fed: Callable[[Mapping[str, int]], dict[str, Array]] = lambda _sizes: {}
    # Networks that run before it in a step, and hand it what they make.
    before: tuple["WideNetwork", ...] = ()

    def sizes(self, height: int, width: int, contexts: int) -> dict[str, int]:
        """The dimensions for a picture's size in pixels."""
        cells = height // self.downscale, width // self.downscale
        patches = (cells[0] // self.patch) * (cells[1] // self.patch)
        return {
            "batch": 1,
            "height": cells[0],
            "width": cells[1],
            "contexts": contexts,
            "rows": contexts,
            "tokens": self.tokens,
            "patches": patches,
            "positions": patches + self.tokens,
            "image_tokens": patches + -patches % TOKEN_MULTIPLE,
        }


def _unet(
    widths: tuple[int, ...],
    depths: tuple[int, ...],
    context: int,
    *,
    heads: int = 0,
    head_width: int = 64,
    added: int = 0,
) -> UNetConfig:
    """A UNet of one residual block a level on the way down, and of two on the way up."""

    def block(level: int, layers: int, *, resample: bool) -> UNetBlock:
        width = widths[level]
        return UNetBlock(width, (depths[level],) * layers, heads or width // head_width, resample)

    last = len(widths) - 1
    return UNetConfig(
        in_channels=4,
        out_channels=4,
        context_width=context,
        down=tuple(block(n, 2, resample=n < last) for n in range(last + 1)),
        mid=UNetBlock(widths[last], (1,), heads or widths[last] // head_width, False),
        up=tuple(block(n, 3, resample=n > 0) for n in reversed(range(last + 1))),
        linear_projection=not heads,
        added_width=added,
    )


FLUX = FluxConfig(
    in_channels=64,
    out_channels=64,
    width=3072,
    heads=24,
    mlp_width=_MLP * 3072,
    context_width=4096,
    double_blocks=1,
    single_blocks=1,
    pooled_width=768,
)
_CHROMA = ChromaConfig(
    in_channels=64,
    out_channels=64,
    width=3072,
    heads=24,
    mlp_width=_MLP * 3072,
    context_width=4096,
    double_blocks=1,
    single_blocks=1,
    waves=64,
    approximator_width=5120,
    approximator_layers=1,
)
KLEIN = Flux2Config(
    in_channels=128,
    out_channels=128,
    width=3072,
    heads=24,
    mlp_width=3 * 3072,
    context_width=7680,
    double_blocks=1,
    single_blocks=1,
)
_ZIMAGE = ZImageConfig(
    channels=16,
    width=3840,
    heads=30,
    mlp_width=10240,
    context_width=2560,
    embedded_width=1024,
    embedding_width=256,
    layers=1,
    refiners=1,
)


def _sd3(width: int, *, normalised: bool = True, dual: tuple[int, ...] = ()) -> Sd3Config:
    return Sd3Config(
        channels=16,
        width=width,
        heads=width // 64,
        mlp_width=_MLP * width,
        context_width=4096,
        pooled_width=2048,
        blocks=3,
        places=192,
        normalised=normalised,
        dual_blocks=dual,
    )


def _vae(**changes: object) -> Emit:
    sizes: dict[str, object] = {"latent_channels": 4, "widths": (128, 256, 512, 512), "layers": 2}
    return partial(vae_decoder, config=VaeConfig(**(sizes | changes)))  # pyright: ignore[reportArgumentType]


SD1 = _unet((320, 640, 1280, 1280), (1, 1, 1, 0), 768, heads=8)
_SD2 = _unet((320, 640, 1280, 1280), (1, 1, 1, 0), 1024)
SDXL = _unet((320, 640, 1280), (0, 1, 1), 2048, added=2816)
SD3_LARGE = _sd3(2432)


def _places(sizes: Mapping[str, int]) -> dict[str, Array]:
    """Inputs of Z-Image that are places in tables."""
    frame = np.full((sizes["contexts"], 1), sizes["tokens"] + 1)
    return size_inputs(_ZIMAGE, (sizes["height"], sizes["width"])) | {"frame": frame}


DENOISERS: Mapping[str, WideNetwork] = {
    "SD 1": WideNetwork(partial(unet, config=SD1, halves_evenly=True), tokens=77, contexts=2),
    "SD 2": WideNetwork(partial(unet, config=_SD2, halves_evenly=True), tokens=77, contexts=2),
    "SDXL": WideNetwork(partial(unet, config=SDXL, halves_evenly=True), tokens=77, contexts=2),
    "Flux.1": WideNetwork(partial(flux, config=FLUX), tokens=512),
    "Chroma": WideNetwork(partial(chroma, config=_CHROMA), tokens=512, contexts=2),
    "FLUX.2 klein": WideNetwork(partial(flux2, config=KLEIN), downscale=16, tokens=512, patch=1),
    "SD 3 medium": WideNetwork(
        partial(sd3, config=_sd3(1536, normalised=False)), tokens=333, contexts=2
    ),
    "SD 3.5 medium": WideNetwork(
        partial(sd3, config=_sd3(1536, dual=(0, 1))), tokens=333, contexts=2
    ),
    "SD 3.5 large": WideNetwork(partial(sd3, config=SD3_LARGE), tokens=333, contexts=2),
    "Z-Image": WideNetwork(
        partial(zimage, config=_ZIMAGE),
        tokens=128,
        fed=_places,
    ),
}
DECODERS: Mapping[str, WideNetwork] = {
    "SD 1, SD 2, SDXL": WideNetwork(_vae()),
    "Flux.1, Chroma, SD 3, Z-Image": WideNetwork(
        _vae(latent_channels=16, quant_convolutions=False)
    ),
    "FLUX.2 klein": WideNetwork(_vae(latent_channels=128, patch=2), downscale=16),
}
NETWORKS: Mapping[str, Mapping[str, WideNetwork]] = {"denoiser": DENOISERS, "decoder": DECODERS}


def wide_graph(
    network: WideNetwork, folder: Path, operators: OperatorSet, element: DType, precision: Precision
) -> Graph:
    """The network's graph; its weights begin at places of their own in one file in `folder`.

    Compilers make one product of those with the same input and the same weights.
    """
    weights = wanted(network.emit)
    most = max(math.prod(weight.shape) for weight in weights.values()) + len(weights) * _APART
    path = folder / f"{_FILE}.{element}"
    numbers = np.random.default_rng(0).standard_normal(most, np.float32) * np.float32(0.02)
    numbers.astype(element.numpy).tofile(path)
    del numbers
    slices = {
        name: FileSlice(path, place * _APART * element.itemsize, element, weight.shape)
        for place, (name, weight) in enumerate(weights.items())
    }
    g = GraphBuilder("network", slices, operators, element, precision)
    network.emit(g)
    return g.build(bind(g.used, element))
