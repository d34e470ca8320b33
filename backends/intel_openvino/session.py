"""A network in OpenVINO, compiled or taken from a blob, for all sizes or for one at a time."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import numpy as np

from backends.base import (
    Array,
    BackendError,
    Device,
    DeviceValue,
    Feeds,
    Graph,
    RunCancelled,
    TensorSpec,
    all_feeds,
    host_arrays,
    host_values,
    sizes_of,
)
from backends.errors import tells_of_full_memory
from backends.intel_openvino import devices, options
from backends.intel_openvino.model import (
    block_length,
    fix_sizes,
    largest_tensor,
    matrices_in_blocks,
    read_with_weights,
)
from backends.intel_openvino.offsets import Offsets, offsets_apart
from backends.mapped_weights import mapped_weights

if TYPE_CHECKING:
    import openvino as ov

BLOB = "network.blob"


class OpenVinoSession:
    """A `backends.base.Session` over one OpenVINO inference request.

    After `prepare(None)` it takes every size. Otherwise it is compiled for one size at a time, and
    again when another size is run.
    """

    def __init__(self, core: "ov.Core", graph: Graph, device: Device) -> None:
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self.outputs: tuple[TensorSpec, ...] = graph.outputs
        self._core, self._graph, self._device = core, graph, device
        self._pinned: dict[str, Array] = {}
        # The results of the last run that were left in the request's memory.
        self._left: list[Array] = []
        self._cancelled = Event()
        self._dynamic = False
        self._sizes: dict[str, int] | None = None
        self._request: ov.InferRequest | None = None
        self._blob: Array | None = None
        # The arrays whose memory the compiled model shares; they live as long as the model. None
        # before compiling: a blob contains its weights, and binding may convert them.
        self._weights: dict[str, Array] | None = None
        self._offsets: dict[str, Offsets] = {}
        # True once it is compiled with weights in blocks.
        self.holds_blocks = False

    def prepare(self, sizes: Mapping[str, int] | None) -> None:
        """Compile for these sizes, or for all. Raises BackendError."""
        self._request, self._sizes = None, None  # two at once may not fit
        target = devices.target(self._device)
        with translated_errors():
            matrices = matrices_in_blocks(self._graph.model)
            length, self.holds_blocks = block_length(matrices), bool(matrices)
            if self._weights is None:
                self._weights = mapped_weights(self._graph.weights)
                rounds = self._graph.precision in devices.rounding_precisions(self._device)
                self._offsets = offsets_apart(matrices, self._weights, length if rounds else 0)
            model = read_with_weights(self._core, self._graph.model, self._weights, self._offsets)
            if sizes is not None:
                fix_sizes(model, self.inputs, sizes)
            large = devices.needs_large_buffers(self._core, target, largest_tensor(model))
            properties = options.compile_options(
                self._device.id,
                self._graph.precision,
                block_length=length,
                large_buffers=large,
            )
            self._use(self._core.compile_model(model, target, properties), sizes)

    def take(self, blob: Path, sizes: Mapping[str, int]) -> None:
        """Import a file of `exported`'s bytes, compiled for these sizes. Raises BackendError."""
        target = devices.target(self._device)
        properties = options.compile_options(self._device.id, self._graph.precision)
        with translated_errors():
            # Copy-on-write, because OpenVINO requires writable arrays; nothing is ever written.
            self._blob = np.memmap(blob, np.uint8, "c")
            import openvino as ov

            tensor = ov.Tensor(self._blob, shared_memory=True)
            self._use(self._core.import_model(tensor, target, properties), sizes)

    def exported(self) -> memoryview:
        """Return the compiled network for `take`. Raises RuntimeError."""
        assert self._request
        return self._request.get_compiled_model().export_model().getbuffer()

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Run once. Raises BackendError, or RunCancelled after `cancel`."""
        request = self._run(feeds)
        return {spec.name: request.get_tensor(spec.name).data.copy() for spec in self.outputs}

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run once; the results are the request's own tensors, until its next run.

        A graphics processor's are in memory that it shares with the host.
        """
        request = self._run(feeds)
        results = {spec.name: request.get_tensor(spec.name).data for spec in self.outputs}
        self._left = list(results.values())
        return host_values(self.outputs, results)

    def _run(self, feeds: Feeds) -> "ov.InferRequest":
        given = host_arrays(all_feeds(self.inputs, self._pinned, feeds))
        for name, array in given.items():
            if any(array is other for other in self._left):  # this run writes there
                given[name] = array.copy()
        self._left = []
        request = self._ready_for(given)
        with translated_errors():
            request.start_async(given, share_inputs=True)
            if self._cancelled.is_set():  # asked before there was a run to stop
                request.cancel()
            request.wait()
        return request

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        self._pinned[name] = array

    def cancel(self) -> None:
        """Make the current run and all later ones end with RunCancelled.

        A run that starts with a compilation finishes it first: OpenVINO cannot stop it.
        """
        self._cancelled.set()
        request = self._request
        if request is not None:
            request.cancel()

    def close(self) -> None:
        """Free the compiled model and then the weights it read."""
        self._request = None
        self._left = []
        self._pinned.clear()
        self._weights = None
        self._offsets = {}
        self._blob = None

    def _ready_for(self, given: Mapping[str, Array]) -> "ov.InferRequest":
        if not self._dynamic:
            sizes = sizes_of(self.inputs, given)
            if sizes != self._sizes:
                self.prepare(sizes)
        if self._cancelled.is_set():
            raise RunCancelled
        assert self._request
        return self._request

    def _use(self, compiled: "ov.CompiledModel", sizes: Mapping[str, int] | None) -> None:
        devices.require_target(self._device, compiled.get_property(options.RUNS_ON))
        self._dynamic, self._sizes = sizes is None, None if sizes is None else dict(sizes)
        self._request = compiled.create_infer_request()


@contextmanager
def translated_errors() -> Generator[None]:
    """Turn OpenVINO's exceptions into BackendError."""
    try:
        yield
    except (RuntimeError, OSError, ValueError) as error:  # also weights files gone or cut short
        message = str(error)
        if "was canceled" in message:
            raise RunCancelled from error
        full = "allocat" in message.lower() or tells_of_full_memory(message)
        raise BackendError(message, out_of_memory=full) from error
    except MemoryError as error:
        raise BackendError("out of memory", out_of_memory=True) from error
