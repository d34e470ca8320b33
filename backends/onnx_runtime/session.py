"""One session of ONNX Runtime, on the processor or through any other provider."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportUnknownLambdaType=false, reportAttributeAccessIssue=false
# pyright: reportMissingTypeStubs=false
# (the runtime ships no complete types)

from pathlib import Path
from typing import cast

import ml_dtypes
import numpy as np
import onnxruntime as ort
from onnx import TensorProto

from backends.base import (
    Array,
    BackendError,
    Cancellation,
    DeviceValue,
    Feeds,
    Graph,
    RunCancelled,
    TensorSpec,
    all_feeds,
    host_arrays,
    host_values,
)
from backends.onnx_runtime.bound import Binding, bound_tensors
from backends.onnx_runtime.errors import translated_errors
from backends.onnx_runtime.placement import RECORD, require_placement
from backends.onnx_runtime.provider import CPU, Provider
from backends.onnx_runtime.weights import WeightBuffers

# Giving unused memory of the arena back after each run.
_SHRINKING = "memory.enable_memory_arena_shrinkage"
# On Windows the variable that `backends` sets has no effect.
ort.disable_telemetry_events()


class OnnxRuntimeSession:
    """A `backends.base.Session` over one `onnxruntime.InferenceSession`.

    With a `binding`, inputs and outputs stay in device memory at the same addresses as long as
    their shapes stay the same, and a pinned input is copied to the device only once. Raises
    BackendError also if the provider would leave nodes to another one. `compiled` is the file of
    `graph.model`, needed if the model refers to other files next to it.
    """

    def __init__(
        self,
        graph: Graph,
        options: ort.SessionOptions,
        provider: Provider,
        cancel: Cancellation,
        *,
        binding: Binding = Binding.NONE,
        compiled: Path | None = None,
    ) -> None:
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self.outputs: tuple[TensorSpec, ...] = graph.outputs
        self._pinned: dict[str, Array] = {}
        with translated_errors():
            # The session reads weights from these buffers as long as it lives.
            self._weights = WeightBuffers(graph)
            add_weights(options, self._weights)
            providers = add_provider(options, provider)
        with translated_errors(), cancel.calling(lambda: options.set_load_cancellation_flag(True)):
            model = str(compiled) if compiled else self._weights.model
            # Otherwise the processor silently replaces a plug-in that does not start.
            self._session = ort.InferenceSession(
                model, options, providers=providers, enable_fallback=0
            )
        if cancel.is_set():  # Some providers compile without asking.
            raise RunCancelled
        if provider.name != CPU:
            with translated_errors():
                # Otherwise another provider silently repeats a run that fails.
                self._session.disable_fallback()
                require_placement(self._session, graph, provider.name)
        self._bound = bound_tensors(self._session, self.inputs, self.outputs, binding)
        self._run_options = ort.RunOptions()
        if options.enable_cpu_mem_arena:
            # Networks are large and run in turn: each gives the memory of its run back.
            self._run_options.add_run_config_entry(_SHRINKING, "cpu:0")

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Run once. Raises BackendError, or RunCancelled after `cancel`."""
        if self._bound is None:
            return self._run(feeds)
        return {name: value.numpy() for name, value in self.run_on_device(feeds).items()}

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run once; the results of a bound session stay in the device's memory.

        Those of other sessions are in main memory, without a copy.
        """
        if self._bound is None:
            return host_values(self.outputs, self._run(feeds))
        with translated_errors():
            return self._bound.run(feeds, self._run_options)

    def _run(self, feeds: Feeds) -> dict[str, Array]:
        names = [spec.name for spec in self.outputs]
        given = host_arrays(all_feeds(self.inputs, self._pinned, feeds))
        with translated_errors():
            if any(array.dtype == ml_dtypes.bfloat16 for array in given.values()):
                values = {name: _value(array) for name, array in given.items()}
                results = self._session.run_with_ort_values(names, values, self._run_options)
                return {n: r.numpy().copy() for n, r in zip(names, results, strict=True)}
            results = self._session.run(names, given, self._run_options)
        return dict(zip(names, cast("list[Array]", results), strict=True))

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        if self._bound is not None:
            self._bound.pin(name, array)
        else:
            self._pinned[name] = array

    def cancel(self) -> None:
        """Make the run in progress, and every later one, end with RunCancelled."""
        self._run_options.terminate = True

    def close(self) -> None:
        """Free the session and then the weights it read."""
        self._bound = None
        del self._session
        self._pinned.clear()
        self._weights.buffers.clear()


def add_weights(options: ort.SessionOptions, weights: WeightBuffers) -> None:
    """Add the memory of the weights to a session's options."""
    options.add_session_config_entry("session.use_external_initializer_file_buffers_directly", "1")
    buffers = weights.buffers
    options.add_external_initializers_from_files_in_memory(
        list(buffers), list(buffers.values()), [len(b) for b in buffers.values()]
    )


def add_provider(
    options: ort.SessionOptions, provider: Provider
) -> list[tuple[str, dict[str, str]]] | None:
    """Request a provider; return the providers still to request when the session is made."""
    for key, value in provider.config.items():
        options.add_session_config_entry(key, value)
    if provider.name != CPU:
        options.add_session_config_entry(RECORD, "1")
    if provider.devices:
        options.add_provider_for_devices(list(provider.devices), dict(provider.options))
        return None
    if provider.name != CPU and provider.name not in ort.get_available_providers():
        # It would be dropped with a warning that nobody reads.
        raise BackendError(f"this build of ONNX Runtime has no {provider.name}")
    return [(provider.name, dict(provider.options))]


def _value(array: Array) -> ort.OrtValue:
    """Return an array as an OrtValue; bfloat16, which NumPy lacks, is passed as raw bits."""
    if array.dtype != ml_dtypes.bfloat16:
        return ort.OrtValue.ortvalue_from_numpy(array)
    bits = np.ascontiguousarray(array).view(np.uint16)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, TensorProto.BFLOAT16)
