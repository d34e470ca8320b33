"""Inputs and outputs that stay in a device's memory between runs.

Tensors keep their addresses while their shapes stay the same, as CUDA graphs require: so another
session's output is copied into an input, from one place of the device to another.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportAttributeAccessIssue=false, reportMissingTypeStubs=false
# pyright: reportPrivateUsage=false
# (the runtime ships no complete types)

from enum import Enum

import msgspec
import numpy as np
import onnxruntime as ort
from onnx import TensorProto

from backends.base import (
    Array,
    DeviceValue,
    DType,
    Feed,
    Feeds,
    TensorSpec,
    all_feeds,
    host_array,
    size_of,
    sizes_of,
)
from backends.onnx_runtime.errors import RUNTIME_ERRORS, translated_errors

_BFLOAT16 = TensorProto.BFLOAT16


class Binding(Enum):
    """The sessions whose inputs and outputs are in the memory of the device."""

    NONE = "none"
    # If there is such memory, and the runtime can copy to and from it.
    IF_IT_WORKS = "if it works"
    ALWAYS = "always"


class BoundValue(msgspec.Struct, frozen=True, eq=False):
    """A `DeviceValue` in the memory of a session's output."""

    value: ort.OrtValue
    dtype: DType

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the numbers."""
        return tuple(self.value.shape())

    def numpy(self) -> Array:
        """Return the numbers in main memory. Raises BackendError."""
        with translated_errors():
            return self.value.numpy().copy()


class BoundTensors:
    """A session's inputs and outputs, allocated in the memory where the session expects them."""

    def __init__(
        self,
        session: ort.InferenceSession,
        inputs: tuple[TensorSpec, ...],
        outputs: tuple[TensorSpec, ...],
    ) -> None:
        self._session = session
        self._binding = session.io_binding()
        self._inputs, self._outputs = inputs, outputs
        ends = [*session.get_inputs(), *session.get_outputs()]
        infos = [*session.get_input_memory_infos(), *session.get_output_memory_infos()]
        self._places = {end.name: info for end, info in zip(ends, infos, strict=True)}
        self._values: dict[str, ort.OrtValue] = {}
        self._pinned: dict[str, Array] = {}
        # Inputs whose numbers stay the same and are on the device: pinned ones and absent ones.
        self._kept: set[str] = set()

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs; the next run copies it to the device."""
        self._pinned[name] = array
        self._kept.discard(name)

    def run(self, feeds: Feeds, options: ort.RunOptions) -> dict[str, DeviceValue]:
        """Run once; the results are valid until the next run. Raises ONNX Runtime's errors."""
        given = all_feeds(self._inputs, self._pinned, feeds)
        sizes = sizes_of(self._inputs, given)
        for spec in self._inputs:
            feed = given[spec.name]
            kept = spec.name in self._kept and spec.name not in feeds
            if not kept or tuple(self._values[spec.name].shape()) != feed.shape:
                self._write(spec, feed)
        self._kept = given.keys() - feeds.keys()
        for spec in self._outputs:
            shape = tuple(size_of(dimension, sizes) for dimension in spec.shape)
            value, fresh = self._value(spec, shape)
            if fresh:
                self._binding.bind_ortvalue_output(spec.name, value)
        self._session.run_with_iobinding(self._binding, options)
        return {
            spec.name: BoundValue(self._values[spec.name], spec.dtype) for spec in self._outputs
        }

    def _write(self, spec: TensorSpec, feed: Feed) -> None:
        value, fresh = self._value(spec, feed.shape)
        if isinstance(feed, BoundValue):
            _copy(feed, value)
        else:
            array = host_array(feed)
            # NumPy does not know bfloat16; ONNX Runtime copies its bits.
            value.update_inplace(array.view(np.uint16) if spec.dtype is DType.BF16 else array)
        if fresh:
            self._binding.bind_ortvalue_input(spec.name, value)

    def _value(self, spec: TensorSpec, shape: tuple[int, ...]) -> tuple[ort.OrtValue, bool]:
        """Return an input's or output's OrtValue of that shape, and True if newly allocated."""
        old = self._values.get(spec.name)
        if old is not None and tuple(old.shape()) == shape:
            return old, False
        value = self._values[spec.name] = self._allocated(spec, shape)
        return value, True

    def _allocated(self, spec: TensorSpec, shape: tuple[int, ...]) -> ort.OrtValue:
        place = self._places[spec.name]
        element = _BFLOAT16 if spec.dtype is DType.BF16 else spec.dtype.numpy
        device = "cpu" if _is_host(place) else "gpu"
        return self._session.create_ortvalue_from_shape_and_type(
            shape, element, device, place.device_id, place.device_vendor_id
        )

    def pays(self) -> bool:
        """Tell whether inputs are on a device, and numbers come back from it as they were."""
        if all(map(_is_host, self._places.values())):
            return False
        spec = self._inputs[0]
        sent = np.arange(4).astype(spec.dtype.numpy)
        value = self._allocated(spec, sent.shape)
        value.update_inplace(sent)
        return bool((value.numpy() == sent).all())


def _copy(made: BoundValue, value: ort.OrtValue) -> None:
    """Copy another session's output within the device; through main memory where that fails.

    Python's part refuses values of other sessions, as they die with these; this one is in use.
    """
    try:
        value.update_inplace(ort.OrtValue(made.value._get_c_value()))
    except (*RUNTIME_ERRORS, TypeError, ValueError):  # older runtimes take only arrays
        value.update_inplace(made.numpy())


def _is_host(place: ort.OrtMemoryInfo) -> bool:
    return place.name.lower() == "cpu"


def bound_tensors(
    session: ort.InferenceSession,
    inputs: tuple[TensorSpec, ...],
    outputs: tuple[TensorSpec, ...],
    binding: Binding,
) -> BoundTensors | None:
    """Return the tensors of a session; None for one that is given arrays in main memory."""
    match binding:
        case Binding.NONE:
            return None
        case Binding.ALWAYS:
            return BoundTensors(session, inputs, outputs)
        case Binding.IF_IT_WORKS:
            try:
                bound = BoundTensors(session, inputs, outputs)
                return bound if bound.pays() else None
            except Exception:  # noqa: BLE001 (of any kind: older runtimes lack the functions)
                return None
