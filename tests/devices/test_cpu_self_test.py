"""The processor's results are compared with NumPy's."""

import numpy as np
import pytest

from backends.base import (
    Array,
    Artifact,
    BackendError,
    Cancellation,
    Device,
    DeviceValue,
    Feeds,
    Graph,
    Progress,
    Session,
    host_values,
)
from backends.cpu import CpuBackend
from backends.null import NullBackend, Script
from engine.devices.cpu_self_test import difference_from_numpy


def test_the_processor_agrees_with_numpy() -> None:
    backend = CpuBackend()
    assert difference_from_numpy(backend, backend.probe()[0]) < 1e-5


class SlightlyWrong(CpuBackend):
    """A processor whose results are off by two in a hundred."""

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        return _Scaled(super().load(graph, artifact, device, progress, cancel))


class _Scaled:
    def __init__(self, session: Session) -> None:
        self.inputs, self.outputs = session.inputs, session.outputs
        self._session = session
        self.pin, self.cancel, self.close = session.pin, session.cancel, session.close

    def run(self, feeds: Feeds) -> dict[str, Array]:
        return {name: array * 1.02 for name, array in self._session.run(feeds).items()}

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        return host_values(self.outputs, self.run(feeds))


def test_a_result_off_by_two_percent_fails_the_self_test() -> None:
    backend = SlightlyWrong()
    assert difference_from_numpy(backend, backend.probe()[0]) == pytest.approx(0.02, rel=1e-3)


def test_a_result_of_nan_fails_the_self_test() -> None:
    backend = NullBackend({"cpu_self_test": Script(offset=np.nan)})
    assert not difference_from_numpy(backend, backend.probe()[0]) < 1


def test_a_backend_error_is_passed_on() -> None:
    backend = NullBackend({"cpu_self_test": Script(run_error=BackendError("too old"))})
    with pytest.raises(BackendError, match="too old"):
        difference_from_numpy(backend, backend.probe()[0])
