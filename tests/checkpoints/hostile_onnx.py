"""ONNX files made to harm, to take memory or time; `python -m` prints what reading each takes."""

import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from onnx import ModelProto, TensorProto, helper

from engine.checkpoints.onnx.reading import read_onnx
from engine.errors import EngineError
from tests.checkpoints.onnx_files import model, node, small_network, tensor

MEMORY_BYTES = 64 << 20
MANY = 400_000


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    value &= 2**64 - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def part(number: int, content: bytes) -> bytes:
    """A field with content of a length."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def graph(content: bytes) -> bytes:
    """A file whose graph has this content."""
    return b"\x08\x07" + part(8, b"\x10\x0b") + part(7, content)


def changed(change: Callable[[ModelProto], object]) -> bytes:
    """The small network after a change."""
    made = small_network()
    change(made)
    return made.SerializeToString()


def with_node(operator: str, domain: str = "") -> bytes:
    """The small network with another operator at its end."""

    def change(made: ModelProto) -> None:
        made.graph.node.append(helper.make_node(operator, ["y"], ["z"], domain=domain))

    return changed(change)


def external(made: ModelProto) -> None:
    """Have the weights in a file of the system."""
    weights = made.graph.initializer[0]
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="../../../../etc/passwd")


def loop(made: ModelProto) -> None:
    """Add a loop with a graph of its own."""
    body = small_network().graph
    made.graph.node.append(helper.make_node("Loop", ["", "", "y"], ["z"], body=body))


def hidden_graph(made: ModelProto) -> None:
    """Add a graph to an operator that has none."""
    made.graph.node.append(helper.make_node("Relu", ["y"], ["z"], body=small_network().graph))


def function(made: ModelProto) -> None:
    """Add a function of the file's own."""
    opset = [helper.make_opsetid("", 11)]
    inner = [helper.make_node("Relu", ["a"], ["b"])]
    made.functions.append(helper.make_function("own", "F", ["a"], ["b"], inner, opset))


def cycle(made: ModelProto) -> None:
    """Have the first node read the last one's result."""
    made.graph.node[0].input[0] = "y"


def twice(made: ModelProto) -> None:
    """Have two nodes make the same value."""
    made.graph.node[1].output[0] = "c"


def shaped(*dims: int) -> Callable[[ModelProto], None]:
    """Claim another shape of the weights."""

    def change(made: ModelProto) -> None:
        del made.graph.initializer[0].dims[:]
        made.graph.initializer[0].dims.extend(dims)

    return change


def of_type(kind: int) -> Callable[[ModelProto], None]:
    """Claim another type of the weights."""

    def change(made: ModelProto) -> None:
        made.graph.initializer[0].data_type = kind

    return change


def opset(number: int) -> Callable[[ModelProto], None]:
    """Claim another set of operators."""

    def change(made: ModelProto) -> None:
        made.opset_import[0].version = number

    return change


def nested(levels: int) -> bytes:
    """A graph in an attribute in a node in a graph, and so on."""
    content = part(4, b"Relu")
    for _ in range(levels):
        content = part(4, b"Relu") + part(5, part(1, b"a") + part(6, part(1, content)))
    return graph(part(1, content))


def text_tensor() -> bytes:
    """A constant of texts."""
    value = TensorProto(data_type=TensorProto.STRING, dims=[1], string_data=[b"text"])
    return model([node("Constant", value=value)]).SerializeToString()


def large_attribute() -> bytes:
    """An attribute with more than it may have."""
    return model([node("Transpose", "x", perm=list(range(MANY)))]).SerializeToString()


WHOLE: dict[str, Callable[[], bytes]] = {
    "operators of another domain": lambda: with_node("Gelu", "com.microsoft"),
    "an operator of nobody": lambda: with_node("RunScript"),
    "an operator that draws": lambda: with_node("RandomNormalLike"),
    "numbers in another file": lambda: changed(external),
    "a loop": lambda: changed(loop),
    "a hidden graph": lambda: changed(hidden_graph),
    "a function": lambda: changed(function),
    "a cycle": lambda: changed(cycle),
    "a value made twice": lambda: changed(twice),
    "a negative side": lambda: changed(shaped(-1, 3, 7, 7)),
    "sides that overflow": lambda: changed(shaped(2**32, 2**32, 3)),
    "more dimensions than any": lambda: changed(shaped(*[1] * 5000)),
    "weights of texts": lambda: changed(of_type(TensorProto.STRING)),
    "weights of complex numbers": lambda: changed(of_type(TensorProto.COMPLEX64)),
    "weights of no type": lambda: changed(of_type(77)),
    "an old set of operators": lambda: changed(opset(6)),
    "a future set of operators": lambda: changed(opset(99)),
    "a negative set of operators": lambda: changed(opset(-1)),
    "no operators of ONNX": lambda: changed(lambda made: made.opset_import.pop()),
    "a constant of texts": text_tensor,
    "a large attribute": large_attribute,
    "graphs in graphs": lambda: nested(3000),
    "no graph": lambda: b"\x08\x07" + part(8, b"\x10\x0b"),
    "two graphs": lambda: graph(b"") + part(7, b""),
    "an empty file": lambda: b"",
    "a file of another kind": lambda: b"PK\x03\x04" + bytes(5000),
    "a script": lambda: b"import os\nos.system('true')\n" * 200,
    "a length beyond the file": lambda: varint(7 << 3 | 2) + varint(2**62),
    "a number without an end": lambda: b"\x08" + b"\xff" * 5000,
    "a group": lambda: b"\x3b\x08\x01\x3c",
    "field zero": lambda: b"\x00\x00",
    "fields without end": lambda: graph(b"\x10\x00" * 5_000_000),
    "nodes without end": lambda: graph(part(1, part(4, b"Relu")) * MANY),
    "names without end": lambda: graph(part(1, part(1, b"a" * 500) * MANY)),
    "empty tensors without end": lambda: graph(part(5, b"\x10\x01") * MANY),
    "constants without end": lambda: graph(
        b"".join(
            part(5, part(8, b"%d" % number) + b"\x08\x80\x80\x40\x10\x01" + part(9, bytes(4 << 20)))
            for number in range(3)
        )
        + part(5, part(8, b"n") + part(1, varint(1 << 22)) + b"\x10\x07" + part(7, bytes(1 << 22)))
    ),
    "a number of 64 MB": lambda: graph(part(5, part(8, b"a" * (64 << 20)))),
    "numbers in packed rows": lambda: graph(
        part(1, part(5, b"\xa0\x01\x07" + part(8, bytes(9_000_000))))
    ),
    "a shape of many sides": lambda: graph(part(5, part(1, bytes(1_000_000)))),
    "an input of many sides": lambda: graph(
        part(11, part(1, b"x") + part(2, part(1, part(2, part(1, b"") * MANY))))
    ),
}  # fmt: skip


def sound_but_large(path: Path) -> None:
    """Weights of a gigabyte that nobody reads, in a file without blocks for them."""
    size = 1 << 30
    head = part(8, b"w") + varint(1 << 3) + varint(size // 4) + b"\x10\x01" + b"\x4a" + varint(size)
    rest = (
        part(1, part(1, b"x") + part(1, b"w") + part(2, b"y") + part(4, b"Add"))
        + part(11, part(1, b"x") + part(2, part(1, b"\x08\x01")))
        + part(12, part(1, b"y") + part(2, part(1, b"\x08\x01")))
    )
    content = rest + b"\x2a" + varint(len(head) + size) + head
    start = b"\x08\x07" + part(8, b"\x10\x0b") + b"\x3a" + varint(len(content) + size) + content
    with path.open("wb") as file:
        file.write(start)
        file.truncate(len(start) + size)


def growing(levels: int) -> ModelProto:
    """A sound graph of a few nodes whose value doubles again and again."""
    nodes = [
        node("Concat", f"v{level}", f"v{level}", to=f"v{level + 1}", axis=0)
        for level in range(levels)
    ]
    ends = [node("Identity", "x", to="v0"), *nodes, node("ReduceMean", f"v{levels}")]
    return model(ends)


def growing_constant(levels: int) -> ModelProto:
    """The same of a constant, which a runtime might compute while it loads the graph."""
    made = growing(levels)
    made.graph.node[0].CopyFrom(
        node("Constant", to="v0", value=tensor(np.ones((1, 3, 16, 24), np.float32)))
    )
    made.graph.node[-1].CopyFrom(node("ReduceMean", f"v{levels}", to="mean"))
    made.graph.node.append(node("Add", "x", "mean"))
    return made


def main() -> None:
    """Print the memory and the processor time that reading each file takes."""
    with tempfile.TemporaryDirectory() as folder:
        for name, make in WHOLE.items():
            path = Path(folder) / "hostile.onnx"
            path.write_bytes(make())
            tracemalloc.start()
            with suppress(EngineError):
                read_onnx(path)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            start, answer = time.process_time(), "read"
            try:
                read_onnx(path)
            except EngineError as error:
                answer = error.message
            taken = time.process_time() - start
            sys.stdout.write(f"{taken:6.3f} s {peak / 1e6:6.1f} MB  {name}: {answer}\n")


if __name__ == "__main__":
    main()
