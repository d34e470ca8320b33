"""Builds engines from graphs, with the common API of TensorRT and TensorRT-RTX, without a card.

https://docs.nvidia.com/deeplearning/tensorrt-rtx/latest/_static/python-api/ ; docs/tensorrt.md
describes the results for our graphs.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (the module is handed in, and has no types)

from typing import Any

import msgspec
from onnx import ModelProto, helper

from backends.base import (
    BackendError,
    Cancellation,
    Graph,
    Progress,
    RunCancelled,
    ShapeProfile,
)
from backends.mapped_weights import mapped_weights
from backends.tensorrt.ranges import input_ranges


class Timings(msgspec.Struct):
    """TensorRT's measurements of kernels, which later engines for the same card reuse.

    TensorRT-RTX measures nothing.
    """

    data: bytes = b""


class BuildOptions(msgspec.Struct, frozen=True):
    """Options for building an engine."""

    # Architectures to build for without having such a card, such as "SM89". Empty: the card in use.
    capabilities: tuple[str, ...] = ()
    # Allow a part of the weights to stay off the card.
    weight_streaming: bool = False
    # Attention without a single kernel becomes several kernels, instead of an error.
    decomposable_attention: bool = False
    # Weights can be replaced in the engine. TensorRT-RTX computes with them on a card to build it.
    refittable: bool = False
    # Timings to reuse; the build adds its own.
    timings: Timings | None = None


def messages_of(trt: Any) -> Any:
    """Return a new logger that keeps errors in `errors`; TensorRT reports causes nowhere else."""

    class Messages(trt.ILogger):
        def __init__(self) -> None:
            trt.ILogger.__init__(self)
            self.errors: list[str] = []

        def log(self, severity: Any, message: str) -> None:
            if severity in (trt.ILogger.ERROR, trt.ILogger.INTERNAL_ERROR):
                self.errors.append(message)

    return Messages()


def failure(what: str, messages: Any) -> BackendError:
    """Return an error with TensorRT's first complaint."""
    cause = messages.errors[0] if messages.errors else "TensorRT does not say why"
    memory = any("memory" in text.lower() and "out of" in text.lower() for text in messages.errors)
    return BackendError(f"{what}: {cause}", out_of_memory=memory)


class ParsedGraph:
    """A graph as TensorRT's network. The weights' memory lives as long as this object."""

    def __init__(self, trt: Any, graph: Graph) -> None:
        """Parse the graph. Raises BackendError if TensorRT refuses an operator."""
        self.messages = messages_of(trt)
        self.builder = trt.Builder(self.messages)
        if self.builder is None:
            raise failure("TensorRT does not start", self.messages)
        self.network = self.builder.create_network(_typed(trt))
        self._parser = trt.OnnxParser(self.network, self.messages)
        self._weights = mapped_weights(graph.weights)
        with_model = self._parser.load_model_proto(graph.model)
        # The parser reads the arrays when it parses, the builder when it builds.
        loaded = with_model and all(
            self._parser.load_initializer(name, array.ctypes.data, array.nbytes)
            for name, array in self._weights.items()
        )
        if not loaded or not self._parser.parse_model_proto():
            self.messages.errors[:0] = self._refusals()
            raise failure(f"TensorRT does not take the {graph.name}", self.messages)

    def _refusals(self) -> list[str]:
        """Return the parser's errors, with their operators."""
        errors = [self._parser.get_error(index) for index in range(self._parser.num_errors)]
        return [f"{error.node_operator()} {error.node_name()}: {error.desc()}" for error in errors]

    @property
    def layers(self) -> list[Any]:
        """TensorRT's layers, in order."""
        return [self.network.get_layer(index) for index in range(self.network.num_layers)]


def build_engine(
    trt: Any,
    graph: Graph,
    profile: ShapeProfile,
    options: BuildOptions,
    progress: Progress,
    cancel: Cancellation,
) -> Any:
    """Build an engine for the sizes of `profile`, as TensorRT's host memory (bytes, `nbytes`).

    It computes in the graph's element types and contains the weights. A cancellation takes effect
    between TensorRT's steps, the longest of which takes most of the time. Raises BackendError or
    RunCancelled.
    """
    if cancel.is_set():
        raise RunCancelled
    progress(None)
    try:
        parsed = ParsedGraph(trt, decomposable(graph) if options.decomposable_attention else graph)
        config = configured(trt, parsed.builder, graph, profile, options)
        config.progress_monitor = _monitor(trt, cancel)
        engine = parsed.builder.build_serialized_network(parsed.network, config)
    except (OSError, ValueError) as error:  # a weights file that is gone or cut short
        raise BackendError(str(error)) from error
    except MemoryError as error:
        raise BackendError("out of memory", out_of_memory=True) from error
    if cancel.is_set():
        raise RunCancelled
    if options.timings:
        options.timings.data = bytes(memoryview(config.get_timing_cache().serialize()))
    if engine is None:
        raise failure(f"TensorRT does not build the {graph.name}", parsed.messages)
    return engine


def _typed(trt: Any) -> int:
    """Return the flag for strong types; TensorRT 11 and later have only these, and no flag."""
    flag = getattr(trt.NetworkDefinitionCreationFlag, "STRONGLY_TYPED", None)
    return 0 if flag is None else 1 << int(flag)


def configured(
    trt: Any, builder: Any, graph: Graph, profile: ShapeProfile, options: BuildOptions
) -> Any:
    """Return the configuration for a build. Raises BackendError if the profile lacks a size."""
    config = builder.create_builder_config()
    # Otherwise float32 is rounded to ten bits before each product.
    config.clear_flag(trt.BuilderFlag.TF32)
    if options.weight_streaming:
        config.set_flag(trt.BuilderFlag.WEIGHT_STREAMING)
    if options.refittable:
        config.set_flag(trt.BuilderFlag.REFIT)
    if options.timings:
        config.set_timing_cache(config.create_timing_cache(options.timings.data), False)
    if options.capabilities:
        config.num_compute_capabilities = len(options.capabilities)
        for index, name in enumerate(options.capabilities):
            config.set_compute_capability(getattr(trt.ComputeCapability, name), index)
    shapes = builder.create_optimization_profile()
    for part in input_ranges(graph.inputs, profile):
        shapes.set_shape(part.name, part.minimum, part.optimum, part.maximum)
    config.add_optimization_profile(shapes)
    return config


def decomposable(graph: Graph) -> Graph:
    """Return the graph with attention allowed to become several kernels if no single one fits."""
    model = ModelProto.FromString(graph.model)
    for node in model.graph.node:
        if node.op_type == "Attention":
            # An attribute of TensorRT's parser; its layers cannot be changed from Python.
            node.attribute.append(helper.make_attribute("TRT_decomposable", 1))
    return msgspec.structs.replace(graph, model=model.SerializeToString())


def _monitor(trt: Any, cancel: Cancellation) -> Any:
    """Return a monitor that ends the build at the next step after a cancellation."""

    class Monitor(trt.IProgressMonitor):
        def __init__(self) -> None:
            trt.IProgressMonitor.__init__(self)

        def phase_start(self, name: str, parent: str | None, steps: int) -> None:
            pass

        def step_complete(self, name: str, step: int) -> bool:
            return not cancel.is_set()

        def phase_finish(self, name: str) -> None:
            pass

    return Monitor()
