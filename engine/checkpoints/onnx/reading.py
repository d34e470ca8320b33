"""Reads ONNX files: graphs of allowed operators whose numbers are in the file itself.

Nothing is run, and weights are not read: they stay where they are. A file is refused where it has
operators of others, graphs within graphs, functions, numbers in other files, more of anything than
models have, or nodes that read what is not computed before them.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from backends.base import TensorSpec
from engine.api.sentences import sentence
from engine.checkpoints.faults import quoted
from engine.checkpoints.index import sampled_digest
from engine.checkpoints.limits import MAX_DIMENSION, MAX_RANK
from engine.checkpoints.onnx.model import ELEMENTS, Node, OnnxModel, StoredTensor
from engine.checkpoints.onnx.nodes import NodeReader
from engine.checkpoints.onnx.operators import NEWEST_OPSET, OLDEST_OPSET, OWN_DOMAINS
from engine.checkpoints.onnx.refusal import refused
from engine.checkpoints.onnx.tensors import TensorReader
from engine.checkpoints.onnx.wire import BYTES, Field, WireReader
from engine.checkpoints.opening import read_steadily

_MOST_INPUTS = 64


def read_onnx(path: Path) -> OnnxModel:
    """Return the graph of an ONNX file.

    Raises EngineError: CHECKPOINT_NOT_FOUND and CHECKPOINT_UNREADABLE where there is no file to
    read, CHECKPOINT_CORRUPT for a damaged one, and CHECKPOINT_UNREADABLE for one that is not run.
    """

    def read(file: BinaryIO, facts: os.stat_result) -> OnnxModel:
        return _FileReader(file, facts.st_size, path).read()

    return read_steadily(path, read)


class _FileReader:
    """Reads one file (`ModelProto`, `GraphProto`)."""

    def __init__(self, file: BinaryIO, size: int, path: Path) -> None:
        self._file, self._path = file, path
        self._wire = WireReader(file, size, path)
        self._tensors = TensorReader(self._wire, path)
        self._nodes = NodeReader(self._wire, self._tensors)
        self._stored: dict[str, StoredTensor] = {}
        self._inputs: list[TensorSpec] = []
        self._outputs: list[TensorSpec] = []

    def read(self) -> OnnxModel:
        wire, graph, opset = self._wire, None, None
        for field in wire.fields(0, wire.size):
            if field.number == 7 and field.kind == BYTES:
                if graph is not None:
                    raise wire.fault(sentence("it has several graphs"))
                graph = field
            elif field.number == 8:
                opset = self._opset(field) or opset
            elif field.number in (20, 25):
                raise refused(sentence("The file has functions of its own."))
        if graph is None or opset is None:
            raise wire.fault(sentence("it is no ONNX file"))
        if not OLDEST_OPSET <= opset <= NEWEST_OPSET:
            raise refused(
                sentence(
                    "The file is of ONNX's operator set {opset}; sets {low} to {high} are run.",
                    opset=opset,
                    low=OLDEST_OPSET,
                    high=NEWEST_OPSET,
                )
            )
        nodes = self._graph(graph)
        inputs = tuple(value for value in self._inputs if value.name not in self._stored)
        self._check_order(inputs, nodes)
        digest = sampled_digest(self._file, b"", wire.size)
        outputs = tuple(self._outputs)
        return OnnxModel(self._path.name, digest, opset, nodes, self._stored, inputs, outputs)

    def _opset(self, whole: Field) -> int | None:
        """Return the version of ONNX's own operators; None for a set of others."""
        domain, version = "", 0
        for field in self._wire.fields(whole.start, whole.end):
            if field.number == 1:
                domain = self._wire.text(field)
            elif field.number == 2:
                version = field.value
        return version if domain in OWN_DOMAINS else None

    def _graph(self, whole: Field) -> tuple[Node, ...]:
        wire = self._wire
        nodes: list[Node] = []
        for field in wire.fields(whole.start, whole.end):
            if field.kind != BYTES:
                continue
            match field.number:
                case 1:
                    self._take(self._nodes.read(field.start, field.end), nodes)
                case 5:
                    self._store(*self._tensors.read(field.start, field.end))
                case 11:
                    self._inputs.append(self._value(field))
                case 12:
                    self._outputs.append(self._value(field))
                case 15:
                    raise refused(sentence("The file has sparse tensors."))
                case _:
                    pass
        if not nodes:
            raise wire.fault(sentence("it has no operators"))
        return tuple(nodes)

    def _take(self, node: Node, nodes: list[Node]) -> None:
        """Add a node; the tensor of a Constant is one of the file, as others are."""
        held = [
            attribute
            for attribute in node.attributes.values()
            if isinstance(attribute, StoredTensor)
        ]
        if node.operator == "Constant" and len(held) == len(node.outputs) == 1:
            self._store(node.outputs[0], held[0])
        elif any(tensor.place is not None for tensor in held):
            raise self._wire.fault(sentence("an attribute is damaged"))
        else:
            nodes.append(node)

    def _store(self, name: str, tensor: StoredTensor) -> None:
        if not name or name in self._stored:
            raise self._wire.fault(sentence("tensor {quoted} is there twice", quoted=quoted(name)))
        self._stored[name] = tensor

    def _value(self, whole: Field) -> TensorSpec:
        """Return an input or output (`ValueInfoProto`) of a known type."""
        wire, name = self._wire, ""
        kind, shape = 0, tuple[int | str, ...]()
        for field in wire.fields(whole.start, whole.end):
            if field.number == 1:
                name = wire.text(field)
            elif field.number == 2:
                for inner in wire.fields(field.start, field.end):
                    if inner.number != 1:
                        raise refused(sentence("A value in the file is no tensor."))
                    kind, shape = self._type(inner, name)
        if not name or kind not in ELEMENTS or len(shape) > MAX_RANK:
            raise wire.fault(sentence("an input or output is damaged"))
        return TensorSpec(name, ELEMENTS[kind], shape)

    def _type(self, whole: Field, name: str) -> tuple[int, tuple[int | str, ...]]:
        """Return element type and shape (`TypeProto.Tensor`); a name for each open dimension."""
        wire, kind = self._wire, 0
        shape: list[int | str] = []
        for field in wire.fields(whole.start, whole.end):
            if field.number == 1:
                kind = field.value
            elif field.number == 2:
                for part in wire.fields(field.start, field.end):
                    shape.append(self._dimension(part, f"{name}_{len(shape)}"))
        return kind, tuple(shape)

    def _dimension(self, whole: Field, label: str) -> int | str:
        wire = self._wire
        if whole.kind != BYTES:
            raise wire.fault(sentence("an input or output is damaged"))
        found: int | str = label
        for field in wire.fields(whole.start, whole.end):
            if field.number == 1:
                found = field.value
                if not 0 < found <= MAX_DIMENSION:
                    found = label
            elif field.number == 2:
                text = wire.text(field)
                found = text if text.isidentifier() else label
        return found

    def _check_order(self, inputs: tuple[TensorSpec, ...], nodes: Iterable[Node]) -> None:
        """Raise EngineError unless each value is computed once, and before it is read."""
        wire = self._wire
        known = {value.name for value in inputs}
        if not 0 < len(known) <= _MOST_INPUTS or len(known) != len(inputs):
            raise wire.fault(sentence("it has no inputs, or more than any model"))
        known |= self._stored.keys()
        for node in nodes:
            for name in node.inputs:
                if name and name not in known:
                    raise wire.fault(
                        sentence("{quoted} is read before it is computed", quoted=quoted(name))
                    )
            for name in filter(None, node.outputs):
                if name in known:
                    raise wire.fault(sentence("{quoted} is computed twice", quoted=quoted(name)))
                known.add(name)
        names = {value.name for value in self._outputs}
        if not 0 < len(self._outputs) <= _MOST_INPUTS or not names <= known:
            raise wire.fault(sentence("an output is not computed"))
