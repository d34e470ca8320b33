"""The sizes that an engine is built for: optimisation profiles."""

from typing import Literal

import msgspec

from backends.base import BackendError, DimensionRange, ShapeProfile, TensorSpec, base_of, size_of

Shape = tuple[int, ...]

# An engine is built for ranges of sizes, which a graph alone does not tell.
NO_ARTIFACT = "it runs only what was compiled for given sizes"


class InputRange(msgspec.Struct, frozen=True):
    """The shapes that an input may have, and its usual one."""

    name: str
    minimum: Shape
    optimum: Shape
    maximum: Shape


def input_ranges(inputs: tuple[TensorSpec, ...], profile: ShapeProfile) -> tuple[InputRange, ...]:
    """Return each input's range of shapes. Raises BackendError if the profile lacks a dimension."""
    return tuple(_input_range(spec, profile) for spec in inputs)


def _input_range(spec: TensorSpec, profile: ShapeProfile) -> InputRange:
    parts = [_dimension(size, profile) for size in spec.shape]
    return InputRange(
        spec.name,
        tuple(part.minimum for part in parts),
        tuple(part.optimum for part in parts),
        tuple(part.maximum for part in parts),
    )


def _dimension(size: int | str, profile: ShapeProfile) -> DimensionRange:
    if isinstance(size, int):
        return DimensionRange(size, size, size)
    base = base_of(size)
    if base not in profile.dimensions:
        raise BackendError(f"nothing says how large {size} may be")
    known = profile.dimensions[base]
    ends = (size_of(size, {base: n}) for n in (known.minimum, known.optimum, known.maximum))
    return DimensionRange(*ends)


def profile_text(
    ranges: tuple[InputRange, ...], which: Literal["minimum", "optimum", "maximum"]
) -> str:
    """Format shapes for TensorRT-RTX's provider: "sample:1x4x64x64,context:2x77x768"."""
    shapes = {part.name: getattr(part, which) for part in ranges}
    return ",".join(f"{name}:{'x'.join(map(str, shape))}" for name, shape in shapes.items())


def is_fixed(profile: ShapeProfile) -> bool:
    """True if the profile holds only one size."""
    return all(part.minimum == part.maximum for part in profile.dimensions.values())
