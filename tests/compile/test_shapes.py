"""The sizes that are compiled for, and the compiled ones that serve."""

import pytest

from backends.base import DimensionRange, DType, ShapeProfile, ShapeSupport, TensorSpec
from engine.compile.shapes import (
    at_sizes,
    covers,
    offered,
    present_sizes,
    profile_for,
    variable_dimensions,
)

DIMENSIONS = {"height": offered(8, 64, 256), "batch": offered(1, 1, 8)}


@pytest.mark.parametrize(
    ("present", "range_"),
    [(64, (8, 64, 256)), (4, (4, 4, 256)), (256, (8, 256, 256)), (300, (8, 300, 512))],
)
def test_an_offered_range_contains_the_present_size(
    present: int, range_: tuple[int, int, int]
) -> None:
    assert offered(8, present, 256) == DimensionRange(*range_)


def test_sizes_beyond_the_offer_share_ranges() -> None:
    """Else each would be compiled for itself."""
    assert {offered(8, size, 256).maximum for size in (257, 300, 400, 512)} == {512}


def test_profiles_have_ranges_or_the_present_size() -> None:
    assert profile_for(DIMENSIONS, ShapeSupport.RANGES) == ShapeProfile(DIMENSIONS)
    exact = profile_for(DIMENSIONS, ShapeSupport.STATIC)
    assert exact.dimensions == {
        "height": DimensionRange(64, 64, 64),
        "batch": DimensionRange(1, 1, 1),
    }
    assert present_sizes(DIMENSIONS) == {"height": 64, "batch": 1}


@pytest.mark.parametrize(
    ("sizes", "served"),
    [
        ({"height": 8, "batch": 8}, True),
        ({"height": 256, "batch": 1}, True),
        ({"height": 7, "batch": 1}, False),
        ({"height": 257, "batch": 1}, False),
        ({"height": 64, "batch": 9}, False),
        ({"height": 64}, False),
        ({"height": 64, "batch": 1, "tokens": 77}, False),
    ],
)
def test_ranges_serve_what_is_within_all_of_them(sizes: dict[str, int], served: bool) -> None:
    assert covers(profile_for(DIMENSIONS, ShapeSupport.RANGES), sizes) is served


def test_other_sizes_keep_the_offer_and_unknown_dimensions_have_none() -> None:
    other = at_sizes(DIMENSIONS, {"height": 128, "batch": 2, "tokens": 77})
    assert other == {
        "height": DimensionRange(8, 128, 256),
        "batch": DimensionRange(1, 2, 8),
        "tokens": DimensionRange(77, 77, 77),
    }


def test_variable_dimensions_are_those_with_names() -> None:
    inputs = (
        TensorSpec("a", DType.F32, ("batch", 4, "height")),
        TensorSpec("b", DType.F32, ("batch", 77, "height/2")),
    )
    assert variable_dimensions(inputs) == {"batch", "height"}
