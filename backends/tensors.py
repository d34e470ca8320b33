"""The inputs and outputs of a graph: their names, types and shapes, and the numbers of a run."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.elements import DType
from backends.errors import BackendError

Array = NDArray[Any]


class DeviceValue(Protocol):
    """The numbers of an output that stayed where its session computes.

    Sessions of the same backend and device take it as an input, its own session, too. It is valid
    until its session has run again or is closed.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the numbers."""
        ...

    @property
    def dtype(self) -> DType:
        """The element type, that of the output's `TensorSpec`."""
        ...

    def numpy(self) -> Array:
        """Return the numbers in a new array in main memory. Raises BackendError."""
        ...


class HostValue(msgspec.Struct, frozen=True, eq=False):
    """A `DeviceValue` of a backend that computes in main memory, or hands its results over there.

    `array` may be the memory of the output itself, which the next run overwrites.
    """

    array: Array
    dtype: DType

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the numbers."""
        return self.array.shape

    def numpy(self) -> Array:
        """Return a copy of the numbers."""
        return self.array.copy()


# What a run is given for an input.
Feed = Array | DeviceValue
Feeds = Mapping[str, Feed]


class TensorSpec(msgspec.Struct, frozen=True):
    """Name, type and shape of a graph's input or output.

    A string in the shape names a dimension that may vary; "8*height" and "height/8", rounded up,
    state how a dimension follows from another. An `optional` input that is neither fed nor pinned
    is all zeros.
    """

    name: str
    dtype: DType
    shape: tuple[int | str, ...]
    optional: bool = False


def host_values(
    outputs: tuple[TensorSpec, ...], results: Mapping[str, Array]
) -> dict[str, DeviceValue]:
    """Return a run's results, which are in main memory, as values that other sessions take."""
    return {spec.name: HostValue(results[spec.name], spec.dtype) for spec in outputs}


def host_array(feed: Feed) -> Array:
    """Return the numbers of a feed in main memory, where they are there without a copy."""
    if isinstance(feed, HostValue):
        return feed.array
    return feed if isinstance(feed, np.ndarray) else feed.numpy()


def host_arrays(feeds: Feeds) -> dict[str, Array]:
    """Return the numbers of all feeds in main memory."""
    return {name: host_array(feed) for name, feed in feeds.items()}


def all_feeds(
    inputs: tuple[TensorSpec, ...], pinned: Mapping[str, Array], feeds: Feeds
) -> dict[str, Feed]:
    """Return all inputs of a run: fed, pinned, and zeros for optional ones.

    The zeros of one shape are the same array, which must not be written to. Raises BackendError if
    an input is missing.
    """
    given: dict[str, Feed] = {**pinned, **feeds}
    absent = [spec for spec in inputs if spec.name not in given]
    missing = [spec.name for spec in absent if not spec.optional]
    if missing:
        raise BackendError(f"nothing is given for {', '.join(missing)}")
    if absent:
        sizes = sizes_of(tuple(spec for spec in inputs if spec.name in given), given)
        for spec in absent:
            shape = tuple(size_of(dimension, sizes) for dimension in spec.shape)
            given[spec.name] = _zeros(shape, spec.dtype)
    return given


@cache
def _zeros(shape: tuple[int, ...], dtype: DType) -> Array:
    """Return zeros; large ones take no memory, because nothing is ever written to them."""
    return np.zeros(shape, dtype.numpy)


def sizes_of(inputs: tuple[TensorSpec, ...], given: Feeds) -> dict[str, int]:
    """Return the value of each dynamic dimension. Raises BackendError if shapes do not fit."""
    sizes: dict[str, int] = {}
    shapes = [(spec, tuple(given[spec.name].shape)) for spec in inputs]
    for spec, shape in shapes:
        if len(shape) != len(spec.shape):
            raise BackendError(f"input {spec.name} has shape {shape}, not {spec.shape}")
        for expected, actual in zip(spec.shape, shape, strict=True):
            if isinstance(expected, str) and expected == base_of(expected):
                sizes.setdefault(expected, actual)
    for spec, shape in shapes:
        if shape != tuple(size_of(expected, sizes) for expected in spec.shape):
            raise BackendError(f"input {spec.name} has shape {shape}, not {spec.shape}")
    return sizes


def base_of(dimension: str) -> str:
    """Return the name of the dimension that a dimension follows from: height for "height/2"."""
    return dimension.rpartition("*")[2].partition("/")[0]


def size_of(dimension: int | str, sizes: Mapping[str, int]) -> int:
    """Return the size for a dimension of a `TensorSpec`'s shape, such as 64 or "8*height".

    A quotient is rounded up. Raises KeyError for a dimension without a size.
    """
    if isinstance(dimension, int):
        return dimension
    factor, times, name = dimension.rpartition("*")
    if times:
        return int(factor) * sizes[name]
    name, _, divisor = dimension.partition("/")
    return -(-sizes[name] // int(divisor or 1))
