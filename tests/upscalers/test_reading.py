"""Upscalers are known by their tensors, in every layout and wrapper; other files are named."""

from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import DType
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.graphs.upscalers.rrdb import RrdbConfig, rrdb
from engine.upscalers.reading import read_upscaler
from engine.upscalers.registry import ARCHITECTURES, TITLES
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.files import write_sparse
from tests.families.listings import Listing, original
from tests.graphs.networks import wanted
from tests.thinned import thinned
from tests.upscalers.small import (
    EMITS,
    RRDB,
    arrays_of,
    file_of,
    new_esrgan,
    old_esrgan,
    torch_file_of,
)


@pytest.mark.parametrize("name", EMITS)
def test_each_network_is_recognised_with_all_its_weights(tmp_path: Path, name: str) -> None:
    upscaler = read_upscaler(file_of(tmp_path, name))
    assert upscaler.architecture == ("PLKSR" if name == "RealPLKSR" else name)
    assert upscaler.network.weights.keys() == arrays_of(name).keys() - {"no_norm"}
    assert (upscaler.network.scale, upscaler.network.channels) == (
        4 if name in ("ESRGAN", "SwinIR") else 2,
        3,
    )


def test_every_architecture_is_tested_and_told_of() -> None:
    titles = {architecture.title for architecture in ARCHITECTURES}
    assert titles <= EMITS.keys(), "each has a small network in tests/upscalers/small.py"
    page = (Path(__file__).parents[2] / "docs" / "upscaling.md").read_text("utf-8")
    assert not [title for title in titles if title not in page], "docs/upscaling.md lists them"


@pytest.mark.parametrize("layout", [old_esrgan, new_esrgan], ids=["old", "new"])
def test_an_esrgan_is_the_same_in_each_layout(tmp_path: Path, layout: Callable[[str], str]) -> None:
    found = read_upscaler(file_of(tmp_path, "ESRGAN", layout)).network
    expected = {name: array.shape for name, array in arrays_of("ESRGAN").items()}
    assert {name: weight.shape for name, weight in found.weights.items()} == expected


@pytest.mark.parametrize(
    ("doublings", "unshuffle", "scale"), [(0, 1, 1), (1, 1, 2), (2, 2, 2), (2, 4, 1), (3, 1, 8)]
)
def test_an_esrgans_scale_is_read_from_its_layers(
    tmp_path: Path, doublings: int, unshuffle: int, scale: int
) -> None:
    config = RrdbConfig(3, 8, 4, 2, doublings, unshuffle)
    for layout in (str, new_esrgan, partial(old_esrgan, config=config)):
        shapes = wanted(partial(rrdb, config=config))
        path = tmp_path / "one.safetensors"
        write_sparse(path, {layout(name): weight.shape for name, weight in shapes.items()})
        network = read_upscaler(path).network
        assert (network.scale, network.needs.multiple) == (scale, unshuffle)


@pytest.mark.parametrize(
    "wrapper",
    thinned(
        ["params_ema.", "params.", "model.", "model_state_dict.module.", "netG."],
        ["params_ema.", "model_state_dict.module."],
    ),
)
def test_a_wrapper_of_a_trainer_is_taken_off(tmp_path: Path, wrapper: str) -> None:
    for name in EMITS:
        path = torch_file_of(tmp_path, name, lambda key: f"{wrapper}{key}")
        assert read_upscaler(path).network.weights.keys() <= arrays_of(name).keys()


def test_averaged_weights_come_before_the_last_ones(tmp_path: Path) -> None:
    arrays = arrays_of("ESRGAN")
    both = {
        f"{wrapper}.{key}": array
        for wrapper in ("params", "params_ema")
        for key, array in arrays.items()
    }
    path = tmp_path / "both.safetensors"
    places = write_arrays(path, both)
    found = read_upscaler(path).network.weights["conv_first.weight"]
    assert found == places["params_ema.conv_first.weight"]


def checkpoint() -> Listing:
    return original()


OTHERS: dict[str, tuple[Callable[[], Listing], str]] = {
    "a checkpoint": (checkpoint, "is a model of SD 1.x, not an upscaler"),
    "a LoRA": (
        lambda: {"x.lora_down.weight": (4, 8), "x.lora_up.weight": (8, 4)},
        "is a LoRA, not",
    ),
    "a HAT": (
        lambda: {"layers.0.residual_group.overlap_attn.qkv.weight": (8, 8)},
        "is an upscaler of a kind that is not run",
    ),
    "nothing known": (lambda: {"weight": (2, 2)}, "is not an upscaler this version knows"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_kind_of_file_is_named(tmp_path: Path, name: str) -> None:
    shapes, words = OTHERS[name]
    path = write_sparse(tmp_path / "file.safetensors", shapes())
    with pytest.raises(EngineError, match=words) as caught:
        read_upscaler(path)
    assert caught.value.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert TITLES in str(caught.value.advice)


def test_a_folder_is_no_upscaler(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="is a folder"):
        read_upscaler(tmp_path)


@pytest.mark.parametrize(
    ("name", "one_in"), thinned(list(product(EMITS, (5, 1))), list(product(EMITS, (5,))))
)
def test_a_missing_or_misshapen_weight_is_a_misfit(tmp_path: Path, name: str, one_in: int) -> None:
    """One weight in so many is broken, the last among them."""
    shapes = {key: array.shape for key, array in arrays_of(name).items()}
    weights = read_upscaler(file_of(tmp_path, name)).network.weights
    path = tmp_path / "broken.safetensors"
    for key in [*weights][::-one_in]:
        for broken in (None, (*shapes[key], 2), (0, *shapes[key][1:])):
            changed = {k: shape for k, shape in shapes.items() if k != key}
            write_sparse(path, changed | ({key: broken} if broken else {}))
            # Without what shows an architecture or how it ends, the file may be another one.
            try:
                read_upscaler(path)
            except EngineError as error:
                assert error.code in (  # noqa: PT017 (some of these files are sound)
                    ErrorCode.CHECKPOINT_MISMATCH,
                    ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
                )


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        ("conv_first.weight", (8, 5, 3, 3)),
        ("conv_last.weight", (2, 8, 3, 3)),
        ("conv_first.weight", (8, 48, 3)),
        ("body.1.rdb2.conv3.weight", (4, 8, 3, 3)),
    ],
)
def test_sizes_that_contradict_each_other_are_a_misfit(
    tmp_path: Path, key: str, shape: tuple[int, ...]
) -> None:
    shapes = {name: array.shape for name, array in arrays_of("ESRGAN").items()}
    path = write_sparse(tmp_path / "broken.safetensors", shapes | {key: shape})
    with pytest.raises(EngineError) as caught:
        read_upscaler(path)
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH


def test_integers_are_no_weights(tmp_path: Path) -> None:
    shapes = {name: array.shape for name, array in arrays_of("ESRGAN").items()}
    path = write_sparse(tmp_path / "integers.safetensors", shapes, DType.I8)
    with pytest.raises(EngineError, match="stored as I8"):
        read_upscaler(path)


def test_a_cut_file_is_truncated(tmp_path: Path) -> None:
    path = file_of(tmp_path, "ESRGAN")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(EngineError) as caught:
        read_upscaler(path)
    assert caught.value.code is ErrorCode.CHECKPOINT_TRUNCATED


def test_grey_networks_are_read(tmp_path: Path) -> None:
    shapes = wanted(partial(rrdb, config=msgspec.structs.replace(RRDB, channels=1)))
    path = tmp_path / "grey.safetensors"
    write_arrays(
        path, {name: np.zeros(weight.shape, np.float32) for name, weight in shapes.items()}
    )
    assert read_upscaler(path).network.channels == 1
