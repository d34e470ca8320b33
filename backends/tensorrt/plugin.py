"""Compiles with a plug-in of ONNX Runtime, and loads the result.

The plug-in writes a small ONNX model whose only node (`EPContext`) names the engine next to it:
https://onnxruntime.ai/docs/execution-providers/EP-Context-Design.html
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportAttributeAccessIssue=false, reportMissingTypeStubs=false
# pyright: reportUnknownLambdaType=false
# (the runtime ships no complete types)

from pathlib import Path

import msgspec
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

from backends.base import BackendError, Cancellation, Graph, RunCancelled, Session
from backends.onnx_runtime.bound import Binding
from backends.onnx_runtime.errors import translated_errors
from backends.onnx_runtime.provider import Provider
from backends.onnx_runtime.session import OnnxRuntimeSession, add_provider, add_weights
from backends.onnx_runtime.weights import WeightBuffers


def compile_graph(graph: Graph, provider: Provider, path: Path, cancel: Cancellation) -> None:
    """Write the compiled graph to `path`, and its engine next to it.

    Raises BackendError, also if the provider takes no node, or RunCancelled.
    """
    if cancel.is_set():
        raise RunCancelled
    with translated_errors():
        weights = WeightBuffers(graph)
        options = plain_options()
        add_weights(options, weights)
        add_provider(options, provider)
        flags = ort.OrtCompileApiFlags.ERROR_IF_NO_NODES_COMPILED
        compiler = ort.ModelCompiler(options, weights.model, flags=flags)
        with cancel.calling(lambda: options.set_load_cancellation_flag(True)):
            compiler.compile_to_file(str(path))
    if cancel.is_set():
        raise RunCancelled


def compiled_session(graph: Graph, provider: Provider, path: Path, cancel: Cancellation) -> Session:
    """Return a session of the file that `compile_graph` wrote for `graph`, weights included.

    Raises BackendError, also if another version or another card is needed, or RunCancelled.
    """
    with translated_errors():
        model = path.read_bytes()
    require_compatible(path, provider)
    context = msgspec.structs.replace(graph, model=model, weights={})
    return OnnxRuntimeSession(
        context, plain_options(), provider, cancel, binding=Binding.ALWAYS, compiled=path
    )


def require_compatible(path: Path, provider: Provider) -> None:
    """Raise BackendError if the provider reports that the compiled graph is not for its device.

    A provider that reports nothing fails when it loads the graph.
    """
    with translated_errors():
        made_for = runtime.get_compatibility_info_from_model(str(path), provider.name)
        if made_for is None:
            return
        found = runtime.get_model_compatibility_for_ep_devices(list(provider.devices), made_for)
    if found == runtime.OrtCompiledModelCompatibility.EP_UNSUPPORTED:
        raise BackendError(f"{path.name} was compiled for another card or with another version")


def plain_options() -> ort.SessionOptions:
    """Return options under which ONNX Runtime does not optimise the graph.

    TensorRT optimises it; folding constants would only copy transposed weights.
    """
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options
