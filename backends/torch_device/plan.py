"""Turns a graph into steps: torch's fused operators, and the values to free after each one.

Nothing here needs torch. Values that are shapes (int64 constants, `Shape` and arithmetic with it)
stay on the host as tuples; the device only has the numbers that networks compute with.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any

import msgspec
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from backends.base import Array, BackendError

Attributes = Mapping[str, Any]
# A shape, axes or scales.
HostValue = tuple[int | float, ...]

# The operators we use from other domains than ONNX's own.
_OTHER_DOMAINS = {
    "com.microsoft": (
        *("FusedMatMul", "NhwcConv", "GroupNorm", "SkipGroupNorm", "SkipLayerNormalization"),
        *("BiasAdd", "BiasSplitGelu", "MultiHeadAttention", "MatMulNBits"),
    )
}
# Operators that add before they normalise: the normalisation's name, the index of the input `skip`,
# and the index of the output with the sum.
_TAKING_SUMS = {
    "SkipGroupNorm": ("GroupNorm", 3, 1),
    "SkipLayerNormalization": ("LayerNormalization", 1, 3),
}
# Inputs that are shapes, scales or counts, by operator.
_HOST_INPUTS = {
    "Reshape": (1,),
    "Resize": (2, 3),
    "Slice": (1, 2, 3),
    "Tile": (1,),
    **dict.fromkeys(("ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"), (1,)),
}
# Operators computed on the host if an input is on the host.
_HOST_FORMS = {"Concat": "HostConcat", "Div": "HostDiv", "Mul": "HostMul", "Add": "HostAdd"}
_ON_HOST = " (host)"
# Operators whose result has its own memory, and those that can overwrite such an operand.
_FRESH = frozenset(
    {
        *("Conv", "ConvTranspose", "FusedMatMul", "Linear", "Gelu", "Silu", "SiluInto"),
        *("GroupNormalization", "LayerNormalization", "Add", "AddInto", "Mul", "MulInto"),
    }
)
_INTO = {"Add": "AddInto", "Mul": "MulInto", "Silu": "SiluInto"}


class Step(msgspec.Struct, frozen=True):
    """One operator: `kind` is its key in `operators.OPERATORS`; an input "" is absent."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    attributes: Attributes
    # Values that no later step needs.
    dead: tuple[str, ...] = ()


class Plan(msgspec.Struct, frozen=True):
    """The steps in order, and the constants of the graph."""

    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    # Each constant with ONNX's number for its type in the graph.
    constants: Mapping[str, tuple[int, Array]]
    host_constants: Mapping[str, HostValue]
    # ONNX's number for the weights' type in the graph; None without weights.
    element: int | None


def make_plan(model_bytes: bytes) -> Plan:
    """Return the plan of a serialised model. Raises BackendError for a kind we do not emit."""
    model = ModelProto.FromString(model_bytes)
    weights = {t.name: t for t in model.graph.initializer if _is_external(t)}
    constants = {t.name: t for t in model.graph.initializer if not _is_external(t)}
    outputs = tuple(output.name for output in model.graph.output)
    biases = {name for name, tensor in weights.items() if len(tensor.dims) == 1}
    steps = [step for node in model.graph.node for step in _steps(node)]
    steps = _with_silu(_with_linear(steps, outputs, biases), outputs)
    steps, host_constants = _with_host_values(steps, constants)
    steps = _with_overwriting(steps, outputs)
    used = {name for step in steps for name in step.inputs}
    kept = {*weights, *constants, *host_constants, *outputs}
    return Plan(
        steps=tuple(_with_deaths(steps, kept)),
        outputs=outputs,
        constants={n: (t.data_type, _array(t)) for n, t in constants.items() if n in used},
        host_constants=host_constants,
        element=_element(weights),
    )


def _array(tensor: TensorProto) -> Array:
    return numpy_helper.to_array(tensor)


def _is_external(tensor: TensorProto) -> bool:
    return tensor.data_location == TensorProto.EXTERNAL


def _element(weights: Mapping[str, TensorProto]) -> int | None:
    """Return the type of the weights that are numbers, not the integers of blocks."""
    types = {tensor.data_type for tensor in weights.values()} - {TensorProto.UINT8}
    if len(types) > 1:
        raise BackendError("the graph's weights are of more than one type")
    return next(iter(types), None)


def _steps(node: NodeProto) -> list[Step]:
    if node.domain and node.op_type not in _OTHER_DOMAINS.get(node.domain, ()):
        raise BackendError(f"torch_device has no operator {node.op_type} of {node.domain}")
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    attributes = {k: v.decode() if isinstance(v, bytes) else v for k, v in attributes.items()}
    if node.op_type in _TAKING_SUMS:
        return _parted_from_sum(node, attributes)
    if len(node.output) != 1:
        raise BackendError(f"torch_device takes only the first output of {node.op_type}")
    return [Step(node.op_type, tuple(node.input), node.output[0], attributes)]


def _parted_from_sum(node: NodeProto, attributes: Attributes) -> list[Step]:
    """Split a normalisation of x + skip + bias into the sum, also an output, and the norm."""
    kind, skip, sum_at = _TAKING_SUMS[node.op_type]
    outputs = [*node.output, *[""] * (sum_at + 1 - len(node.output))]
    if any(name for i, name in enumerate(outputs) if i not in (0, sum_at)):
        raise BackendError(f"torch_device has no means and deviations of {node.op_type}")
    whole = outputs[sum_at] or f"{outputs[0]} (sum)"
    inputs = list(node.input)
    shift, factors = inputs[4:], [name for i, name in enumerate(inputs[:4]) if i not in (0, skip)]
    return [
        Step("SkipSum", (inputs[0], inputs[skip], *shift), whole, {}),
        Step(kind, (whole, *factors), outputs[0], attributes),
    ]


def _uses(steps: Sequence[Step], outputs: Sequence[str]) -> Counter[str]:
    return Counter([*outputs, *(name for step in steps for name in step.inputs)])


def _with_linear(
    steps: Sequence[Step], outputs: Sequence[str], biases: Container[str]
) -> list[Step]:
    """Return the steps with x W^T and + b fused into one operator."""
    uses = _uses(steps, outputs)
    products = {s.output: s for s in steps if s.kind == "FusedMatMul" and uses[s.output] == 1}
    fused: set[str] = set()
    result: list[Step] = []
    for step in steps:
        product = products.get(step.inputs[0]) if step.kind == "Add" else None
        if product is not None and step.inputs[1] in biases:
            fused.add(product.output)
            inputs = (*product.inputs, step.inputs[1])
            step = Step("Linear", inputs, step.output, product.attributes)
        result.append(step)
    return [step for step in result if step.output not in fused]


def _with_silu(steps: Sequence[Step], outputs: Sequence[str]) -> list[Step]:
    """Return the steps with x * sigmoid(x) fused into one operator."""
    uses = _uses(steps, outputs)
    gates = {s.output: s.inputs[0] for s in steps if s.kind == "Sigmoid" and uses[s.output] == 1}
    fused: set[str] = set()
    result: list[Step] = []
    for step in steps:
        if step.kind == "Mul" and gates.get(step.inputs[1]) == step.inputs[0]:
            fused.add(step.inputs[1])
            step = Step("Silu", step.inputs[:1], step.output, {})
        result.append(step)
    return [step for step in result if step.output not in fused]


def _with_host_values(
    steps: Sequence[Step], constants: Mapping[str, TensorProto]
) -> tuple[list[Step], dict[str, HostValue]]:
    """Return the steps with shape arithmetic moved to the host, and the host's constants."""
    reckoned: set[str] = set()
    integers = {name for name, tensor in constants.items() if tensor.data_type == TensorProto.INT64}
    host_constants: dict[str, HostValue] = {}

    def on_host(name: str) -> str:
        """Return the name of a value on the host."""
        if name in constants:
            host_constants[name + _ON_HOST] = tuple(_array(constants[name]).reshape(-1).tolist())
            return name + _ON_HOST
        if name and name not in reckoned:
            raise BackendError(f"torch_device takes {name} for a number, and it is a shape")
        return name

    result: list[Step] = []
    for step in steps:
        host_form = _HOST_FORMS.get(step.kind)
        if step.kind == "Shape":
            reckoned.add(step.output)
        elif host_form and (reckoned.intersection(step.inputs) or integers.issuperset(step.inputs)):
            step = msgspec.structs.replace(
                step, kind=host_form, inputs=tuple(map(on_host, step.inputs))
            )
            reckoned.add(step.output)
        places = _HOST_INPUTS.get(step.kind, ())
        inputs = (on_host(n) if i in places else n for i, n in enumerate(step.inputs))
        result.append(msgspec.structs.replace(step, inputs=tuple(inputs)))
    return result, host_constants


def _with_overwriting(steps: Sequence[Step], outputs: Sequence[str]) -> list[Step]:
    """Let sums, products and SiLU overwrite an operand that no other step needs.

    An operand with one use has no view that outlives it.
    """
    uses = _uses(steps, outputs)
    fresh = {step.output for step in steps if step.kind in _FRESH}
    result: list[Step] = []
    for step in steps:
        if step.kind in _INTO:
            own = [name for name in step.inputs if name in fresh and uses[name] == 1]
            if own:
                others = list(step.inputs)
                others.remove(own[0])
                step = msgspec.structs.replace(
                    step, kind=_INTO[step.kind], inputs=(own[0], *others)
                )
        result.append(step)
    return result


def _with_deaths(steps: Sequence[Step], kept: Container[str]) -> list[Step]:
    """Add to each step the values that no later step uses, so that they can be freed."""
    seen: set[str] = set()
    result: list[Step] = []
    for step in reversed(steps):
        last = dict.fromkeys(n for n in (*step.inputs, step.output) if n and n not in seen)
        result.append(
            msgspec.structs.replace(step, dead=tuple(name for name in last if name not in kept))
        )
        seen.update(last)
    return result[::-1]
