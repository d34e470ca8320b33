"""Families name the weights that graphs ask for: each of every layout is used, none is left."""

from collections.abc import Callable
from pathlib import Path

import pytest

from backends.base import DType, OperatorSet, Precision
from engine.families import ComponentSource, IdentifiedCheckpoint, identify
from engine.graphs.chroma import ChromaConfig, chroma
from engine.graphs.clip_text import ClipTextConfig, clip_text
from engine.graphs.flux import FluxConfig, flux
from engine.graphs.flux2 import Flux2Config, flux2
from engine.graphs.operators import GraphBuilder
from engine.graphs.qwen3 import Qwen3Config, qwen3_encoder
from engine.graphs.sd3 import Sd3Config, sd3
from engine.graphs.t5 import T5Config, t5_encoder
from engine.graphs.tiny_vae import TinyVaeConfig, tiny_decoder, tiny_encoder
from engine.graphs.unet import UNetConfig, unet
from engine.graphs.vae import VaeConfig, vae_decoder, vae_encoder
from engine.graphs.zimage import ZImageConfig, zimage
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.folders import write_folder
from tests.families.listings import UNetSizes
from tests.families.test_recognition import FAMILY_FILES, SD1_FILES

ODD = UNetSizes(width=32, multipliers=(1, 1, 2), blocks=3, depths=(1, 0, 2), context=64)


def used(source: ComponentSource) -> set[str]:
    """The weights that the component's graphs take; absent or misshapen ones raise."""
    names: set[str] = set()

    def emit(network: Callable[[GraphBuilder], None]) -> None:
        operators = OperatorSet(opset=17)
        g = GraphBuilder("test", source.weights, operators, DType.F32, Precision.F32)
        network(g)
        names.update(source.weights.keys() - set(g.unused()))

    match source.config:
        case UNetConfig() as config:
            emit(lambda g: unet(g, config))
        case VaeConfig() as config:
            emit(lambda g: vae_encoder(g, config))
            emit(lambda g: vae_decoder(g, config))
        case TinyVaeConfig() as config:
            emit(lambda g: tiny_encoder(g, config))
            emit(lambda g: tiny_decoder(g, config))
        case ClipTextConfig() as config:
            emit(lambda g: clip_text(g, config))
        case ChromaConfig() | FluxConfig() | Flux2Config() as config:
            emit(lambda g: blocks(g, config))
        case Sd3Config() as config:
            emit(lambda g: sd3(g, config))
            # Not the network takes it, but the code that cuts out the part for a picture's size.
            names.add("pos_embed.pos_embed")
        case ZImageConfig() as config:
            emit(lambda g: zimage(g, config))
        case Qwen3Config() as config:
            emit(lambda g: qwen3_encoder(g, config, (config.layers,)))
        case T5Config() as config:
            emit(lambda g: t5_encoder(g, config))
        case _:
            raise AssertionError(source.config)
    return names


def blocks(g: GraphBuilder, config: ChromaConfig | FluxConfig | Flux2Config) -> None:
    """Emit a transformer with Flux.1's blocks."""
    match config:
        case ChromaConfig():
            chroma(g, config)
        case FluxConfig():
            flux(g, config)
        case Flux2Config():
            flux2(g, config)


def assert_all_used(checkpoint: IdentifiedCheckpoint) -> None:
    for source in checkpoint.components.values():
        assert used(source) == set(source.weights)


@pytest.mark.parametrize("layout", FAMILY_FILES)
def test_a_file_of_another_family_binds_whole(tmp_path: Path, layout: str) -> None:
    names = FAMILY_FILES[layout][2]
    assert_all_used(identify(write_sparse(tmp_path / "x.safetensors", names)))


@pytest.mark.parametrize("layout", SD1_FILES)
def test_a_single_file_binds_whole(tmp_path: Path, layout: str) -> None:
    assert_all_used(identify(write_sparse(tmp_path / "x.safetensors", SD1_FILES[layout])))


def test_an_unusual_unet_binds_whole(tmp_path: Path) -> None:
    names = listings.original(ODD, listings.SMALL_VAE, listings.SMALL_CLIP)
    assert_all_used(identify(write_sparse(tmp_path / "x.safetensors", names)))


def test_a_folder_binds_whole(tmp_path: Path) -> None:
    checkpoint = identify(write_folder(tmp_path / "small"))
    assert not checkpoint.missing
    assert_all_used(checkpoint)
