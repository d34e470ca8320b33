"""The nodes of an ONNX file (`NodeProto`, `AttributeProto`), if they are allowed."""

import struct

from engine.api.sentences import sentence
from engine.checkpoints.faults import quoted
from engine.checkpoints.onnx.model import AttributeValue, Node
from engine.checkpoints.onnx.operators import ALLOWED, OWN_DOMAINS
from engine.checkpoints.onnx.refusal import refused
from engine.checkpoints.onnx.tensors import TensorReader
from engine.checkpoints.onnx.wire import BYTES, FIXED32, Field, WireReader

_MOST_PACKED_BYTES = 1 << 16
# Fields of an AttributeProto that make it a graph, a reference of a function, or of another kind.
_GRAPHS = frozenset({6, 11})
_OTHERS = frozenset({9, 10, 14, 15, 21, 22, 23})


class NodeReader:
    """Reads the nodes of one file."""

    def __init__(self, wire: WireReader, tensors: TensorReader) -> None:
        self._wire, self._tensors = wire, tensors

    def read(self, start: int, end: int) -> Node:
        """Return the node from `start` to `end`. Raises EngineError for one that is not allowed."""
        wire = self._wire
        inputs: list[str] = []
        outputs: list[str] = []
        attributes: dict[str, AttributeValue] = {}
        operator = domain = ""
        for field in wire.fields(start, end):
            match field.number:
                case 1:
                    inputs.append(wire.text(field))
                case 2:
                    outputs.append(wire.text(field))
                case 4:
                    operator = wire.text(field)
                case 5:
                    name, value = self._attribute(field)
                    attributes[name] = value
                case 7:
                    domain = wire.text(field)
                case 8 if field.end > field.start:
                    raise refused(sentence("The file has functions of its own."))
                case _:
                    pass
        if domain not in OWN_DOMAINS:
            raise refused(
                sentence(
                    "The operator {name} is of {domain}, and not one of ONNX.",
                    name=quoted(operator),
                    domain=quoted(domain),
                )
            )
        if operator not in ALLOWED:
            raise refused(sentence("The operator {name} is not run here.", name=quoted(operator)))
        return Node(operator, tuple(inputs), tuple(outputs), attributes)

    def _attribute(self, whole: Field) -> tuple[str, AttributeValue]:
        if whole.kind != BYTES:
            raise self._wire.fault(sentence("an attribute is damaged"))
        wire, name, kind = self._wire, "", 0
        values: dict[int, list[Field]] = {}
        for field in wire.fields(whole.start, whole.end):
            if field.number in _GRAPHS:
                raise refused(sentence("The file has graphs within its graph."))
            if field.number in _OTHERS:
                raise refused(sentence("An attribute in the file is of an unknown kind."))
            if field.number == 1:
                name = wire.text(field)
            elif field.number == 20:
                kind = field.value
            else:
                values.setdefault(field.number, []).append(field)
        return name, self._value(kind, values)

    def _value(self, kind: int, values: dict[int, list[Field]]) -> AttributeValue:
        """Return an attribute's value by its type: float, int, text, tensor, floats or ints."""
        wire = self._wire
        single = {1: 2, 2: 3, 3: 4, 4: 5}
        fields = values.get(single.get(kind, kind + 1), [])
        if kind == 6:
            return tuple(number for field in fields for number in self._floats(field))
        if kind == 7:
            return tuple(number for field in fields for number in wire.integers(field))
        if kind not in single:
            raise refused(sentence("An attribute in the file is of an unknown kind."))
        # Numbers that are zero and texts that are empty may be left out.
        if not fields and kind != 4:
            return {1: 0.0, 2: 0, 3: ""}[kind]
        if not fields:
            raise wire.fault(sentence("an attribute is damaged"))
        field = fields[-1]
        match kind:
            case 1:
                return self._floats(field)[0]
            case 2:
                return wire.integers(field)[0]
            case 3:
                return wire.text(field)
            case _:
                if field.kind != BYTES:
                    raise wire.fault(sentence("an attribute is damaged"))
                return self._tensors.read(field.start, field.end)[1]

    def _floats(self, field: Field) -> tuple[float, ...]:
        """Return the float32 numbers of a field, packed or single."""
        size = field.end - field.start
        if field.kind not in (BYTES, FIXED32) or not size or size % 4:
            raise self._wire.fault(sentence("an attribute is damaged"))
        self._wire.count(size // 4)
        content = self._wire.content(field, _MOST_PACKED_BYTES)
        return struct.unpack(f"<{size // 4}f", content)
