"""The provider's device for an adapter: DXGI and DXCore list in orders of their own."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

import itertools
from dataclasses import dataclass

import msgspec
import onnxruntime as ort
import pytest

from backends.base import BackendError, RunCancelled
from backends.hardware import Adapter, PciId
from backends.windows_directml import DirectMlBackend, provider
from engine.cancel import CancelToken
from tests.backends.networks import network
from tests.backends.samples import NeverCancelled, ignore

ARC = Adapter(vendor="Intel", name="Arc B580", pci=PciId(0x8086, 0xE20B))
FIRST = Adapter(vendor="AMD", name="RX 6800", pci=PciId(0x1002, 0x73BF), memory_total=1 << 30)
SECOND = msgspec.structs.replace(FIRST, memory_total=2 << 30)


@dataclass(frozen=True)
class Hardware:
    """A stand-in for `OrtHardwareDevice`."""

    vendor_id: int
    device_id: int


@dataclass(frozen=True)
class Listed:
    """A stand-in for `OrtEpDevice`; `order` tells twins apart."""

    device: Hardware
    order: int = 0
    ep_name: str = "DmlExecutionProvider"


class Chosen(Exception):  # noqa: N818 (what is looked for)
    """The device that a session would have been made for."""


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Windows with three cards and a build that has the provider."""
    amd, intel = Hardware(0x1002, 0x73BF), Hardware(0x8086, 0xE20B)
    processor = Listed(intel, ep_name="CPUExecutionProvider")
    listed = (processor, Listed(amd, 1), Listed(intel), Listed(amd, 2))

    def available() -> list[str]:
        return ["DmlExecutionProvider"]

    def session(*given: object, **_: object) -> None:
        raise Chosen(given[2])

    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("backends.hardware.list_adapters", lambda: (ARC, FIRST, SECOND))
    monkeypatch.setattr(ort, "get_available_providers", available)
    monkeypatch.setattr(ort, "get_ep_devices", lambda: listed)
    monkeypatch.setattr("backends.onnx_runtime.session.OnnxRuntimeSession", session)
    return monkeypatch


@pytest.mark.parametrize(
    ("index", "vendor", "order"), [(0, 0x8086, 0), (1, 0x1002, 1), (2, 0x1002, 2)]
)
def test_an_adapter_is_found_by_its_number_and_twins_by_their_order(
    windows: pytest.MonkeyPatch, index: int, vendor: int, order: int
) -> None:
    backend = DirectMlBackend()
    device = backend.probe()[index]
    assert device.usable
    graph = network("vae decoder", backend.operators(device))
    with pytest.raises(Chosen) as chosen:
        backend.load(graph, None, device, ignore, NeverCancelled())
    (listed,) = chosen.value.args[0].devices
    assert (listed.device.vendor_id, listed.order) == (vendor, order)
    assert listed.ep_name == "DmlExecutionProvider"


@pytest.mark.parametrize("index", [1, 2])
def test_twins_that_are_alike_in_all_but_what_is_free_now_are_told_apart(
    windows: pytest.MonkeyPatch, index: int
) -> None:
    free = itertools.count(1 << 20)

    def adapters() -> tuple[Adapter, ...]:
        now = next(free)
        return (
            ARC,
            msgspec.structs.replace(FIRST, memory_free=now),
            msgspec.structs.replace(FIRST, memory_free=now),
        )

    windows.setattr("backends.hardware.list_adapters", adapters)
    backend = DirectMlBackend()
    device = backend.probe()[index]
    graph = network("vae decoder", backend.operators(device))
    with pytest.raises(Chosen) as chosen:
        backend.load(graph, None, device, ignore, NeverCancelled())
    (listed,) = chosen.value.args[0].devices
    assert listed.order == index


def test_an_adapter_that_is_gone_is_an_error(windows: pytest.MonkeyPatch) -> None:
    backend = DirectMlBackend()
    device = backend.probe()[0]
    windows.setattr("backends.hardware.list_adapters", lambda: (FIRST,))
    windows.setattr(ort, "get_ep_devices", lambda: ())
    graph = network("vae decoder", backend.operators(device))
    with pytest.raises(BackendError, match="DirectML does not list Arc B580"):
        backend.load(graph, None, device, ignore, NeverCancelled())


def test_a_cancelled_load_loads_nothing(windows: pytest.MonkeyPatch) -> None:
    backend, token = DirectMlBackend(), CancelToken()
    token.cancel()
    device = backend.probe()[0]
    graph = network("vae decoder", backend.operators(device))
    with pytest.raises(RunCancelled):
        backend.load(graph, None, device, ignore, token)


def test_the_device_carries_the_adapters_number_so_no_option_does() -> None:
    listed = Listed(Hardware(1, 2))
    assert provider(listed).options == {}  # pyright: ignore[reportArgumentType]
