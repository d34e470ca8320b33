"""Weights that are copied to the device while the graph runs, segment by segment.

Two pieces of device memory take turns: while the steps of one segment compute, a thread reads the
weights of the next from memory or their file, and a stream of its own copies them. Weights go to
the device only; nothing comes back.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false
# (torch is absent from the environment that is type-checked)

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import msgspec
import torch

from backends.base import IN_FLIGHT
from backends.torch_device.segments import Segment, aligned

# The kinds of devices that copy while they compute.
_WITH_STREAMS = frozenset({"cuda", "xpu"})


class _Place(msgspec.Struct, frozen=True, eq=False):
    """A weight's place in the memory of its segment; `form` has the type and strides there."""

    name: str
    offset: int
    form: torch.Tensor

    def within(self, memory: torch.Tensor) -> torch.Tensor:
        """Return the weight as a part of a segment's memory."""
        raw = memory[self.offset : self.offset + self.form.nbytes].view(self.form.dtype)
        return raw.as_strided(self.form.shape, self.form.stride())


class _Coming(msgspec.Struct, frozen=True, eq=False):
    """A segment's number, the memory it is read into, and the reading."""

    number: int
    buffer: "_Buffer"
    reading: Future[None]


class WeightStream:
    """The weights of segments, on the device when their steps run.

    `weights` are tensors on the host, which are kept. `form_of` returns a tensor without memory in
    the type and layout that a weight has on the device.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        weights: Mapping[str, torch.Tensor],
        form_of: Callable[[torch.Tensor], torch.Tensor],
        device: torch.device,
    ) -> None:
        self._weights = weights
        self._places = [_laid_out(segment.weights, weights, form_of) for segment in segments]
        self._starts = {segment.first: number for number, segment in enumerate(segments)}
        self._stops = {segment.stop for segment in segments}
        nbytes = max(map(_end, self._places))
        self._free = deque(_Buffer(nbytes, device) for _ in range(IN_FLIGHT))
        self._addresses = {buffer.memory.untyped_storage().data_ptr() for buffer in self._free}
        self._coming: deque[_Coming] = deque()
        self._computing: _Buffer | None = None
        self._next = 0
        self._thread = ThreadPoolExecutor(1)

    def before(self, step: int, values: dict[str, Any]) -> None:
        """Put the weights of a segment that begins with this step into `values`.

        Call it for each step in turn, and for the number of steps after the last one.
        """
        if step in self._stops and self._computing is not None:
            self._computing.release()
            self._free.append(self._computing)
            self._computing = None
            self._read_ahead()
        if step in self._starts:
            values |= self._taken(self._starts[step])

    def own(self, value: Any) -> Any:
        """Return a step's result with memory of its own: a view of a weight is copied."""
        if not isinstance(value, torch.Tensor):
            return value
        borrowed = value.untyped_storage().data_ptr() in self._addresses
        return value.clone() if borrowed else value

    def close(self) -> None:
        """Stop reading, and free the memory."""
        self._thread.shutdown(cancel_futures=True)
        for buffer in (*self._free, *(coming.buffer for coming in self._coming)):
            buffer.finish()
        self._free.clear()
        self._coming.clear()
        self._computing = None

    def _taken(self, number: int) -> dict[str, torch.Tensor]:
        """Return the weights of a segment, once they have been read."""
        if not self._coming or self._coming[0].number != number or self._computing is not None:
            self._start_with(number)
        coming = self._coming.popleft()
        self._computing = coming.buffer
        coming.reading.result()
        coming.buffer.await_copy()
        memory = coming.buffer.memory
        return {place.name: place.within(memory) for place in self._places[number]}

    def _start_with(self, number: int) -> None:
        """Read this segment next: the first run begins, or the last one ended before its end."""
        wait([coming.reading for coming in self._coming])
        self._free.extend(coming.buffer for coming in self._coming)
        self._coming.clear()
        if self._computing is not None:
            self._computing.release()
            self._free.append(self._computing)
            self._computing = None
        self._next = number
        self._read_ahead()

    def _read_ahead(self) -> None:
        """Read the segments that follow into the memory that is free."""
        while self._free:
            number, buffer = self._next, self._free.popleft()
            self._next = (number + 1) % len(self._places)
            reading = self._thread.submit(self._read, number, buffer)
            self._coming.append(_Coming(number, buffer, reading))

    def _read(self, number: int, buffer: "_Buffer") -> None:
        """Put a segment's weights together, and copy them to the device."""
        places = self._places[number]
        host = buffer.host_memory()
        for place in places:
            place.within(host).copy_(self._weights[place.name])
        buffer.copy(_end(places))


class _Buffer:
    """Memory on the device for one segment.

    Devices with streams copy it from pinned memory, in a stream of its own. Elsewhere the weights
    are written into the device's memory itself.
    """

    def __init__(self, nbytes: int, device: torch.device) -> None:
        self.memory = torch.empty(nbytes, dtype=torch.uint8, device=device)
        self._torch: Any = getattr(torch, device.type)
        self._device = device
        self._stream: Any = None
        if device.type in _WITH_STREAMS:
            self._stream = self._torch.Stream(device=device)
            self._host = torch.empty(nbytes, dtype=torch.uint8, pin_memory=True)
            self._copied: Any = None
            # What used the memory before may still be computing.
            self._released: Any = None
            self.release()

    def host_memory(self) -> torch.Tensor:
        """Return the memory to write weights into, once the last copy has left it."""
        if self._stream is None:
            return self.memory
        if self._copied is not None:
            self._copied.synchronize()
        return self._host

    def copy(self, nbytes: int) -> None:
        """Start the copy of what was written, which waits for the steps that use the memory."""
        if self._stream is not None:
            with self._torch.stream(self._stream):
                self._stream.wait_event(self._released)
                self.memory[:nbytes].copy_(self._host[:nbytes], non_blocking=True)
                self._copied = self._stream.record_event()

    def await_copy(self) -> None:
        """Let further steps wait for the copy."""
        if self._stream is not None:
            self._torch.current_stream(self._device).wait_event(self._copied)

    def release(self) -> None:
        """Let the next copy wait for the steps so far."""
        if self._stream is not None:
            self._released = self._torch.current_stream(self._device).record_event()

    def finish(self) -> None:
        """Wait for the last copy."""
        if self._stream is not None:
            self._stream.synchronize()


def _laid_out(
    names: Sequence[str],
    weights: Mapping[str, torch.Tensor],
    form_of: Callable[[torch.Tensor], torch.Tensor],
) -> list[_Place]:
    """Return the places of a segment's weights, one behind the other."""
    places: list[_Place] = []
    for name in names:
        places.append(_Place(name, _end(places), form_of(weights[name])))
    return places


def _end(places: Sequence[_Place]) -> int:
    """Return the bytes up to the end of the last place."""
    return places[-1].offset + aligned(places[-1].form.nbytes) if places else 0
