"""The bytes of weights that a runtime holds in memory of its own, beside those that it is given."""

from collections.abc import Callable, Collection, Mapping

from backends.base import IN_FLIGHT, DType, MemoryInfo, OperatorSet
from engine.weights.packing import Field, PackedWeight, bound_bytes, packing_of
from engine.weights.sources import WeightSource

# The axes of the weights of linear layers and of convolutions.
_MATRIX, _CONVOLUTION = 2, 4
# The bits of the integers that ONNX Runtime packs on the processor.
_PACKED_BITS = 4


def runtime_bytes(
    sources: Collection[WeightSource],
    element: DType,
    operators: OperatorSet,
    *,
    in_place: bool = False,
) -> int:
    """Return the bytes that a runtime holds of weights bound in `element` type.

    One that reads no weights in place, such as a card's, holds all that it is given, and a layer in
    blocks as `element` type while it runs; with `in_place` only those that are on their way to it,
    where it streams weights. OpenVINO multiplies with the blocks instead, and holds their scales
    and zeros in float32.

    ONNX Runtime on the processor packs, without `in_place`, all matrices, or beside weights in
    blocks none (`in_place_names`). Of those it packs integers of 4 bits, never scales and zeros,
    and turns all others to float32 as it multiplies, one layer at a time
    (`backends.onnx_runtime.blocks`). In place it does so with all blocks, and orders only the
    weights of convolutions anew.
    """
    form = operators.blocks
    if operators.multiplies_blocks:
        plain = (weight for weight in sources if packing_of(weight, form) is None)
        blocks = (weight for weight in sources if packing_of(weight, form))
        held = sum(weight.elements * element.itemsize for weight in plain)
        return held + sum(bound_bytes(weight, DType.F32, form) for weight in blocks)
    if not operators.reads_in_place:
        blocks = (weight for weight in sources if packing_of(weight, form))
        widest = max((weight.elements * element.itemsize for weight in blocks), default=0)
        if in_place and operators.streaming:
            return streamed_bytes(sources, element, operators) + widest
        return sum(bound_bytes(weight, element, form) for weight in sources) + widest
    return _packed_bytes(sources, element, operators, in_place=in_place)


def _packed_bytes(
    sources: Collection[WeightSource], element: DType, operators: OperatorSet, *, in_place: bool
) -> int:
    """Return what ONNX Runtime packs on the processor, and its widest layer while that runs."""
    packings = [packing_of(source, operators.blocks) for source in sources]
    maps_plain = in_place or any(packings)
    held = widest = 0
    for source, packing in zip(sources, packings, strict=True):
        if packing is None:
            packs = not maps_plain or len(source.shape) == _CONVOLUTION
            held += source.elements * element.itemsize * packs
        elif in_place or packing.bits != _PACKED_BITS:
            widest = max(widest, source.elements * DType.F32.itemsize)
        else:
            held += source.elements * packing.bits // 8
    return held + widest


def streamed_bytes(
    sources: Collection[WeightSource], element: DType, operators: OperatorSet
) -> int:
    """Return the bytes of the weights that are on a device at once if as few as possible are.

    Those are what two of the largest layers need: one computes while the next is read.
    """
    every = [bound_bytes(weight, element, operators.blocks) for weight in sources]
    return min(sum(every), IN_FLIGHT * max(every, default=0))


def can_stream(weight_bytes: int, operators: OperatorSet, memory: Callable[[], MemoryInfo]) -> bool:
    """Return True if a network's weights can be streamed to a device with this `memory`.

    That is only asked where it matters.
    """
    streaming = operators.streaming
    if streaming is None or not streaming.least_share:
        return streaming is not None
    return streaming.serves(weight_bytes, memory().total)


def in_place_names(
    used: Mapping[str, WeightSource], element: DType, room_bytes: int | None
) -> frozenset[str]:
    """Return the names of a graph's weights to be read in place.

    They are those for which there is no room, where that is limited: the ones that come first are
    packed. Beside weights in blocks they are all matrices of 32 bits, too: packed, those take eight
    times the memory of blocks of 4 bits and several times the time to load them, to save an
    eighth of their products' time (1280 rows). Weights that a runtime never packs are not named.
    """
    has_blocks = any(isinstance(source, PackedWeight) for source in used.values())
    names: set[str] = set()
    for name, source in used.items():
        if not _packs(source):
            continue
        is_plain = not isinstance(source, PackedWeight)
        nbytes = source.elements * element.itemsize if is_plain else source.elements
        if (is_plain and has_blocks) or (room_bytes is not None and nbytes > room_bytes):
            names.add(name)
        elif room_bytes is not None:
            room_bytes -= nbytes
    return frozenset(names)


def _packs(source: WeightSource) -> bool:
    """Return True for a weight of a graph that the runtime packs unless it is read in place."""
    if isinstance(source, PackedWeight):
        return source.field is Field.INTEGERS and source.packing.bits == _PACKED_BITS
    return len(source.shape) == _MATRIX
