"""Writes a checkpoint of Patchwork with random weights, under keys of its own."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from backends.base import Array, DType, FileSlice, OperatorSet, Precision
from engine.graphs.operators import GraphBuilder
from engine.weights.sources import FileWeight
from tests.checkpoints.arrays import write_arrays
from tests.families import listings
from tests.families.listings import Shape, VaeSizes
from tests.families.patchwork.family import LATENT_CHANNELS
from tests.families.patchwork.networks import DenoiserConfig, TextConfig, denoiser, text_encoder
from tests.families.patchwork.text import VOCABULARY

TEXT = TextConfig(VOCABULARY, width=48, tokens=40, layers=2)
DENOISER = DenoiserConfig(LATENT_CHANNELS, width=64, context_width=48, layers=2)
_VAE = VaeSizes(width=32, multipliers=(1, 1, 1, 1), blocks=1, latent=LATENT_CHANNELS)
# Of the VAE, the last layer of a residual block and of attention.
_ADDED = re.compile(r"\.vae\..*\.(conv2|proj_out)\.")


def write_checkpoint(path: Path, seed: int = 0) -> Path:
    """Write a whole checkpoint as one file of about 4 MB."""
    shapes = {
        **listings.prefixed("patchwork.text.", _shapes(lambda g: text_encoder(g, TEXT))),
        **listings.prefixed("patchwork.net.", _shapes(lambda g: denoiser(g, DENOISER))),
        **listings.prefixed("patchwork.vae.", _vae()),
    }
    random = np.random.default_rng(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path, {name: _drawn(random, name, shape) for name, shape in shapes.items()})
    return path


def _shapes(emit: Callable[[GraphBuilder], None]) -> dict[str, Shape]:
    """The weights that a network asks for, by name."""
    shapes: dict[str, Shape] = {}

    class Recorder(GraphBuilder):
        def source(self, name: str, shape: Shape) -> FileWeight:
            shapes[name] = shape
            return FileWeight(FileSlice(Path(), 0, DType.F32, shape))

    operators = OperatorSet(opset=20, elements=(DType.F32,))
    emit(Recorder("recorded", {}, operators, DType.F32, Precision.F32))
    return shapes


def _vae() -> dict[str, Shape]:
    """An autoencoder in the original layout, without convolutions around the latent, as Flux's."""
    return listings.flow_vae(_VAE)


def _drawn(random: np.random.Generator, name: str, shape: Shape) -> Array:
    """Draw numbers as a network is initialised: activations stay near unit size."""
    drawn = random.standard_normal(shape, np.float32)
    if "embedding" in name or "positions" in name:
        return drawn
    if len(shape) > 1:
        drawn /= np.float32(np.sqrt(np.prod(shape[1:])))
        # The VAE's blocks add little: a part of a picture has little to do with the rest of it.
        return drawn * np.float32(0.01) if _ADDED.search(name) else drawn
    return 0.1 * drawn + np.float32("norm" in name and name.endswith("weight"))
