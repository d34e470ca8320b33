"""The sizes that a network is compiled for, and the sizes that an artifact serves."""

from collections.abc import Mapping

from backends.base import DimensionRange, ShapeProfile, ShapeSupport, TensorSpec, base_of

Dimensions = Mapping[str, DimensionRange]
Sizes = Mapping[str, int]


def offered(minimum: int, present: int, maximum: int) -> DimensionRange:
    """Return the range of a dimension: the sizes that the app offers, and the present one.

    For a present size beyond the maximum, the maximum is doubled until it fits, so that few
    different ranges are compiled.
    """
    while maximum < present:
        maximum *= 2
    return DimensionRange(min(minimum, present), present, maximum)


def profile_for(dimensions: Dimensions, shapes: ShapeSupport) -> ShapeProfile:
    """Return the profile to compile for: all offered sizes, or only the present ones if STATIC."""
    if shapes is not ShapeSupport.STATIC:
        return ShapeProfile(dict(dimensions))
    exact = {name: d.optimum for name, d in dimensions.items()}
    return ShapeProfile({name: DimensionRange(n, n, n) for name, n in exact.items()})


def present_sizes(dimensions: Dimensions) -> dict[str, int]:
    """Return the present size of each dimension."""
    return {name: dimension.optimum for name, dimension in dimensions.items()}


def at_sizes(dimensions: Dimensions, sizes: Sizes) -> dict[str, DimensionRange]:
    """Return the dimensions at present sizes `sizes`; one without a known range is fixed."""
    return {
        name: offered(dimensions[name].minimum, size, dimensions[name].maximum)
        if name in dimensions
        else DimensionRange(size, size, size)
        for name, size in sizes.items()
    }


def variable_dimensions(inputs: tuple[TensorSpec, ...]) -> set[str]:
    """Return the names of the variable dimensions of a graph's inputs.

    Those that follow from others are left out.
    """
    return {base_of(size) for spec in inputs for size in spec.shape if isinstance(size, str)}


def covers(profile: ShapeProfile, sizes: Sizes) -> bool:
    """Return True if an artifact compiled for the profile runs at these sizes."""
    return profile.dimensions.keys() == sizes.keys() and all(
        profile.dimensions[name].minimum <= size <= profile.dimensions[name].maximum
        for name, size in sizes.items()
    )
