"""Every operator we emit is one that the backend's compiler is known to have.

For compilers that cannot run here a table beside this file says what they have, with its source.
Each backend of the registry has a table or is known to run here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import pytest
from onnx import ModelProto, NodeProto, TensorProto, defs

from backends.base import DType, Graph, OperatorSet, Precision
from backends.forms import AttentionForm, GeluForm, GroupNormForm, LinearForm
from backends.onnx_runtime.placement import at_the_edge, element_types
from backends.registry import BACKENDS
from tests.backends.networks import ALL_NETWORKS, NETWORKS, network

FOLDER = Path(__file__).parent
# Their compilers are in every development install, and compute every network in other tests.
RUN_HERE = frozenset({"cpu", "intel_openvino", "null", "torch_device"})
# The native API is TensorRT-RTX's own; a TensorRT that could be asked is on no public index.
SAME = {"nvidia_tensorrt": "nvidia_tensorrt_rtx"}
_TYPE_NAMES: Mapping[int, str] = {
    TensorProto.FLOAT: "float",
    TensorProto.FLOAT16: "float16",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.INT64: "int64",
    TensorProto.BOOL: "bool",
}


@dataclass(frozen=True, slots=True)
class Kernel:
    """Versions `first` to `last` of an operator, in these element types."""

    first: int
    last: int
    types: frozenset[str]


Table = Mapping[str, tuple[Kernel, ...]]


@cache
def table_of(name: str) -> Table:
    """The operators of a compiler, by name."""
    content = json.loads((FOLDER / f"{name}.json").read_text())
    return {
        key: tuple(Kernel(first, last, frozenset(types)) for first, last, types in entries)
        for key, entries in content["operators"].items()
    }


def lacking(table: Table, graph: Graph) -> set[str]:
    """The operators, versions and element types of a graph that the table lacks."""
    model = ModelProto.FromString(graph.model)
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    types = element_types(model)
    given = {value.name for value in (*model.graph.input, *model.graph.initializer)}
    # ONNX Runtime takes an Identity out before it gives nodes to providers.
    nodes = (n for n in model.graph.node if n.op_type != "Identity" and not at_the_edge(n, given))
    return {r for node in nodes if (r := _lacking(table, node, opsets[node.domain], types))}


def _lacking(table: Table, node: NodeProto, opset: int, types: Mapping[str, int]) -> str:
    key = f"{node.domain}:{node.op_type}" if node.domain else node.op_type
    kernels = table.get(key)
    if not kernels:
        return f"no {key}"
    version = 1 if node.domain else defs.get_schema(node.op_type, opset).since_version
    serving = [kernel for kernel in kernels if kernel.first <= version <= kernel.last]
    if not serving:
        return f"no {key} of version {version}"
    wanted = {_TYPE_NAMES[types[name]] for name in (*node.input, *node.output) if name}
    if not any(wanted <= kernel.types for kernel in serving):
        return f"no {key} of version {version} for {', '.join(sorted(wanted))}"
    return ""


@cache
def forms(name: str) -> tuple[tuple[OperatorSet, DType, Precision], ...]:
    """Every way in which graphs are written for a backend, on whatever device."""
    backend = next(reference for reference in BACKENDS if reference.name == name).create()
    sets = [backend.operators(device) for device in backend.probe()]
    return tuple((o, element, Precision[element.name]) for o in sets for element in o.elements)


TABLED = [reference.name for reference in BACKENDS if reference.name not in RUN_HERE]


def test_every_backend_has_a_table_or_runs_here() -> None:
    tables = {path.stem for path in FOLDER.glob("*.json")}
    assert {SAME.get(name, name) for name in TABLED} <= tables
    assert {reference.name for reference in BACKENDS} >= RUN_HERE


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_a_table_says_where_it_is_from(path: Path) -> None:
    content = json.loads(path.read_text())
    assert content["version"]
    assert all(source.startswith("https://") for source in content["sources"])
    assert len(content["operators"]) > 40


@pytest.mark.parametrize("name", TABLED)
@pytest.mark.parametrize("part", ALL_NETWORKS)
def test_a_backend_has_every_operator_of_every_network(name: str, part: str) -> None:
    assert forms(name)
    for operators, element, precision in forms(name):
        graph = network(part, operators, element, precision)
        assert not lacking(table_of(SAME.get(name, name)), graph), (operators, element)


# --- that a wrong set would be noticed ---

WRONG = [
    ("amd_migraphx", {"attention": AttentionForm.STANDARD}, {"no Attention"}),
    ("amd_migraphx", {"opset": 21}, {"no Reshape of version 21", "no Transpose of version 21"}),
    ("amd_migraphx", {"linear": LinearForm.FUSED_MATMUL}, {"no com.microsoft:FusedMatMul"}),
    ("windows_directml", {"gelu": GeluForm.STANDARD}, {"no Gelu"}),
    ("windows_directml", {"opset": 22}, {"no Conv of version 22"}),
    ("windows_directml", {"group_norm": GroupNormForm.STANDARD}, {"no GroupNormalization"}),
    ("apple_coreml", {"attention": AttentionForm.MULTI_HEAD}, {"no com.microsoft:MultiHead"}),
]


@pytest.mark.parametrize(("name", "change", "missed"), WRONG)
def test_a_wrong_operator_set_is_noticed(
    name: str, change: dict[str, object], missed: set[str]
) -> None:
    operators = msgspec.structs.replace(OperatorSet(opset=19), **change)  # pyright: ignore[reportArgumentType]
    if operators.attention is AttentionForm.STANDARD:
        operators = msgspec.structs.replace(operators, opset=23)
    elif {GeluForm.STANDARD, GroupNormForm.STANDARD} & {operators.gelu, operators.group_norm}:
        operators = msgspec.structs.replace(operators, opset=21)
    seen = {
        reason for part in NETWORKS for reason in lacking(table_of(name), network(part, operators))
    }
    for start in missed:
        assert any(reason.startswith(start) for reason in seen), seen


def test_a_type_without_a_kernel_is_noticed() -> None:
    graph = network("vae decoder", OperatorSet(opset=19), DType.BF16, Precision.BF16)
    seen = lacking(table_of("windows_directml"), graph)
    assert "no Conv of version 11 for bfloat16" in seen
