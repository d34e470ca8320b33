"""Preprocessors without weights: OpenCV's maps, and pictures that are hard to make maps of."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.api.preprocessors import (
    PREPROCESSORS,
    CannyOptions,
    InvertOptions,
    LineartStandardOptions,
    MapOptions,
    MapTarget,
    PreprocessorName,
    ShuffleOptions,
    ThresholdOptions,
    XdogOptions,
    name_of,
)
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.preprocessors.opencv import edges
from engine.preprocessors.run import BY_NETWORK, PLAIN, make_map
from engine.preprocessors.scales import map_size, pixel_perfect
from tests.preprocessors.cases import CASES
from tests.preprocessors.pictures import PICTURES, Pixels, noise

FROZEN = Path(__file__).parent / "frozen" / "maps.npz"
# Sums of float32 are ordered by the machine's library of matrices.
OF_FLOATS = (XdogOptions, LineartStandardOptions)


@pytest.fixture(scope="module")
def frozen() -> Mapping[str, NDArray[np.uint8]]:
    with np.load(FROZEN) as arrays:
        return dict(arrays)


@pytest.mark.parametrize("name", CASES)
def test_a_map_is_that_of_opencv(name: str, frozen: Mapping[str, NDArray[np.uint8]]) -> None:
    picture, options = CASES[name]
    made = make_map(PICTURES[picture], options)
    assert made.shape == frozen[name].shape
    assert made.dtype == np.uint8
    differs = (made != frozen[name]).mean()
    assert differs <= (1e-3 if isinstance(options, OF_FLOATS) else 0)


def test_edges_are_those_of_opencv(frozen: Mapping[str, NDArray[np.uint8]]) -> None:
    names = [name for name in frozen if name.startswith("edges/")]
    assert len(names) == 4 * len(PICTURES)
    for name in names:
        _, picture, low, high = name.split("/")
        found = edges.canny(PICTURES[picture], int(low), int(high))
        assert np.array_equal(np.packbits(found > 0), frozen[name])
        assert set(np.unique(found)) <= {0, 255}


def test_a_long_line_is_followed_from_its_one_strong_end() -> None:
    picture = np.zeros((64, 400, 1), np.uint8)
    picture[20:] = 20
    assert not edges.canny(picture, 50, 100).any()
    picture[20:, :3] = 200
    assert edges.canny(picture, 50, 100)[19:21].any(axis=0).all()


def every() -> list[MapOptions]:
    return [
        preprocessor.options() for preprocessor in PREPROCESSORS.values() if not preprocessor.files
    ]


@pytest.mark.parametrize("options", every(), ids=name_of)
@pytest.mark.parametrize("size", [(1, 1), (1, 3), (640, 200)])
def test_a_map_of_any_picture_has_its_resolution(
    options: MapOptions, size: tuple[int, int]
) -> None:
    resolution = min(size)
    if hasattr(options, "resolution"):
        resolution = 64
        options = msgspec.structs.replace(options, resolution=resolution)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = make_map(noise(*size), options)
    assert (made.shape[1], made.shape[0]) == map_size(*size, resolution)
    assert made.dtype == np.uint8


@pytest.mark.parametrize("options", every(), ids=name_of)
@pytest.mark.parametrize("level", [0, 255])
def test_a_map_of_one_colour_has_one_colour(options: MapOptions, level: int) -> None:
    made = make_map(np.full((70, 90, 3), level, np.uint8), options)
    assert np.ptp(made) == 0


def test_a_picture_of_16000_pixels_a_side_becomes_a_small_map() -> None:
    broad = np.zeros((1000, 16000, 3), np.uint8)
    broad[:, 8000:] = 255
    made = make_map(broad, CannyOptions(resolution=64))
    assert made.shape == (64, 1024, 3)
    lit = np.flatnonzero(made.max(axis=(0, 2)))
    assert lit.tolist() == [511]


def test_a_map_that_would_be_too_long_is_refused() -> None:
    with pytest.raises(EngineError) as refused:
        make_map(np.zeros((10, 16000, 3), np.uint8), CannyOptions())
    assert refused.value.code is ErrorCode.REQUEST_INVALID
    assert "819200 x 512 pixels" in refused.value.message


@pytest.mark.parametrize("options", [CannyOptions(low=0), CannyOptions(resolution=9999)])
def test_an_option_out_of_its_bounds_is_refused(options: MapOptions) -> None:
    with pytest.raises(EngineError, match="must be from"):
        make_map(noise(9, 9), options)


def test_invert_keeps_size_and_turns_every_level() -> None:
    picture: Pixels = noise(31, 17)
    assert np.array_equal(
        make_map(picture, InvertOptions()).astype(int) + picture, np.full_like(picture, 255)
    )


def test_a_shuffle_depends_on_its_seed_alone() -> None:
    picture = PICTURES["shapes"]
    first, again, other = (
        make_map(picture, ShuffleOptions(resolution=64, seed=seed)) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_options_name_their_preprocessor_on_the_way() -> None:
    for name, preprocessor in PREPROCESSORS.items():
        assert preprocessor.options in get_args(MapOptions), (
            "options have their place in MapOptions"
        )
        assert name_of(preprocessor.options()) is name
        sent = msgspec.json.encode(preprocessor.options())
        assert msgspec.json.decode(sent, type=MapOptions) == preprocessor.options()
    assert set(PREPROCESSORS) == set(PreprocessorName)


def test_every_preprocessor_runs_and_is_held_to_its_reference() -> None:
    runs, frozen = {*BY_NETWORK, *PLAIN}, {name_of(options) for _, options in CASES.values()}
    assert runs == set(PreprocessorName), "each has its line in engine/preprocessors/run.py"
    # The networks are held to theirs by tests/oracle/test_annotators.py.
    without = PLAIN.keys() - frozen - {PreprocessorName.INVERT, PreprocessorName.REFERENCE_ONLY}
    assert not without, "a map of each is frozen by its lines in tests/preprocessors/cases.py"


def test_every_preprocessor_that_makes_maps_is_told_of() -> None:
    page = (Path(__file__).parents[2] / "docs" / "maps.md").read_text("utf-8")
    untold = [name for name in PreprocessorName if f"`{name}`" not in page]
    assert untold == [PreprocessorName.REFERENCE_ONLY], "docs/maps.md has a line for each"


@pytest.mark.parametrize(
    ("picture", "target", "whole", "resolution"),
    [
        ((1000, 500), (512, 512), False, 512),
        ((1000, 500), (512, 512), True, 256),
        ((640, 960), (512, 768), False, 512),
        ((333, 1000), (768, 512), False, 768),
    ],
)
def test_pixel_perfect_is_the_shorter_side_in_the_target(
    picture: tuple[int, int], target: tuple[int, int], *, whole: bool, resolution: int
) -> None:
    wanted = MapTarget(*target, whole=whole)
    assert pixel_perfect(*picture, wanted) == resolution
    pixels = noise(*picture)
    made = make_map(pixels, ThresholdOptions(resolution=None), target=wanted)
    assert min(made.shape[:2]) == resolution
    assert np.array_equal(made, make_map(pixels, ThresholdOptions(resolution=resolution)))


def test_a_map_without_a_resolution_and_a_target_is_as_large_as_its_picture() -> None:
    made = make_map(noise(50, 40), ThresholdOptions(resolution=None))
    assert made.shape == (40, 50, 3)


@pytest.mark.parametrize("options", every(), ids=name_of)
@pytest.mark.parametrize("size", [(1, 1), (63, 40), (1200, 60)])
def test_a_small_picture_has_a_map_of_its_own_size(
    options: MapOptions, size: tuple[int, int]
) -> None:
    if hasattr(options, "resolution"):
        options = msgspec.structs.replace(options, resolution=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = make_map(noise(*size), options)
    assert (made.shape[1], made.shape[0]) == size


def test_a_target_leaves_a_resolution_as_it_is() -> None:
    made = make_map(noise(50, 40), ThresholdOptions(resolution=64), target=MapTarget(200, 200))
    assert min(made.shape[:2]) == 64
