"""Runs a planned graph step by step, and frees each value after its last use."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false
# (torch is absent from the environment that is type-checked)

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Event
from traceback import clear_frames
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import torch

from backends.base import (
    Array,
    BackendError,
    Cancellation,
    Device,
    DeviceValue,
    DType,
    Feeds,
    Graph,
    Progress,
    RunCancelled,
    TensorSpec,
    all_feeds,
    host_array,
    sizes_of,
)
from backends.errors import tells_of_full_memory
from backends.torch_device.operators import ONNX_TYPES, Types, function_of
from backends.torch_device.plan import Plan, Step, make_plan
from backends.torch_device.replay import Replay
from backends.torch_device.segments import Segment, streamed_segments
from backends.torch_device.streaming import WeightStream
from backends.torch_device.tables import rows_of, tables_on_host
from backends.torch_device.weights import TYPES, load_weights, over_array

if TYPE_CHECKING:
    from backends.torch_device import TorchOptions


class TensorValue(msgspec.Struct, frozen=True, eq=False):
    """A `DeviceValue` that is a tensor."""

    tensor: torch.Tensor
    dtype: DType

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the numbers."""
        return tuple(self.tensor.shape)

    def numpy(self) -> Array:
        """Return the numbers in main memory. Raises BackendError."""
        with _translated_errors(self.tensor.device):
            return self.tensor.to("cpu", copy=True).contiguous().numpy()


class TorchSession:
    """A `backends.base.Session` over the steps of a plan.

    If the graph's element type is not the precision to compute in, values are converted: weights
    and constants when they are loaded, inputs and casts during the run. Weights beyond
    `graph.room_bytes` are streamed.
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        options: "TorchOptions",
        progress: Progress,
        cancel: Cancellation,
    ) -> None:
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self.outputs: tuple[TensorSpec, ...] = graph.outputs
        self._device = torch.device(device.id)
        if self._device.type == "cuda":
            # Single precision is the fallback where half precision does not suffice, so it must be
            # exact.
            torch.backends.cudnn.allow_tf32 = False
        self._cancelled = Event()
        self._pinned: dict[str, Any] = {}
        # Zeros on the device for inputs without numbers, by shape, of the sizes run last.
        self._absent: dict[tuple[int, ...], torch.Tensor] = {}
        self._sizes: dict[str, int] = {}
        plan = make_plan(graph.model)
        computed = {} if plan.element is None else {plan.element: TYPES[graph.precision.dtype]}
        types = {**ONNX_TYPES, **computed}
        self._computed = {ONNX_TYPES[number]: dtype for number, dtype in computed.items()}
        self._results = plan.outputs
        streams = graph.room_bytes is not None
        self._tables = tables_on_host(plan.steps, graph.weights) if streams else frozenset[str]()
        self._steps = [(self._function(s, types), s.inputs, s.output, s.dead) for s in plan.steps]
        with _translated_errors(self._device):
            weights, self._stream = self._loaded(graph, plan, progress, cancel)
            constants = _constant_tensors(plan, types, self._device)
        self._constants = {**plan.host_constants, **constants, **weights}
        self._run = self._compute
        # Neither records nor compiled code wait for weights.
        waits = self._stream is not None or self._tables
        if options.cuda_graphs and not waits:
            self._run = Replay(self._compute)
        if options.compiled and not waits:
            self._run = torch.compile(self._compute)

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Run once. Raises BackendError, or RunCancelled after `cancel`."""
        results = self._results_of(feeds)
        with _translated_errors(self._device), torch.inference_mode():
            return {
                spec.name: result.to("cpu", TYPES[spec.dtype]).contiguous().numpy()
                for spec, result in zip(self.outputs, results, strict=True)
            }

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run once; the results stay tensors of the device."""
        results = self._results_of(feeds)
        with _translated_errors(self._device), torch.inference_mode():
            return {
                spec.name: TensorValue(result.to(TYPES[spec.dtype]), spec.dtype)
                for spec, result in zip(self.outputs, results, strict=True)
            }

    def _results_of(self, feeds: Feeds) -> list[torch.Tensor]:
        """Return the outputs in the types that they are computed in."""
        if self._cancelled.is_set():
            raise RunCancelled
        given = all_feeds(self.inputs, self._pinned, feeds)
        sizes = sizes_of(self.inputs, given)
        if sizes != self._sizes:
            self._absent, self._sizes = {}, sizes
        told = feeds.keys() | self._pinned.keys()
        with _translated_errors(self._device), torch.inference_mode():
            return self._run(
                {
                    s.name: self._on_device(s, given[s.name])
                    if s.name in told
                    else self._zeros(s, host_array(given[s.name]))
                    for s in self.inputs
                }
            )

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs, on the device."""
        spec = next((spec for spec in self.inputs if spec.name == name), None)
        if spec is None:
            raise BackendError(f"the graph has no input {name}")
        with _translated_errors(self._device), torch.inference_mode():
            self._pinned[name] = self._on_device(spec, array)

    def cancel(self) -> None:
        """Make the current run end before its next operator, and every later one at once."""
        self._cancelled.set()

    def close(self) -> None:
        """Free the weights and torch's reserve of the device's memory."""
        if self._stream is not None:
            with suppress(*_TORCH_FAULTS):  # the device is lost
                self._stream.close()
            self._stream = None
        self._constants.clear()
        self._pinned.clear()
        self._absent.clear()
        self._run = self._compute
        _release(self._device)

    def _compute(self, values: dict[str, Any]) -> list[torch.Tensor]:
        """Return the graph's outputs; `values` holds the inputs and is consumed."""
        values |= self._constants
        stream = self._stream
        try:
            for step, (function, inputs, output, dead) in enumerate(self._steps):
                # torch.compile reads this loop only once.
                if not torch.compiler.is_compiling() and self._cancelled.is_set():
                    raise RunCancelled
                if stream is not None:
                    stream.before(step, values)
                result = function(*[values[name] if name else None for name in inputs])
                values[output] = result if stream is None else stream.own(result)
                for name in dead:
                    del values[name]
            if stream is not None:
                stream.before(len(self._steps), values)
            return [values[name] for name in self._results]
        finally:
            values.clear()

    def _on_device(self, spec: TensorSpec, value: Any) -> torch.Tensor:
        """Return an input in the form of the first operator; a pinned one already has it."""
        if isinstance(value, torch.Tensor):
            return value
        if isinstance(value, TensorValue):
            return self._moved(value.tensor, always=True)
        array = np.array(host_array(value), spec.dtype.numpy, order="C")
        return self._moved(over_array(array, spec.dtype), always=True)

    def _zeros(self, spec: TensorSpec, array: Array) -> torch.Tensor:
        """Return an input without numbers on the device; all of one shape are the same tensor."""
        if array.shape not in self._absent:
            self._absent[array.shape] = self._on_device(spec, array)
        return self._absent[array.shape]

    def _moved(self, tensor: torch.Tensor, *, always: bool = False) -> torch.Tensor:
        """Move a tensor to the device in the computed type; images and kernels with channels last.

        The processor's convolutions take a kernel in its stored layout at little cost; reordering
        would make a private copy.
        """
        dtype = self._computed.get(tensor.dtype, tensor.dtype)
        stays = self._device.type == "cpu" and dtype == tensor.dtype and not always
        moved = tensor if tensor.is_meta else tensor.to(self._device)
        if tensor.dim() != 4 or stays or not _channels_last_pays(self._device):
            return moved.to(dtype)
        return moved.to(dtype, memory_format=torch.channels_last)

    def _form_of(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a tensor without memory in the type and layout of a moved one."""
        return self._moved(tensor.to("meta"))

    def _function(self, step: Step, types: Types) -> Callable[..., Any]:
        """Return the function of a step."""
        is_on_host = self._tables.intersection(step.inputs)
        return self._looked_up if is_on_host else function_of(step, types)

    def _looked_up(self, table: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """Return rows of a table on the host, by their numbers, on the device."""
        rows = rows_of(table, numbers)
        return rows.to(self._device, self._computed.get(rows.dtype, rows.dtype))

    def _loaded(
        self, graph: Graph, plan: Plan, progress: Progress, cancel: Cancellation
    ) -> tuple[dict[str, torch.Tensor], WeightStream | None]:
        """Return the weights that stay, tables on the host, and the stream of the others."""
        segments = self._segments(graph, plan)
        streamed = {name for segment in segments for name in segment.weights}

        def moved(name: str, tensor: torch.Tensor) -> torch.Tensor:
            return tensor if name in streamed | self._tables else self._moved(tensor)

        weights = load_weights(graph.weights, moved, progress, cancel)
        host = {name: weights.pop(name) for name in streamed}
        stream = WeightStream(segments, host, self._form_of, self._device) if host else None
        return weights, stream

    def _segments(self, graph: Graph, plan: Plan) -> tuple[Segment, ...]:
        """Return the segments whose weights are streamed; none if all have room."""
        if graph.room_bytes is None:
            return ()
        sizes = {
            name: ref.elements * self._computed.get(TYPES[ref.dtype], TYPES[ref.dtype]).itemsize
            for name, ref in graph.weights.items()
            if name not in self._tables
        }
        uses = [[name for name in step.inputs if name in sizes] for step in plan.steps]
        return streamed_segments(uses, sizes, graph.room_bytes)


def _channels_last_pays(device: torch.device) -> bool:
    """True where convolutions work on channels last without converting each time.

    MIOpen does so only with an environment variable; MPS has been wrong with it.
    """
    return device.type in {"cpu", "xpu"} or (device.type == "cuda" and torch.version.hip is None)


def _constant_tensors(plan: Plan, types: Types, device: torch.device) -> dict[str, torch.Tensor]:
    return {
        name: torch.from_numpy(array.astype(np.float32)).to(device, types[number])
        for name, (number, array) in plan.constants.items()
    }


def _release(device: torch.device) -> None:
    """Return torch's unused memory to the device, unless that is lost."""
    if device.type != "cpu":
        with suppress(*_TORCH_FAULTS):
            getattr(torch, device.type).empty_cache()


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or tells_of_full_memory(str(error))


_TORCH_FAULTS = (
    RuntimeError,
    TypeError,
    IndexError,
    AssertionError,  # a device that this build of torch has no code for
    OSError,  # a weights file that is no longer there
    ValueError,  # or is too short now
)


@contextmanager
def _translated_errors(device: torch.device) -> Generator[None]:
    """Turn torch's exceptions into BackendError."""
    try:
        yield
    except MemoryError as error:
        raise BackendError("out of memory", out_of_memory=True) from error
    except _TORCH_FAULTS as error:
        full = _is_out_of_memory(error)
        if full:
            clear_frames(error.__traceback__)  # they hold what filled it
            _release(device)
        raise BackendError(str(error), out_of_memory=full) from error
