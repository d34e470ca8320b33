"""Graphs for one size, for compilers that make one program per size."""

import msgspec
from onnx import ModelProto, ValueInfoProto

from backends.base import BackendError, Graph, ShapeProfile, TensorSpec, size_of


def with_fixed_sizes(graph: Graph, profile: ShapeProfile) -> Graph:
    """Return the graph with each dynamic dimension at the profile's optimum.

    The two graphs share weights. Raises BackendError if the profile lacks a dimension.
    """
    sizes = {name: wanted.optimum for name, wanted in profile.dimensions.items()}
    inputs = tuple(_fixed(spec, sizes) for spec in graph.inputs)
    outputs = tuple(_fixed(spec, sizes) for spec in graph.outputs)
    model = ModelProto.FromString(graph.model)
    for info, spec in zip(model.graph.input, inputs, strict=True):
        _write(info, spec)
    for info, spec in zip(model.graph.output, outputs, strict=True):
        _write(info, spec)
    serialised = model.SerializeToString(deterministic=True)
    return msgspec.structs.replace(graph, model=serialised, inputs=inputs, outputs=outputs)


def _fixed(spec: TensorSpec, sizes: dict[str, int]) -> TensorSpec:
    try:
        shape = tuple(size_of(dimension, sizes) for dimension in spec.shape)
    except KeyError as error:
        raise BackendError(f"no size is given for {error.args[0]} of {spec.name}") from error
    return msgspec.structs.replace(spec, shape=shape)


def _write(info: ValueInfoProto, spec: TensorSpec) -> None:
    for dimension, size in zip(info.type.tensor_type.shape.dim, spec.shape, strict=True):
        dimension.dim_value = int(size)
