"""Qwen3 encoders of each published size: read off their shapes, named, and refused by name."""

from pathlib import Path

import pytest

from engine.api.request import ComponentFiles
from engine.api.values import ErrorCode
from engine.checkpoints.known_files import KnownFiles
from engine.checkpoints.safetensors import read_index
from engine.errors import EngineError
from engine.families import Component, identify, supply
from engine.families.listing import Listing as Tensors
from engine.families.parts_index import PartsIndex
from engine.families.recognition import recognise
from engine.families.shared.qwen3.sizes import qwen3_config
from engine.families.zimage.keys import KEY_LAYOUT
from engine.graphs.qwen3 import Qwen3Config
from tests.checkpoints.files import write_sparse
from tests.families.flux2 import files as flux2
from tests.families.listings import Listing
from tests.families.zimage import files as zimage

WORDS = 151_936
# The sizes of `config.json`: width, heads, heads of keys, their width, the MLP's, layers.
PUBLISHED = {
    "Qwen3-0.6B": Qwen3Config(WORDS, 1024, 16, 8, 128, 3072, 28),
    "Qwen3-1.7B": Qwen3Config(WORDS, 2048, 16, 8, 128, 6144, 28),
    "Qwen3-4B": Qwen3Config(WORDS, 2560, 32, 8, 128, 9728, 36),
    "Qwen3-8B": Qwen3Config(WORDS, 4096, 32, 8, 128, 12288, 36),
}


def listing(name: str) -> Listing:
    """The tensors of a published file; those of 0.6B have the table twice."""
    config = PUBLISHED[name]
    sizes = config.heads, config.key_heads, config.head_width, config.layers, config.mlp_width
    head = {"lm_head.weight": (WORDS, config.width)}
    return zimage.qwen3(config.width, *sizes) | (head if name == "Qwen3-0.6B" else {})


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_are_read_off_the_shapes_of_a_file(tmp_path: Path, name: str) -> None:
    path = write_sparse(tmp_path / "encoder.safetensors", listing(name))
    tensors = read_index(path).tensors
    named = KEY_LAYOUT.canonical(Component.TEXT_ENCODER, tensors, path)
    assert qwen3_config(named.weights, path) == PUBLISHED[name]
    kind = recognise(Tensors(tensors)).kind
    assert kind is not None
    assert kind.title == f"a {name} text encoder"


def test_another_size_is_named_without_one(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "encoder.safetensors", zimage.qwen3(1024, mlp=4096))
    kind = recognise(Tensors(read_index(path).tensors)).kind
    assert kind is not None
    assert kind.title == "a Qwen3 text encoder"


@pytest.mark.parametrize(
    ("transformer", "encoder", "words"),
    [
        (
            zimage.original(),
            "Qwen3-0.6B",
            "it is Qwen3-0.6B (1024 wide), the encoder of Anima,"
            " the transformer needs Qwen3-4B (2560 wide).",
        ),
        (flux2.original(), "Qwen3-0.6B", "needs Qwen3-4B (2560 wide)."),
        (flux2.original(), "Qwen3-1.7B", "it is Qwen3-1.7B (2048 wide), the transformer needs"),
        (flux2.original(flux2.KLEIN_9B), "Qwen3-4B", "needs Qwen3-8B (4096 wide)."),
    ],
    ids=["zimage", "klein", "unused", "klein_9b"],
)
def test_an_encoder_of_another_size_is_refused_by_name(
    tmp_path: Path, transformer: Listing, encoder: str, words: str
) -> None:
    model = identify(write_sparse(tmp_path / "transformer.safetensors", transformer))
    path = write_sparse(tmp_path / "qwen.safetensors", listing(encoder))
    with pytest.raises(EngineError) as caught:
        supply(model, ComponentFiles(text_encoder=str(path)))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    assert words in str(caught.value.message)


def test_only_an_encoder_of_the_right_size_is_offered(tmp_path: Path) -> None:
    for name in PUBLISHED:
        write_sparse(tmp_path / f"{name}.safetensors", listing(name))
    model = identify(write_sparse(tmp_path / "z_image.safetensors", zimage.original()))
    index = PartsIndex(tmp_path, KnownFiles(tmp_path / "known", lambda: 1 << 62))
    fits = {gap.component: gap.fits for gap in index.gaps(model)}["text_encoder"]
    assert [Path(fit.path).stem for fit in fits] == ["Qwen3-4B"]
