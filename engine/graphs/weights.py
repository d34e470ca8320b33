"""Decides in which element type a component's weights are bound, and converts those that differ.

A weight already stored in the chosen type is bound by reference: neither copied nor rewritten.
Measured on OpenVINO with SD 1.5's UNet in bfloat16 (private memory): a float32 file by reference
2.3 GB; a float16 file cast inside the graph 5.5 GB, converted to bfloat16 in memory 3.8 GB, from a
mapped bfloat16 working copy 2.1 GB.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import numpy as np

from backends.base import (
    Array,
    ComputedArray,
    DType,
    FileSlice,
    OperatorSet,
    Precision,
    WeightRef,
)

Report = Callable[[int, int], None]


def element_type(
    weights: Iterable[FileSlice], operators: OperatorSet, precision: Precision
) -> DType:
    """The element type to bind `weights` in, for a network computed in `precision`.

    The files' own type where the compiler takes it and computes no more precisely than it; else
    the precision's type; float32 where the compiler takes nothing else.
    """
    stored = Counter[DType]()
    for ref in weights:
        stored[ref.dtype] += ref.nbytes
    common = stored.most_common(1)[0][0] if stored else DType.F32
    for candidate in (common, precision.dtype):
        loses = candidate.itemsize < precision.dtype.itemsize
        if candidate in operators.elements and not loses:
            return candidate
    return DType.F32


def bind(
    weights: Mapping[str, FileSlice], element: DType, report: Report | None = None
) -> dict[str, WeightRef]:
    """Every weight in `element` type: by reference where it is stored so, else converted.

    `report(done, total)` counts converted bytes and may raise to stop.
    """
    bound: dict[str, WeightRef] = {n: r for n, r in weights.items() if r.dtype is element}
    pending = {n: r for n, r in weights.items() if r.dtype is not element}
    total, done = sum(ref.nbytes for ref in pending.values()), 0
    # NumPy releases the interpreter lock while it converts.
    with ThreadPoolExecutor() as pool:
        converted = pool.map(converted_weight, pending.values(), repeat(element))
        try:
            for (name, ref), array in zip(pending.items(), converted, strict=True):
                bound[name] = ComputedArray(array, element)
                done += ref.nbytes
                if report:
                    report(done, total)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # else it converts to the end first
            raise
    return bound


def converted_weight(ref: FileSlice, element: DType) -> Array:
    """One weight read and converted, rounding to nearest."""
    return mapped(ref).astype(element.numpy)


def mapped(ref: FileSlice) -> Array:
    """A view of a weight over its file's pages; nothing is read until it is used."""
    flat = np.memmap(ref.path, np.uint8, "r", ref.offset, (ref.nbytes,))
    return flat.view(ref.dtype.numpy).reshape(ref.shape)
