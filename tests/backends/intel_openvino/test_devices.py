"""Devices as OpenVINO reports them on machines that have Intel's GPUs and NPUs."""

import ctypes.util
import sys
from pathlib import Path
from typing import Any

import pytest

from backends import hardware
from backends.base import BackendError, Device, Precision
from backends.hardware import Adapter, PciId
from backends.intel_openvino import OpenVinoBackend, core, devices, options
from tests.backends.intel_openvino.reports import (
    CARD,
    CARD_ADAPTER,
    CARD_UUID,
    CPU,
    INTEGRATED,
    INTEGRATED_ADAPTER,
    INTEGRATED_UUID,
    NO_LOADER,
    NPU,
    NVIDIA_CARD,
    ReportingCore,
)

LAPTOP: Any = ReportingCore({"CPU": CPU, "GPU": INTEGRATED, "NPU": NPU})
WITH_CARD: Any = ReportingCore({"CPU": CPU, "GPU.0": INTEGRATED, "GPU.1": CARD})
BARE: Any = ReportingCore({"CPU": CPU})
NAME = "a processor"


def gpu(id_: str = "gpu.0") -> Device:
    return Device(devices.BACKEND, id_, "a GPU", (Precision.F16, Precision.F32))


def test_a_laptop_has_a_gpu_a_processor_and_an_npu_that_is_not_automatic() -> None:
    found = devices.found(LAPTOP, [INTEGRATED_ADAPTER], NAME, rounds=True)
    assert [(d.id, d.name, d.precisions, d.automatic) for d in found] == [
        ("gpu.0", INTEGRATED_ADAPTER.name, (Precision.F16, Precision.F32), True),
        ("cpu", NAME, (Precision.F32, Precision.INT8), True),
        ("npu", "Intel(R) AI Boost", (Precision.F16,), False),
    ]
    assert all(device.usable for device in found)


def test_a_card_comes_before_the_graphics_of_the_processor() -> None:
    found = devices.found(WITH_CARD, [INTEGRATED_ADAPTER, CARD_ADAPTER], NAME)
    assert [device.id for device in found] == ["gpu.1", "gpu.0", "cpu"]
    assert [device.name for device in found[:2]] == [CARD_ADAPTER.name, INTEGRATED_ADAPTER.name]
    assert [devices.target(device) for device in found] == ["GPU.1", "GPU.0", "CPU"]


def test_without_an_adapter_to_match_a_device_has_openvinos_name() -> None:
    (device, _, _) = devices.found(LAPTOP, [], NAME)
    assert device.name == "Intel(R) Arc(TM) Graphics (iGPU)"


def test_a_card_of_another_vendor_is_left_to_other_backends() -> None:
    core: Any = ReportingCore({"CPU": CPU, "GPU.0": INTEGRATED, "GPU.1": NVIDIA_CARD})
    found = devices.found(core, [INTEGRATED_ADAPTER], NAME)
    assert [device.id for device in found] == ["gpu.0", "cpu"]


@pytest.mark.parametrize(
    ("uuid", "pci", "address"),
    [
        (INTEGRATED_UUID, PciId(0x8086, 0x7D55), "0000:00:02.0"),
        (CARD_UUID, PciId(0x8086, 0x56A0), "0000:03:00.0"),
    ],
)
def test_a_uuid_gives_the_device_and_its_place(uuid: str, pci: PciId, address: str) -> None:
    assert devices.identity(uuid) == devices.Identity(pci, address)


@pytest.mark.parametrize("uuid", ["", "80d1d11eb73811eab3de0242ac130004", "8680557d08"])
def test_a_uuid_of_another_form_is_none(uuid: str) -> None:
    assert devices.identity(uuid) is None


def test_two_equal_cards_have_different_places() -> None:
    first = CARD_ADAPTER
    second = Adapter("Intel", "the other", first.pci, "0000:07:00.0")
    adapter = devices.adapter_of(WITH_CARD, "GPU.1", [second, first])
    assert adapter is first
    assert devices.adapter_of(WITH_CARD, "GPU.1", [second]) is None


# --- what OpenVINO does not see ---


def test_an_adapter_without_openvinos_device_is_listed_with_the_reason() -> None:
    core: Any = ReportingCore({"CPU": CPU, "GPU": INTEGRATED}, gpu_fault="")
    found = devices.found(core, [INTEGRATED_ADAPTER, CARD_ADAPTER], NAME)
    assert [(d.id, d.usable) for d in found] == [("gpu.0", True), ("cpu", True), ("gpu.1", False)]
    assert found[2].name == CARD_ADAPTER.name
    assert "intel-opencl-icd" in (found[2].unusable or "")


def test_an_adapter_unusable_for_all_keeps_its_reason() -> None:
    taken = Adapter("Intel", "DG2", PciId(0x8086, 0x56A0), unusable="kept for a virtual machine")
    assert devices.found(BARE, [taken], NAME)[1].unusable == "kept for a virtual machine"


def test_adapters_of_other_makers_are_not_listed() -> None:
    card = Adapter("NVIDIA", "RTX 4070", PciId(0x10DE, 0x2786))
    assert [device.id for device in devices.found(BARE, [card], NAME)] == ["cpu"]


@pytest.mark.parametrize(
    ("fault", "system", "said"),
    [
        (NO_LOADER, "linux", "libOpenCL.so.1 is not installed"),
        ("out of luck", "linux", "does not start: out of luck"),
        ("", "linux", "compute runtime is not installed"),
        ("", "win32", "graphics driver"),
    ],
)
def test_the_reason_says_what_to_do(fault: str, system: str, said: str, tmp_path: Path) -> None:
    core: Any = ReportingCore({"CPU": CPU}, gpu_fault=fault)
    assert said in devices.why_unseen(core, INTEGRATED_ADAPTER, system, tmp_path)


@pytest.mark.skipif(
    sys.platform != "linux" or ctypes.util.find_library("OpenCL") is not None,
    reason="for Linux without OpenCL's loader",
)
def test_openvino_itself_says_that_the_loader_is_missing() -> None:
    assert "ocl-icd-libopencl1" in devices.why_unseen(core(), INTEGRATED_ADAPTER)


def test_a_render_node_without_access_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "sys/bus/pci/devices" / CARD_ADAPTER.address / "drm/renderD128"
    place.mkdir(parents=True)
    node = tmp_path / "dev/dri/renderD128"
    node.parent.mkdir(parents=True)
    node.touch()
    assert "render" not in devices.why_unseen(BARE, CARD_ADAPTER, "linux", tmp_path)

    def refused(path: object, mode: int) -> bool:
        return path != node

    # As root everything may be opened.
    monkeypatch.setattr("backends.hardware.reading.os.access", refused)
    reason = devices.why_unseen(BARE, CARD_ADAPTER, "linux", tmp_path)
    assert reason.startswith(f"{node} may not be opened")
    assert "group render" in reason


# --- memory, driver, and where a network runs ---


def test_a_cards_free_memory_leaves_out_memory_in_use() -> None:
    total = 16225243136
    alone = devices.gpu_memory(WITH_CARD, gpu("gpu.1"), [])
    assert (alone.total, alone.free, alone.integrated) == (total, total - (3 << 30), False)
    shared = devices.gpu_memory(WITH_CARD, gpu("gpu.1"), [CARD_ADAPTER])
    assert shared.free == 10 << 30


def test_a_card_that_does_not_tell_its_memory_is_not_taken_for_one_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every job would be refused for lack of memory."""
    monkeypatch.setattr(options, "GPU_MEMORY", "A_PROPERTY_OF_ANOTHER_VERSION")
    memory = devices.gpu_memory(WITH_CARD, gpu("gpu.1"), [CARD_ADAPTER])
    assert memory.total == CARD_ADAPTER.memory_total
    unknown = devices.gpu_memory(WITH_CARD, gpu("gpu.1"), [])
    assert unknown.total == hardware.host_memory().total


def test_integrated_graphics_use_the_hosts_memory() -> None:
    memory = devices.gpu_memory(WITH_CARD, gpu("gpu.0"), [INTEGRATED_ADAPTER])
    assert memory.integrated
    assert memory.total == hardware.host_memory().total


def test_the_fingerprint_has_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = OpenVinoBackend()
    monkeypatch.setattr("backends.intel_openvino.core", lambda: WITH_CARD)
    assert backend.fingerprint(gpu("gpu.1")).endswith("driver 23.35.27191.42")
    assert backend.fingerprint(gpu("gpu.0")).endswith("driver unknown")
    monkeypatch.setattr("backends.intel_openvino.core", lambda: LAPTOP)
    assert backend.fingerprint(gpu("npu")).endswith("driver 1738334590/393219")


@pytest.mark.parametrize("runs_on", [["GPU.0"], ["GPU"], "GPU.0", ["(GPU.0)"]])
def test_a_machines_only_gpu_has_several_names(runs_on: object) -> None:
    devices.require_target(gpu(), runs_on)


@pytest.mark.parametrize("runs_on", [["CPU"], ["GPU.1"], ["GPU.0", "CPU"], []])
def test_a_network_on_another_device_is_an_error(runs_on: object) -> None:
    with pytest.raises(BackendError, match=r"not GPU\.0"):
        devices.require_target(gpu(), runs_on)


@pytest.mark.parametrize(("largest", "needed"), [(4294959104, False), (4294959105, True)])
def test_large_buffers_are_asked_for_only_where_a_tensor_needs_them(
    largest: int, *, needed: bool
) -> None:
    assert devices.needs_large_buffers(WITH_CARD, "GPU.1", largest) is needed
    assert not devices.needs_large_buffers(WITH_CARD, "GPU.0", largest)  # it does not tell
    assert not devices.needs_large_buffers(WITH_CARD, "CPU", largest)
