"""A device is believed when it computes what NumPy computes."""

from collections.abc import Mapping

import numpy as np
import pytest

from backends.base import (
    Array,
    Artifact,
    Backend,
    BackendError,
    Cancellation,
    Device,
    Graph,
    Progress,
    Session,
)
from backends.cpu import CpuBackend
from backends.null import NullBackend, Script
from backends.registry import BACKENDS, BackendReference
from engine.jobs.verify import devices_to_verify, verify


def automatic(reference: BackendReference) -> list[Device]:
    """The devices that "auto" may choose."""
    found = reference.create().probe() if reference.automatic else []
    return [device for device in found if device.automatic]


REAL = [reference for reference in BACKENDS if automatic(reference)]


@pytest.mark.parametrize("reference", REAL, ids=lambda r: r.name)
def test_every_backend_computes_rightly_in_each_precision(reference: BackendReference) -> None:
    for device in automatic(reference):
        verdict = verify(reference.create(), device)
        assert verdict.usable, verdict.reason
        assert all(precision.value in verdict.reason for precision in device.precisions)


def test_those_are_verified_that_may_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [backend.name for backend, _ in devices_to_verify()] == [r.name for r in REAL]
    monkeypatch.setattr("backends.intel_openvino.find_spec", lambda _name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert [backend.name for backend, _ in devices_to_verify()] == ["cpu"]


@pytest.mark.parametrize("offset", [0.0, np.nan, np.inf])
def test_one_that_computes_something_else_is_not_usable(offset: float) -> None:
    backend = NullBackend({"verify": Script(offset=offset)})
    verdict = verify(backend, backend.probe()[0])
    assert not verdict.usable
    assert "wrongly" in verdict.reason


ERRORS = [BackendError("too old"), BackendError("too old", out_of_memory=True)]


@pytest.mark.parametrize(
    "script", [*(Script(load_error=e) for e in ERRORS), *(Script(run_error=e) for e in ERRORS)]
)
def test_one_that_fails_is_not_usable_and_says_why(script: Script) -> None:
    backend = NullBackend({"verify": script})
    verdict = verify(backend, backend.probe()[0])
    assert not verdict.usable
    assert "too old" in verdict.reason


class SlightlyWrong(CpuBackend):
    """A processor whose sums are off by two in a hundred."""

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

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        return {name: array * 1.02 for name, array in self._session.run(feeds).items()}


def test_a_small_error_is_an_error() -> None:
    backend: Backend = SlightlyWrong()
    assert not verify(backend, backend.probe()[0]).usable
