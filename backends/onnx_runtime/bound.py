"""Inputs and outputs that stay in a device's memory between runs.

Tensors keep their addresses while their shapes stay the same, as CUDA graphs require.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportAttributeAccessIssue=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections.abc import Mapping

import numpy as np
import onnxruntime as ort
from onnx import TensorProto

from backends.base import Array, DType, TensorSpec, all_feeds, size_of, sizes_of

_BFLOAT16 = TensorProto.BFLOAT16


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

    def run(self, feeds: Mapping[str, Array], options: ort.RunOptions) -> dict[str, Array]:
        """Run once and return new arrays. Raises ONNX Runtime's errors."""
        given = all_feeds(self._inputs, self._pinned, feeds)
        sizes = sizes_of(self._inputs, given)
        for spec in self._inputs:
            array = given[spec.name]
            kept = spec.name in self._kept and spec.name not in feeds
            if not kept or tuple(self._values[spec.name].shape()) != array.shape:
                self._write(spec, array)
        self._kept = given.keys() - feeds.keys()
        for spec in self._outputs:
            shape = tuple(size_of(dimension, sizes) for dimension in spec.shape)
            value, fresh = self._value(spec, shape)
            if fresh:
                self._binding.bind_ortvalue_output(spec.name, value)
        self._session.run_with_iobinding(self._binding, options)
        return {spec.name: self._values[spec.name].numpy().copy() for spec in self._outputs}

    def _write(self, spec: TensorSpec, array: Array) -> None:
        value, fresh = self._value(spec, array.shape)
        # NumPy does not know bfloat16; ONNX Runtime copies its bits.
        value.update_inplace(array.view(np.uint16) if spec.dtype is DType.BF16 else array)
        if fresh:
            self._binding.bind_ortvalue_input(spec.name, value)

    def _value(self, spec: TensorSpec, shape: tuple[int, ...]) -> tuple[ort.OrtValue, bool]:
        """Return an input's or output's OrtValue of that shape, and True if newly allocated."""
        old = self._values.get(spec.name)
        if old is not None and tuple(old.shape()) == shape:
            return old, False
        place = self._places[spec.name]
        element = _BFLOAT16 if spec.dtype is DType.BF16 else spec.dtype.numpy
        device = "cpu" if place.name.lower() == "cpu" else "gpu"
        value = self._session.create_ortvalue_from_shape_and_type(
            shape, element, device, place.device_id, place.device_vendor_id
        )
        self._values[spec.name] = value
        return value, True
