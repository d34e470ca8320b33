"""Gives an engine other weights, with the common API of TensorRT and TensorRT-RTX.

https://docs.nvidia.com/deeplearning/tensorrt-rtx/latest/_static/python-api/ (`Refitter`). The names
are those of the graph's weights: TensorRT keeps the names of ONNX initializers. Never run on an
engine yet, as that takes a card (docs/tensorrt.md).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (the module is handed in, and has no types)

from collections.abc import Collection, Mapping
from typing import Any

from backends.base import Array, BackendError, DType, RefitError, WeightRef
from backends.mapped_weights import mapped_weights
from backends.tensorrt.build import failure

_TYPES = {DType.F32: "FLOAT", DType.F16: "HALF", DType.BF16: "BF16"}


def refittable(trt: Any, engine: Any, messages: Any) -> frozenset[str]:
    """Return the names of the weights that can be replaced; none in an engine built without."""
    if not engine.refittable:
        return frozenset()
    return frozenset(trt.Refitter(engine, messages).get_all_weights())


def refit(
    trt: Any,
    engine: Any,
    weights: Mapping[str, WeightRef],
    changed: Collection[str],
    messages: Any,
) -> None:
    """Replace the weights `changed`, which are among `weights`, in a loaded engine.

    Where TensorRT has combined a weight with others, it wants these again: they come from
    `weights`, too. Raises RefitError; the engine may then have some of the new weights.
    """
    refitter = trt.Refitter(engine, messages)
    # The refitter refers to the arrays until it is done.
    kept: dict[str, Array] = {}
    wanted = set(changed)
    while wanted:
        unknown = sorted(wanted - weights.keys())
        if unknown:
            raise RefitError(f"TensorRT wants weights that the graph lacks: {unknown[0]}")
        for name in sorted(wanted):
            kept[name] = _array(name, weights[name])
            kind = getattr(trt.DataType, _TYPES[weights[name].dtype])
            new = trt.Weights(kind, kept[name].ctypes.data, kept[name].size)
            if not refitter.set_named_weights(name, new):
                raise _refused(f"TensorRT does not replace {name}", messages)
        wanted = set(refitter.get_missing_weights())
        if wanted & kept.keys():
            raise _refused("TensorRT wants a weight twice", messages)
    if not refitter.refit_cuda_engine():
        raise _refused("TensorRT does not replace the weights", messages)


def _array(name: str, ref: WeightRef) -> Array:
    try:
        return mapped_weights({name: ref})[name]
    except (OSError, ValueError) as error:  # a weights file that is gone or cut short
        raise BackendError(str(error)) from error


def _refused(what: str, messages: Any) -> RefitError:
    return RefitError(str(failure(what, messages)))
