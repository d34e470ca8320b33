"""A graph as an OpenVINO model that shares the memory of its weights.

OpenVINO refuses external data outside the model's folder, so weights are read as inputs of the
graph and then replaced by constants that share the memory of the mapped file.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from onnx import ModelProto, TensorProto, helper

from backends.base import Array, BackendError, TensorSpec, base_of, size_of

if TYPE_CHECKING:
    import openvino as ov


def read_with_weights(
    core: "ov.Core", model_bytes: bytes, weights: Mapping[str, Array]
) -> "ov.Model":
    """Return the graph as an OpenVINO model whose constants share memory with `weights`."""
    import openvino as ov

    model = core.read_model(_weights_as_inputs(model_bytes))
    for parameter in model.get_parameters():
        name = next(iter(parameter.output(0).get_names()))
        if name not in weights:
            continue
        element = parameter.get_element_type()
        # OpenVINO's binding represents bfloat16 as 16-bit integers with a separate type.
        stored = weights[name].view(np.uint16) if element == ov.Type.bf16 else weights[name]
        tensor = ov.Tensor(stored, list(stored.shape), element)
        constant = ov.op.Constant(tensor, shared_memory=True)
        for target in parameter.output(0).get_target_inputs():
            target.replace_source_output(constant.output(0))
        model.remove_parameter(parameter)
    model.validate_nodes_and_infer_types()
    return model


def fix_sizes(model: "ov.Model", inputs: tuple[TensorSpec, ...], sizes: Mapping[str, int]) -> None:
    """Fix every dynamic dimension. Raises BackendError if one has no value."""
    shapes: dict[str, list[int]] = {}
    for spec in inputs:
        missing = [n for n in spec.shape if isinstance(n, str) and base_of(n) not in sizes]
        if missing:
            raise BackendError(f"no size is given for {', '.join(missing)} of {spec.name}")
        shapes[spec.name] = [size_of(n, sizes) for n in spec.shape]
    model.reshape(shapes)


def largest_tensor(model: "ov.Model") -> int:
    """Return the bytes of the largest computed tensor; 0 if a size is not fixed."""
    sizes = [0]
    for op in model.get_ops():
        if op.get_type_name() == "Constant":
            continue
        for output in op.outputs():
            shape = output.get_partial_shape()
            if shape.is_static:
                sizes.append(prod(shape.to_shape()) * output.get_element_type().size)
    return max(sizes)


def _weights_as_inputs(model_bytes: bytes) -> bytes:
    """Return the model with each external initializer turned into an input."""
    model = ModelProto.FromString(model_bytes)
    kept: list[TensorProto] = []
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            info = helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            model.graph.input.append(info)
        else:
            kept.append(tensor)
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    return model.SerializeToString()
