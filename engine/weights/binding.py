"""Chooses the element type of a component's bound weights, and converts weights of other types.

A weight already stored in the chosen type is bound by reference: neither copied nor rewritten.
Measured on OpenVINO with SD 1.5's UNet in bfloat16 (private memory): a float32 file by reference
2.3 GB; a float16 file cast inside the graph 5.5 GB, converted to bfloat16 in memory 3.8 GB, from a
mapped bfloat16 working copy 2.1 GB.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from backends.base import Array, ComputedArray, DType, OperatorSet, Precision, WeightRef
from engine.weights.packing import bound_bytes, bound_type
from engine.weights.sources import WeightSource

Report = Callable[[int, int], None]


def element_type(stored: DType, operators: OperatorSet, precision: Precision) -> DType:
    """Return the element type to bind weights in, for a network computed in `precision`.

    It is the type that most of them are `stored` in (`sources.stored_type`) if the compiler takes
    it and the type has at least as many bits as the precision; else the precision's type; else
    float32. A strongly typed compiler needs the precision's type.
    """
    if operators.strongly_typed:
        return precision.dtype
    for candidate in (stored, precision.dtype):
        taken = candidate in operators.elements
        if taken and candidate.itemsize >= precision.dtype.itemsize:
            return candidate
    return DType.F32


def bind(
    weights: Mapping[str, WeightSource], element: DType, report: Report | None = None
) -> dict[str, WeightRef]:
    """Bind every weight: by reference if a file stores it in its type, else converted.

    The type is `element`, but that of its own for a packed weight.

    `report(done, total)` counts converted bytes and may raise to stop.
    """

    def read(source: WeightSource) -> Array:
        return source.read_as(bound_type(source, element))

    slices = {name: source.slice_as(element) for name, source in weights.items()}
    bound: dict[str, WeightRef] = {name: ref for name, ref in slices.items() if ref is not None}
    pending = {name: source for name, source in weights.items() if name not in bound}
    total, done = sum(bound_bytes(source, element) for source in pending.values()), 0
    # NumPy releases the interpreter lock while it converts. More threads than processors evict each
    # other's numbers: patched weights took twice as long with the default's four more.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        computed = pool.map(read, pending.values())
        try:
            for (name, source), array in zip(pending.items(), computed, strict=True):
                bound[name] = ComputedArray(array, bound_type(source, element))
                done += array.nbytes
                if report:
                    report(done, total)
        finally:
            pool.shutdown(cancel_futures=True)  # else a stop would wait for all conversions
    return bound
