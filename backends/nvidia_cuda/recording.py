"""CUDA graphs: a whole run is recorded once and launched as one when the same sizes come again.

ONNX Runtime records a run that carries a number and launches the record whenever that number comes
again; -1 does neither (onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html, "Using
CUDA Graphs"). A record reads and writes the tensors at the addresses of its recording.
"""

# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from backends.base import Array, DeviceValue, Feeds
from backends.nvidia_cuda import GRAPH_ID
from backends.onnx_runtime.session import OnnxRuntimeSession

_Shapes = dict[str, tuple[int, ...]]
_UNRECORDED = -1
# Each record holds memory as long as the session lives.
_MOST_RECORDS = 4


class RecordingSession(OnnxRuntimeSession):
    """A session that runs new sizes directly, and records a run when its sizes repeat."""

    # Class attributes instead of `__init__`: the state before the first run.
    _pinned_shapes: _Shapes | None = None
    _last: _Shapes | None = None
    _records = 0
    _number = _UNRECORDED

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run once. Raises BackendError, or RunCancelled after `cancel`."""
        shapes = {
            **(self._pinned_shapes or {}),
            **{name: feed.shape for name, feed in feeds.items()},
        }
        if shapes != self._last:
            # Tensors of another size are at other addresses: an older record does not fit them.
            self._last, self._number = shapes, _UNRECORDED
        elif self._number == _UNRECORDED and self._records < _MOST_RECORDS:
            self._records += 1
            self._number = self._records
        self._run_options.add_run_config_entry(GRAPH_ID, str(self._number))
        return super().run_on_device(feeds)

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        self._pinned_shapes = {**(self._pinned_shapes or {}), name: array.shape}
        super().pin(name, array)
