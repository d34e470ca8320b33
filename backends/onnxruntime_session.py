"""What every ONNX Runtime backend shares: weights bound from where they are, and a session.

ONNX Runtime refuses external data outside the model's own folder, but the location of an external
initializer need not be a file: any key served from memory will do. Each file is mapped once and
given under a key of its own; with "use buffers directly" nothing is copied.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportUnknownLambdaType=false, reportAttributeAccessIssue=false
# pyright: reportMissingTypeStubs=false
# (the runtime ships no complete types)

import mmap
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import numpy as np
import onnxruntime as ort
from onnx import ModelProto, TensorProto
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

from backends.base import (
    Array,
    BackendError,
    Cancellation,
    FileSlice,
    Graph,
    RunCancelled,
    TensorSpec,
    all_feeds,
)

Buffer = mmap.mmap | memoryview


class WeightBuffers:
    """The memory that a session's weights live in, by the key each external location names."""

    def __init__(self, graph: Graph) -> None:
        self.buffers: dict[str, Buffer] = {}
        self._keys: dict[Path, str] = {}
        model = ModelProto.FromString(graph.model)
        for tensor in model.graph.initializer:
            if tensor.data_location == TensorProto.EXTERNAL:
                self._bind(tensor, graph)
        self.model = model.SerializeToString()

    def _bind(self, tensor: TensorProto, graph: Graph) -> None:
        ref = graph.weights[tensor.name]
        key, offset = f"array_{tensor.name}", 0
        if isinstance(ref, FileSlice):
            key, offset = self._file(ref.path), ref.offset
        else:
            self.buffers[key] = np.ascontiguousarray(ref.array).reshape(-1).view(np.uint8).data
        del tensor.external_data[:]
        for name, value in (("location", key), ("offset", offset), ("length", ref.nbytes)):
            tensor.external_data.add(key=name, value=str(value))

    def _file(self, path: Path) -> str:
        if path not in self._keys:
            self._keys[path] = f"file_{len(self._keys)}"
            with path.open("rb") as file:
                self.buffers[self._keys[path]] = mmap.mmap(
                    file.fileno(), 0, access=mmap.ACCESS_READ
                )
        return self._keys[path]


class OnnxRuntimeSession:
    """A `backends.base.Session` over one `onnxruntime.InferenceSession`."""

    def __init__(
        self,
        graph: Graph,
        options: ort.SessionOptions,
        providers: list[str],
        cancel: Cancellation,
    ) -> None:
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self.outputs: tuple[TensorSpec, ...] = graph.outputs
        self._pinned: dict[str, Array] = {}
        with _translated_errors():
            # The session reads weights from these buffers for as long as it lives.
            self._weights = WeightBuffers(graph)
        buffers = self._weights.buffers
        options.add_session_config_entry(
            "session.use_external_initializer_file_buffers_directly", "1"
        )
        options.add_external_initializers_from_files_in_memory(
            list(buffers), list(buffers.values()), [len(b) for b in buffers.values()]
        )
        with _translated_errors(), cancel.calling(lambda: options.set_load_cancellation_flag(True)):
            self._session = ort.InferenceSession(self._weights.model, options, providers=providers)
        self._run_options = ort.RunOptions()

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run once. Raises BackendError, or RunCancelled after `cancel`."""
        names = [spec.name for spec in self.outputs]
        given = all_feeds(self.inputs, self._pinned, feeds)
        with _translated_errors():
            results = self._session.run(names, given, self._run_options)
        return dict(zip(names, cast("list[Array]", results), strict=True))

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        self._pinned[name] = array

    def cancel(self) -> None:
        """Make the run in progress, and every later one, end with RunCancelled."""
        self._run_options.terminate = True

    def close(self) -> None:
        """Free the session and then the weights it read."""
        del self._session
        self._pinned.clear()
        self._weights.buffers.clear()


_RUNTIME_ERRORS = (
    runtime.EPFail,
    runtime.Fail,
    runtime.InvalidArgument,
    runtime.InvalidGraph,
    runtime.RuntimeException,
    RuntimeError,
    OSError,  # a weights file that is no longer there
    ValueError,  # or is empty now
)


@contextmanager
def _translated_errors() -> Generator[None]:
    """ONNX Runtime's exceptions as ours."""
    try:
        yield
    except runtime.ModelLoadCanceled as error:
        raise RunCancelled from error
    except _RUNTIME_ERRORS as error:
        message = str(error)
        if "terminate flag" in message:
            raise RunCancelled from error
        raise BackendError(message, out_of_memory="allocate" in message.lower()) from error
    except MemoryError as error:
        raise BackendError("out of memory", out_of_memory=True) from error
