"""Sessions of the native API, over a TensorRT and a driver that only take calls."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from backends.base import BackendError, Graph, Precision
from backends.tensorrt import driver
from backends.tensorrt.driver import FUNCTIONS, CudaStream
from backends.tensorrt.session import TensorRtSession
from tests.backends.tensorrt.networks import UNBOUND

# CUDA_ERROR_ILLEGAL_ADDRESS: "the process must be terminated and relaunched" to use CUDA again.
_ILLEGAL_ADDRESS = 700


class Driver:
    """CUDA's driver, which answers each call as it did the first of a series that failed."""

    def __init__(self) -> None:
        self.code = 0
        self.called: list[str] = []
        self.library = SimpleNamespace(**{name: self._function(name) for name in FUNCTIONS})

    def _function(self, name: str) -> Any:
        def call(*_: object) -> int:
            self.called.append(name)
            return self.code

        return call


@pytest.mark.parametrize(
    ("room_bytes", "staying"), [(None, 300), (5000, 1000), (900, 100), (100, 0)]
)
def test_an_engine_keeps_the_weights_that_the_plan_has_room_for(
    monkeypatch: pytest.MonkeyPatch, room_bytes: int | None, staying: int
) -> None:
    """Without a plan TensorRT's own budget; with one, two layers are on their way beside them."""
    trt = MagicMock()
    trt.ILogger = object
    engine = trt.Runtime().deserialize_cuda_engine()
    engine.streamable_weights_size = 1000
    engine.get_weight_streaming_automatic_budget.return_value = 300
    monkeypatch.setattr(driver, "_load", lambda: Driver().library)
    sizes = {"a": 400, "b": 100}
    graph = Graph(
        "denoiser", b"", UNBOUND, (), (), Precision.F16, room_bytes=room_bytes, weight_sizes=sizes
    )
    TensorRtSession(trt, b"", graph, CudaStream("0000:01:00.0"))
    assert engine.weight_streaming_budget_v2 == staying


def test_a_session_ends_on_a_card_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end must not hide why, nor keep the next device out."""
    cuda, trt = Driver(), MagicMock()
    trt.ILogger = object
    trt.Runtime().deserialize_cuda_engine().streamable_weights_size = 0
    monkeypatch.setattr(driver, "_load", lambda: cuda.library)
    graph = Graph("denoiser", b"", {}, (), (), Precision.F16)
    session = TensorRtSession(trt, b"", graph, CudaStream("0000:01:00.0"))
    cuda.code = _ILLEGAL_ADDRESS
    with pytest.raises(BackendError, match="700"):
        session.run({})
    session.close()
    assert "cuDevicePrimaryCtxRelease_v2" in cuda.called
