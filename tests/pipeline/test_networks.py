"""Networks say which sizes they are wanted for and which the app offers."""

from pathlib import Path

import pytest

from backends.base import DimensionRange, DType, OperatorSet, Precision
from engine.compile.network import Network
from engine.compile.shapes import variable_dimensions
from engine.families import IdentifiedCheckpoint, identify
from engine.families.shared.clip.network import text_encoder
from engine.graphs.operators import GraphBuilder
from tests.tiny_checkpoint import DOWNSCALE


@pytest.fixture
def checkpoint(tiny: Path) -> IdentifiedCheckpoint:
    return identify(tiny)


def every_network(checkpoint: IdentifiedCheckpoint) -> list[Network]:
    return [
        text_encoder(checkpoint),
        text_encoder(checkpoint, masked=True),
        checkpoint.architecture.denoiser.network(64, 96),
        checkpoint.architecture.denoiser.network(66, 70, contexts=3, tokens=154),
        checkpoint.architecture.autoencoder.decoder(64, 96),
        checkpoint.architecture.autoencoder.encoder(64, 96),
        checkpoint.architecture.autoencoder.decoder(),
    ]


def test_every_dimension_that_varies_is_known(checkpoint: IdentifiedCheckpoint) -> None:
    for network in every_network(checkpoint):
        operators = OperatorSet(opset=20)
        g = GraphBuilder(network.name, network.weights, operators, DType.F32, Precision.F32)
        network.emit(g)
        assert network.dimensions.keys() == variable_dimensions(g.build({}).inputs)
        assert network.checkpoint == "tiny"
        for dimension in network.dimensions.values():
            assert dimension.minimum <= dimension.optimum <= dimension.maximum


def test_the_offer_is_the_apps(checkpoint: IdentifiedCheckpoint) -> None:
    assert checkpoint.architecture.denoiser.network(512, 768).dimensions == {
        "batch": DimensionRange(1, 1, 8),
        "height": DimensionRange(64 // DOWNSCALE, 512 // DOWNSCALE, 2048 // DOWNSCALE),
        "width": DimensionRange(64 // DOWNSCALE, 768 // DOWNSCALE, 2048 // DOWNSCALE),
        "contexts": DimensionRange(1, 2, 16),
        "tokens": DimensionRange(77, 77, 308),
    }
    pixels = checkpoint.architecture.autoencoder.encoder(512, 768).dimensions
    assert pixels["width"] == DimensionRange(64, 768, 2048)
    assert text_encoder(checkpoint).dimensions == {"batch": DimensionRange(1, 2, 64)}


def test_a_size_beyond_the_offered_range_widens_the_range(checkpoint: IdentifiedCheckpoint) -> None:
    large = checkpoint.architecture.denoiser.network(
        4096, 2560, contexts=20, tokens=77 * 5
    ).dimensions
    assert [large[name].maximum for name in ("height", "width", "contexts", "tokens")] == [
        4096 // DOWNSCALE,
        4096 // DOWNSCALE,
        32,
        616,
    ]


def test_without_a_size_it_is_the_usual_one(checkpoint: IdentifiedCheckpoint) -> None:
    usual = checkpoint.architecture.autoencoder.decoder().dimensions["height"].optimum
    assert usual == checkpoint.default_size // DOWNSCALE
