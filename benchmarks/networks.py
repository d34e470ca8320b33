"""A checkpoint's networks as graphs, for the sections that use a runtime directly."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from backends.base import DType, Graph, OperatorSet, Precision, size_of
from benchmarks.workload import Array
from engine.compile.network import Network
from engine.compile.weight_binding import WeightBinding
from engine.families import Component, identify
from engine.families.shared.clip.text_encoding import clip_text_of
from engine.graphs.operators import GraphBuilder
from engine.memory.plan import WeightPlacement
from engine.weights.binding import element_type
from engine.weights.working_copies import WorkingCopies

TEXT, UNET, DECODER = "text encoder", "UNet", "VAE decoder"
_SEED = 0
_START_TOKEN = 49406


def network(checkpoint: Path, name: str, pixels: int = 512) -> Network:
    """Return the network of that name for square pictures of `pixels` a side."""
    identified = identify(checkpoint)
    if name == TEXT:
        return clip_text_of(identified).network(Component.TEXT_ENCODER, 1)
    if name == UNET:
        return identified.architecture.denoiser.network(pixels, pixels)
    return identified.architecture.autoencoder.decoder(pixels, pixels)


def graph(
    network: Network, operators: OperatorSet, precision: Precision, copies: WorkingCopies
) -> Graph:
    """Return the network as a graph with bound weights: by reference, or from a working copy."""
    element = element_type(network.weights.stored_type, operators, precision)
    g = GraphBuilder(network.name, network.weights, operators, element, precision)
    network.emit(g)
    binding = WeightBinding(network, g.used, element, copies, form=operators.blocks)
    return g.build(binding.bind(WeightPlacement.WORKING_COPY, lambda _done, _total: None))


def random_feeds(graph: Graph, sizes: Mapping[str, int]) -> dict[str, Array]:
    """Return seeded inputs for a graph whose dynamic dimensions have these sizes.

    Optional inputs are left out.
    """
    random = np.random.default_rng(_SEED)
    feeds: dict[str, Array] = {}
    for spec in graph.inputs:
        if spec.optional:
            continue
        shape = tuple(size_of(n, sizes) for n in spec.shape)
        if spec.dtype in (DType.I64, DType.I32):
            feeds[spec.name] = random.integers(0, _START_TOKEN, shape, spec.dtype.numpy.type)
        else:
            feeds[spec.name] = random.standard_normal(shape, np.float32).astype(spec.dtype.numpy)
    return feeds
