"""The tensors of an ONNX file (`TensorProto`): numbers in the file itself, of any known type."""

import math
from pathlib import Path

import numpy as np

from backends.base import FileSlice
from engine.api.sentences import sentence
from engine.checkpoints.faults import quoted
from engine.checkpoints.limits import MAX_DIMENSION, MAX_RANK
from engine.checkpoints.onnx.model import ELEMENTS, FLOAT, HALF, StoredTensor
from engine.checkpoints.onnx.refusal import refused
from engine.checkpoints.onnx.wire import BYTES, FIXED32, FIXED64, VARINT, Field, WireReader

# Tensors of floating-point numbers with more bytes stay in the file; others may have so many.
SMALL_BYTES = 1 << 12
_MOST_CONSTANT_BYTES = 8 << 20
# Fields of a TensorProto with numbers of a type.
_FLOATS, _INT32S, _INT64S, _DOUBLES, _UINT64S = 4, 5, 7, 10, 11
# Types by the typed field that holds their numbers; halves are there as their bits.
_HOLDERS = {1: _FLOATS, 11: _DOUBLES, 7: _INT64S, 12: _UINT64S, 13: _UINT64S} | dict.fromkeys(
    (2, 3, 4, 5, 6, 9, 10), _INT32S
)


class TensorReader:
    """Reads the tensors of one file."""

    def __init__(self, wire: WireReader, path: Path) -> None:
        self._wire, self._path = wire, path

    def read(self, start: int, end: int) -> tuple[str, StoredTensor]:
        """Return the name and the tensor that lies from `start` to `end`.

        Raises EngineError for a tensor in another file, of texts, or whose sizes do not fit.
        """
        wire, name, kind = self._wire, "", 0
        shape: list[int] = []
        raw: Field | None = None
        typed: list[Field] = []
        for field in wire.fields(start, end):
            match field.number:
                case 1:  # dims
                    shape += wire.integers(field)
                case 2:  # data_type
                    kind = field.value
                case 8:  # name
                    name = wire.text(field)
                case 9:  # raw_data
                    raw = field
                case 13:  # external_data
                    raise refused(sentence("The numbers of the file are in other files."))
                case 14 if field.value:  # data_location
                    raise refused(sentence("The numbers of the file are in other files."))
                case 3 | 6:  # segment, string_data
                    raise refused(sentence("A tensor in the file is of texts, or in parts."))
                case 4 | 5 | 7 | 10 | 11:
                    typed.append(field)
                case _:
                    pass
        count = self._count(name, kind, shape)
        return name, self._stored(name, kind, tuple(shape), count, raw, typed)

    def _count(self, name: str, kind: int, shape: list[int]) -> int:
        """Return the number of elements. Raises EngineError for types and shapes of no tensor."""
        if kind not in ELEMENTS:
            raise self._wire.fault(
                sentence("tensor {quoted} is of an unknown type", quoted=quoted(name))
            )
        what = sentence("tensor {quoted} has no possible size", quoted=quoted(name))
        if len(shape) > MAX_RANK or any(not 0 <= side <= MAX_DIMENSION for side in shape):
            raise self._wire.fault(what)
        count = math.prod(shape)
        if count * ELEMENTS[kind].itemsize > self._wire.size:
            raise self._wire.fault(what)
        return count

    def _stored(
        self,
        name: str,
        kind: int,
        shape: tuple[int, ...],
        count: int,
        raw: Field | None,
        typed: list[Field],
    ) -> StoredTensor:
        element = ELEMENTS[kind]
        whole = raw if raw is not None else self._packed_floats(kind, typed)
        if whole is None:
            return StoredTensor(kind, shape, self._numbers(name, kind, count, typed))
        if whole.kind != BYTES or whole.end - whole.start != count * element.itemsize:
            raise self._wire.fault(
                sentence(
                    "tensor {quoted} has a size that does not fit its shape", quoted=quoted(name)
                )
            )
        if kind in (FLOAT, HALF) and whole.end - whole.start > SMALL_BYTES:
            place = FileSlice(self._path, whole.start, element, shape)
            return StoredTensor(kind, shape, place=place)
        return StoredTensor(kind, shape, self._wire.content(whole, _MOST_CONSTANT_BYTES))

    def _packed_floats(self, kind: int, typed: list[Field]) -> Field | None:
        """Return the field that holds all float32 numbers as they are in memory; None otherwise."""
        is_whole = kind == FLOAT and len(typed) == 1
        return typed[0] if is_whole and typed[0][:2] == (_FLOATS, BYTES) else None

    def _numbers(self, name: str, kind: int, count: int, typed: list[Field]) -> bytes:
        """Return the numbers of typed fields as bytes. Raises EngineError."""
        holder, element, wire = _HOLDERS[kind], ELEMENTS[kind], self._wire
        found: list[bytes] = []
        for field in typed:
            if field.number != holder:
                raise wire.fault(sentence("tensor {quoted} is damaged", quoted=quoted(name)))
            if holder in (_FLOATS, _DOUBLES):
                if field.kind not in (BYTES, FIXED32, FIXED64):
                    raise wire.fault(sentence("tensor {quoted} is damaged", quoted=quoted(name)))
                found.append(wire.content(field, _MOST_CONSTANT_BYTES))
            elif field.kind in (BYTES, VARINT):
                numbers = np.array(wire.integers(field), np.int64)
                bits = np.dtype(f"u{element.itemsize}")
                found.append(numbers.astype(bits).tobytes())
            else:
                raise wire.fault(sentence("tensor {quoted} is damaged", quoted=quoted(name)))
        content = b"".join(found)
        if len(content) != count * element.itemsize:
            raise wire.fault(
                sentence(
                    "tensor {quoted} has a size that does not fit its shape", quoted=quoted(name)
                )
            )
        return content
