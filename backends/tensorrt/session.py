"""Runs an engine with the native API. Never run yet: no card was available (docs/tensorrt.md)."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (the module is handed in, and has no types)

import math
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from backends.base import (
    Array,
    BackendError,
    DeviceValue,
    DType,
    Feed,
    Feeds,
    Graph,
    RunCancelled,
    TensorSpec,
    all_feeds,
    host_array,
)
from backends.tensorrt.build import failure, messages_of
from backends.tensorrt.driver import CudaStream
from backends.tensorrt.refit import refit
from backends.tensorrt.streaming import staying_bytes

# A name that no input or output has.
_SCRATCH = "(scratch)"


class KernelCache:
    """Kernels that TensorRT-RTX compiles for the card, kept in a file.

    A file that does not fit this card, driver or version is ignored and replaced.
    """

    def __init__(self, config: Any, path: Path | None) -> None:
        self._path = path
        # Regular TensorRT has its kernels in the engine.
        self._cache = config.create_runtime_cache() if path and _has_cache(config) else None
        if self._cache is not None:
            if path and path.is_file():
                self._cache.deserialize(path.read_bytes())
            config.set_runtime_cache(self._cache)

    def save(self) -> None:
        """Write the kernels; a full disk only costs time later."""
        if self._cache is None or self._path is None:
            return
        beside = self._path.with_suffix(".new")
        try:
            beside.write_bytes(memoryview(self._cache.serialize()))
            beside.replace(self._path)
        except OSError:
            beside.unlink(missing_ok=True)


def _has_cache(config: Any) -> bool:
    return hasattr(config, "create_runtime_cache")


class CardValue(msgspec.Struct, frozen=True, eq=False):
    """A `DeviceValue` in a card's memory, of which the session with this stream disposes."""

    stream: CudaStream
    pointer: int
    shape: tuple[int, ...]
    dtype: DType

    def numpy(self) -> Array:
        """Return the numbers in main memory. Raises BackendError."""
        result = np.empty(self.shape, self.dtype.numpy)
        self.stream.enter()
        self.stream.download(self.pointer, result)
        self.stream.wait()
        return result


class TensorRtSession:
    """A `backends.base.Session` over one execution context.

    `engine` is the result of `build_engine`; it gets the weights that `graph.changed` names. Inputs
    and outputs have their own memory on the card, which grows with their shapes. Raises
    BackendError.
    """

    def __init__(
        self,
        trt: Any,
        engine: Any,
        graph: Graph,
        stream: CudaStream,
        kernels: Path | None = None,
    ) -> None:
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self.outputs: tuple[TensorSpec, ...] = graph.outputs
        self._stream = stream
        self._memory: dict[str, tuple[int, int]] = {}
        self._pinned: dict[str, Array] = {}
        # The shapes of pinned and absent inputs that are in their own memory on the card.
        self._uploaded: dict[str, tuple[int, ...]] = {}
        self._cancelled = False
        self._messages = messages_of(trt)
        self._runtime = trt.Runtime(self._messages)
        self._engine = self._runtime.deserialize_cuda_engine(engine)
        if self._engine is None:
            raise failure("TensorRT does not load the engine", self._messages)
        if graph.changed:
            refit(trt, self._engine, graph.weights, graph.changed, self._messages)
        self._bound_weights(staying_bytes(graph))
        config = self._engine.create_runtime_config()
        # By default the context allocates the memory of the largest size at once.
        config.set_execution_context_allocation_strategy(
            trt.ExecutionContextAllocationStrategy.USER_MANAGED
        )
        self._kernels = KernelCache(config, kernels)
        self._context = self._engine.create_execution_context(config)
        if self._context is None:
            raise failure("TensorRT does not prepare the engine", self._messages)

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Run once. Raises BackendError, or RunCancelled after `cancel`."""
        return {name: value.numpy() for name, value in self.run_on_device(feeds).items()}

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run once; the results stay in the card's memory."""
        given = all_feeds(self.inputs, self._pinned, feeds)
        if self._cancelled:
            raise RunCancelled
        self._stream.enter()
        # Kept alive until the stream is done.
        sent = [self._send(spec, given[spec.name], feeds) for spec in self.inputs]
        taken = {feed.pointer for feed in sent if isinstance(feed, CardValue)}
        results: dict[str, DeviceValue] = {s.name: self._place(s, taken) for s in self.outputs}
        scratch = self._context.update_device_memory_size_for_shapes()
        self._context.set_device_memory(self._memory_of(_SCRATCH, scratch), scratch)
        if not self._context.execute_async_v3(self._stream.handle):
            raise failure("TensorRT does not run the engine", self._messages)
        self._stream.wait()
        del sent
        if self._cancelled:
            raise RunCancelled
        return results

    def _bound_weights(self, staying: int | None) -> None:
        """Keep so many bytes of weights on the card, and stream the others; None: as has room."""
        streamable = self._engine.streamable_weights_size
        if not streamable:
            return
        if staying is None:
            staying = self._engine.get_weight_streaming_automatic_budget()
        self._engine.weight_streaming_budget_v2 = min(staying, streamable)

    def _send(self, spec: TensorSpec, feed: Feed, feeds: Feeds) -> Feed:
        """Copy an input to the card, unless it is already there: pinned, or an output."""
        if not self._context.set_input_shape(spec.name, feed.shape):
            raise failure(f"{spec.name} cannot be {feed.shape}", self._messages)
        if isinstance(feed, CardValue):
            self._context.set_tensor_address(spec.name, feed.pointer)
            return feed
        array = np.ascontiguousarray(host_array(feed), spec.dtype.numpy)
        self._reserve(spec.name, array.nbytes)
        if spec.name in feeds or self._uploaded.get(spec.name) != array.shape:
            self._stream.upload(array, self._memory[spec.name][0])
            self._uploaded.pop(spec.name, None)
            if spec.name not in feeds:
                self._uploaded[spec.name] = array.shape
        return array

    def _place(self, spec: TensorSpec, taken: Collection[int]) -> CardValue:
        """Allocate an output's memory on the card, apart from what the run takes as an input."""
        shape = tuple(self._context.get_tensor_shape(spec.name))
        if any(size < 0 for size in shape):
            raise BackendError(f"TensorRT does not tell the shape of {spec.name}: {shape}")
        held = self._memory.get(spec.name, (0, 0))[0]
        place = f"{spec.name} again" if held in taken else spec.name
        pointer = self._memory_of(place, math.prod(shape) * spec.dtype.itemsize)
        self._context.set_tensor_address(spec.name, pointer)
        return CardValue(self._stream, pointer, shape, spec.dtype)

    def _reserve(self, name: str, nbytes: int) -> None:
        self._context.set_tensor_address(name, self._memory_of(name, nbytes))

    def _memory_of(self, name: str, nbytes: int) -> int:
        """Return card memory for an input or output; reuse its last one if large enough."""
        pointer, size = self._memory.get(name, (0, -1))
        if nbytes > size:
            if pointer:
                del self._memory[name]
                self._stream.free(pointer)
            pointer = self._stream.allocate(nbytes)
            self._memory[name] = pointer, nbytes
        return pointer

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        self._pinned[name] = array
        self._uploaded.pop(name, None)

    def cancel(self) -> None:
        """End the current run, which cannot be stopped, and every later one with RunCancelled."""
        self._cancelled = True

    def close(self) -> None:
        """Save the kernels and free the card's memory; a card that is lost has none to free."""
        with suppress(BackendError):
            self._stream.enter()
            self._kernels.save()
            for pointer, _ in self._memory.values():
                self._stream.free(pointer)
        self._memory.clear()
        # In this order: each is made by the next.
        del self._context, self._engine, self._runtime
        self._stream.close()
