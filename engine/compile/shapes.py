"""For which sizes a network is compiled, and which compiled one serves for which."""

from collections.abc import Mapping

from backends.base import DimensionRange, ShapeProfile, ShapeSupport, TensorSpec

Dimensions = Mapping[str, DimensionRange]
Sizes = Mapping[str, int]


def offered(minimum: int, present: int, maximum: int) -> DimensionRange:
    """The range of a dimension: the sizes that the app offers, and the present one.

    Sizes beyond the maximum get ranges that grow in powers of two, not one for each size.
    """
    while maximum < present:
        maximum *= 2
    return DimensionRange(min(minimum, present), present, maximum)


def profile_for(dimensions: Dimensions, shapes: ShapeSupport) -> ShapeProfile:
    """The profile to compile for: all offered sizes, or exactly the present ones."""
    if shapes is not ShapeSupport.STATIC:
        return ShapeProfile(dict(dimensions))
    exact = {name: d.optimum for name, d in dimensions.items()}
    return ShapeProfile({name: DimensionRange(n, n, n) for name, n in exact.items()})


def present_sizes(dimensions: Dimensions) -> dict[str, int]:
    """The sizes that a network is wanted for now."""
    return {name: dimension.optimum for name, dimension in dimensions.items()}


def at_sizes(dimensions: Dimensions, sizes: Sizes) -> dict[str, DimensionRange]:
    """Dimensions whose present sizes are these; what nobody knows a range of has but this size."""
    return {
        name: offered(dimensions[name].minimum, size, dimensions[name].maximum)
        if name in dimensions
        else DimensionRange(size, size, size)
        for name, size in sizes.items()
    }


def variable_dimensions(inputs: tuple[TensorSpec, ...]) -> set[str]:
    """The names of a graph's dimensions that may vary."""
    return {size for spec in inputs for size in spec.shape if isinstance(size, str)}


def covers(profile: ShapeProfile, sizes: Sizes) -> bool:
    """Return True if an artifact compiled for the profile runs at these sizes."""
    return profile.dimensions.keys() == sizes.keys() and all(
        profile.dimensions[name].minimum <= size <= profile.dimensions[name].maximum
        for name, size in sizes.items()
    )
