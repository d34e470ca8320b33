"""Optimisation profiles: of which sizes, and how the provider wants them written."""

import re

import pytest

from backends.base import BackendError, DimensionRange, DType, ShapeProfile, TensorSpec
from backends.tensorrt.ranges import input_ranges, is_fixed, profile_text
from tests.backends.tensorrt.networks import NETWORKS, PROFILE
from tests.graphs.networks import PLAIN, graph_in_memory, random_weights

INPUTS = (
    TensorSpec("sample", DType.F32, ("batch", 4, "height", "width")),
    TensorSpec("timestep_embedding", DType.F32, (1, 32)),
)
# "The format ... input1:dim1xdim2...,input2:dim1xdim2...", in the plug-in's own words.
TEXT = re.compile(r"[\w.]+:\d+(x\d+)*(,[\w.]+:\d+(x\d+)*)*")


def test_ranges_hold_fixed_and_dynamic_dimensions() -> None:
    sample, waves = input_ranges(INPUTS, PROFILE)
    assert sample.minimum == (1, 4, 8, 8)
    assert sample.optimum == (1, 4, 16, 16)
    assert sample.maximum == (4, 4, 24, 24)
    assert waves.minimum == waves.optimum == waves.maximum == (1, 32)


def test_ranges_are_written_in_the_providers_format() -> None:
    ranges = input_ranges(INPUTS, PROFILE)
    assert profile_text(ranges, "minimum") == "sample:1x4x8x8,timestep_embedding:1x32"
    assert profile_text(ranges, "optimum") == "sample:1x4x16x16,timestep_embedding:1x32"
    assert profile_text(ranges, "maximum") == "sample:4x4x24x24,timestep_embedding:1x32"


@pytest.mark.parametrize("name", NETWORKS)
def test_every_input_of_our_networks_is_in_the_profile(name: str) -> None:
    """The provider takes sizes of 0 to 32767, mostly 1, for inputs that it is not told of."""
    emit = NETWORKS[name]
    inputs = graph_in_memory(emit, random_weights(emit), PLAIN).inputs
    text = profile_text(input_ranges(inputs, PROFILE), "maximum")
    assert TEXT.fullmatch(text)
    assert [part.partition(":")[0] for part in text.split(",")] == [spec.name for spec in inputs]


def test_a_missing_size_is_an_error() -> None:
    with pytest.raises(BackendError, match="how large batch may be"):
        input_ranges(INPUTS, ShapeProfile())


def test_a_profile_of_one_size_is_fixed() -> None:
    fixed = {name: DimensionRange(n, n, n) for name, n in {"batch": 1, "width": 24}.items()}
    assert is_fixed(ShapeProfile(fixed))
    assert not is_fixed(ShapeProfile(fixed | {"width": DimensionRange(8, 24, 24)}))
    assert not is_fixed(PROFILE)
