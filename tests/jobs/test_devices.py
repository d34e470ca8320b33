"""Which devices a job may run on."""

from dataclasses import replace

import pytest

from backends.base import Device
from backends.null import NullBackend
from backends.registry import BackendReference
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.jobs.devices import candidates, list_devices
from engine.jobs.verify import devices_to_verify


class OneOnRequest(NullBackend):
    """Two devices, of which only the second may be chosen unasked."""

    def probe(self) -> list[Device]:
        (device,) = super().probe()
        return [
            replace(device, id="asked for", automatic=False),
            replace(device, id="chosen"),
        ]


class AllOnRequest(NullBackend):
    """One device, on request only."""

    def probe(self) -> list[Device]:
        return [replace(device, automatic=False) for device in super().probe()]


def only(monkeypatch: pytest.MonkeyPatch, type_name: str) -> None:
    """Make it the only backend there is."""
    backends = (BackendReference("null", __name__, type_name),)
    for module in ("backends.registry", "engine.jobs.devices", "engine.jobs.verify"):
        monkeypatch.setattr(f"{module}.BACKENDS", backends)


def test_auto_takes_only_what_may_be_chosen_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "OneOnRequest")
    assert [device.id for _, device in candidates("auto")] == ["chosen"]
    assert [device.id for _, device in candidates("null")] == ["asked for", "chosen"]
    assert [device.id for _, device in devices_to_verify()] == ["chosen"]
    assert [device.automatic for device in list_devices()] == [False, True]


def test_where_nothing_may_be_chosen_auto_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "AllOnRequest")
    with pytest.raises(EngineError) as caught:
        candidates("auto")
    assert caught.value.code is ErrorCode.BACKEND_UNAVAILABLE
