"""The combined reports of DXCore, the registry and NVIDIA's library."""

import msgspec
import pytest

from backends.base import MemoryInfo
from backends.hardware import windows
from backends.hardware.adapter import Adapter, PciId
from backends.hardware.dxcore import DxcoreAdapter
from backends.hardware.nvml import Nvml, NvmlDevice
from backends.hardware.registry import RegistryEntry, parse_entry
from tests.backends.hardware.test_dxcore import CARD

HOST = MemoryInfo(total=32 << 30, free=20 << 30, integrated=True)
PROCESSOR = DxcoreAdapter(
    luid=b"2",
    description="Intel(R) UHD Graphics",
    vendor=0x8086,
    device=0xA788,
    driver_version="31.0.101.4502",
    dedicated=128 << 20,
    shared=16230 << 20,
    hardware=True,
    integrated=True,
    budget=15000 << 20,
    usage=0,
)
SOFTWARE = DxcoreAdapter(
    luid=b"3",
    description="Microsoft Basic Render Driver",
    vendor=0x1414,
    device=0x008C,
    driver_version="10.0.22621.1",
    dedicated=0,
    shared=16230 << 20,
    hardware=False,
    integrated=None,
)
NVIDIA_ENTRY = RegistryEntry(
    "NVIDIA GeForce RTX 4060 Laptop GPU", "NVIDIA", "32.0.15.6094", PciId(0x10DE, 0x28E0), 8 << 30
)
BASIC_ENTRY = parse_entry(
    {"DriverDesc": "Microsoft Basic Display Adapter", "MatchingDeviceId": r"pci\cc_0300"}
)


def describe(
    present: tuple[DxcoreAdapter, ...] | None,
    registry: tuple[RegistryEntry, ...] = (),
    nvml: Nvml | None = None,
) -> tuple[Adapter, ...]:
    return windows.describe(present, registry, nvml or Nvml(), {}, HOST)


def test_a_card_integrated_graphics_and_software_are_told_apart() -> None:
    card, processor, software = describe((CARD, PROCESSOR, SOFTWARE), (NVIDIA_ENTRY,))
    assert card == Adapter(
        vendor="NVIDIA",
        name="NVIDIA GeForce RTX 4060 Laptop GPU",
        pci=PciId(0x10DE, 0x28E0),
        memory_total=7957 << 20,
        memory_free=6900 << 20,
        driver="NVIDIA",
        driver_version="560.94",
        integrated=False,
    )
    assert (processor.integrated, processor.memory_total) == (True, (128 + 16230) << 20)
    assert processor.memory_free == processor.memory_total
    assert software.unusable.startswith("it is drawn in software")


def test_host_memory_limits_the_memory_of_integrated_graphics() -> None:
    poor = MemoryInfo(total=32 << 30, free=2 << 30, integrated=True)
    (processor,) = windows.describe((PROCESSOR,), (), Nvml(), {}, poor)
    assert processor.memory_free == 2 << 30


def test_a_driver_that_was_taken_out_with_its_card_is_not_listed() -> None:
    old = parse_entry({"DriverDesc": "Radeon", "MatchingDeviceId": r"PCI\VEN_1002&DEV_67DF"})
    assert [adapter.name for adapter in describe((CARD,), (old,))] == [CARD.description]


def test_windows_stand_in_for_a_missing_driver_is_reported() -> None:
    names = [adapter.name for adapter in describe((SOFTWARE,), (BASIC_ENTRY,))]
    assert names == ["Microsoft Basic Render Driver", "Microsoft Basic Display Adapter"]
    # It stays in the registry after the right driver came.
    assert len(describe((CARD, SOFTWARE), (BASIC_ENTRY,))) == 2


def test_two_equal_cards_each_have_their_own_memory() -> None:
    devices = tuple(
        NvmlDevice("NVIDIA GeForce RTX 4060", address, 0x28E010DE, 8 << 30, free, (8, 9))
        for address, free in (("0000:01:00.0", 7 << 30), ("0000:41:00.0", 5 << 30))
    )
    found = describe((CARD, msgspec.structs.replace(CARD, luid=b"9")), (), Nvml("560.94", devices))
    assert [(adapter.address, adapter.memory_free) for adapter in found] == [
        ("0000:01:00.0", 7 << 30),
        ("0000:41:00.0", 5 << 30),
    ]


def test_a_card_that_only_computes_is_listed_by_nvidias_library() -> None:
    tesla = NvmlDevice("Tesla V100", "0000:01:00.0", 0x1DB410DE, 16 << 30, 15 << 30, (7, 0))
    (only,) = describe((), (), Nvml("560.94", (tesla,)))
    assert (only.pci, only.driver, only.architecture) == (PciId(0x10DE, 0x1DB4), "NVIDIA", "sm_70")


@pytest.mark.parametrize(
    ("vendor", "version", "expected"),
    [
        (0x10DE, "32.0.15.6094", "560.94"),
        (0x10DE, "31.0.15.3623", "536.23"),
        (0x10DE, "", ""),
        (0x1002, "32.0.31035.1003", "32.0.31035.1003"),
    ],
)
def test_nvidias_version_is_written_as_nvidia_does(
    vendor: int, version: str, expected: str
) -> None:
    assert windows.driver_version(vendor, version) == expected


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (17179869184, 16 << 30),
        ((6 << 30).to_bytes(8, "little"), 6 << 30),
        (b"\0\0\0\x80", 2 << 30),
        (4096, 4 << 30),
        (b"abc", None),
        ("8 GB", None),
        (-1, None),
    ],
)
def test_drivers_store_sizes_as_numbers_or_bytes(
    value: int | bytes | str, size: int | None
) -> None:
    assert parse_entry({"HardwareInformation.qwMemorySize": value}).memory == size


def test_the_older_size_serves_where_the_newer_is_missing() -> None:
    assert parse_entry({"HardwareInformation.MemorySize": b"\0\0\0\x40"}).memory == 1 << 30


@pytest.mark.parametrize(
    "name",
    [
        "Parsec Virtual Display Adapter",
        "Microsoft Hyper-V Video",
        "Microsoft Remote Display Adapter",
        "VMware SVGA 3D",
        "spacedesk Graphics Adapter",
    ],
)
def test_displays_without_a_graphics_processor_are_unusable(name: str) -> None:
    (only,) = describe(None, (parse_entry({"DriverDesc": name, "MatchingDeviceId": r"root\x"}),))
    assert only.unusable == "it is the display of a virtual machine, not a graphics processor"
