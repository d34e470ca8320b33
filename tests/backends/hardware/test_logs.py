"""Each log of a user's machine, and exactly the adapters that are to be found in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backends.base import MemoryInfo
from backends.hardware import linux, macos, windows
from backends.hardware.adapter import Adapter, PciId
from backends.hardware.names import look_up_names, torchruntime_entries
from backends.hardware.nvml import Nvml
from backends.hardware.opinions import database_differences
from tests.backends.hardware import logs_of_users as logs

HOST = MemoryInfo(total=16 << 30, free=9 << 30, integrated=True)
KERNEL = "Linux 6.8.0-test"
NO_DRIVER = "no driver is loaded for it"
VIRTUAL = "it is the display of a virtual machine, not a graphics processor"
BOARD = "it is the display of a server's management controller, not a graphics processor"
SHARED: dict[str, Any] = {"integrated": True, "memory_total": HOST.total, "memory_free": HOST.free}


def adapter(vendor: str, name: str, pci: str = "", **facts: Any) -> Adapter:
    """An expected adapter; a Linux driver without a version comes with the kernel."""
    if "driver" in facts and "driver_version" not in facts:
        facts["driver_version"] = KERNEL
    number = PciId(*(int(part, 16) for part in pci.split(":"))) if pci else None
    assert facts.keys() <= set(Adapter.__struct_fields__)
    return Adapter(vendor=vendor, name=name, pci=number, **facts)


LINUX: dict[str, tuple[Callable[[str, Path], None], list[Adapter]]] = {
    "nvidia_laptop_inxi": (
        logs.inxi_tree,
        [
            adapter(
                "Intel",
                "UHD Graphics",
                "8086:9bc4",
                address="0000:00:02.0",
                driver="i915",
                **SHARED,
            ),
            adapter(
                "NVIDIA",
                "GeForce GTX 1660 Ti Mobile",
                "10de:2191",
                address="0000:01:00.0",
                driver="nvidia",
                driver_version="515.43.04",
                integrated=False,
            ),
        ],
    ),
    # Posted without -k: nothing is known of drivers.
    "two_nvidia_laptop_lspci": (
        logs.lspci_tree,
        [
            adapter(
                "Intel",
                "UHD Graphics 630",
                "8086:3e9b",
                address="0000:00:02.0",
                unusable=NO_DRIVER,
                **SHARED,
            ),
            adapter(
                "NVIDIA",
                "GeForce MX130",
                "10de:174d",
                address="0000:02:00.0",
                integrated=False,
                unusable=NO_DRIVER,
            ),
            adapter(
                "NVIDIA",
                "GeForce GTX 970",
                "10de:13c2",
                address="0000:08:00.0",
                integrated=False,
                unusable=NO_DRIVER,
            ),
        ],
    ),
    "amd_apu_and_card_lspci": (
        logs.lspci_tree,
        [
            adapter(
                "AMD",
                "Radeon RX 6600/6600 XT/6600M",
                "1002:73ff",
                address="0000:03:00.0",
                driver="amdgpu",
                integrated=False,
            ),
            adapter(
                "AMD",
                "Radeon Vega Series / Radeon Vega Mobile Series",
                "1002:1638",
                address="0000:08:00.0",
                driver="amdgpu",
                **SHARED,
            ),
        ],
    ),
    "amd_apu_sysfs": (
        logs.sysfs_tree,
        [
            adapter(
                "AMD",
                "Radeon 740M / 760M / 780M Graphics",
                "1002:15bf",
                address="0000:64:00.0",
                driver="amdgpu",
                integrated=True,
                memory_total=4294967296 + 31433977856,
                memory_free=4294967296 + 31433977856 - 1272893440 - 211398656,
                architecture="gfx1103",
            )
        ],
    ),
    "amd_strix_sysfs": (
        logs.sysfs_tree,
        [
            adapter(
                "AMD",
                "Radeon 880M / 890M",
                "1002:150e",
                address="0000:c1:00.0",
                driver="amdgpu",
                integrated=True,
                memory_total=536870912 + 16441004032,
                memory_free=536870912 + 16441004032 - 514580480 - 3946811392,
                architecture="gfx1150",
            )
        ],
    ),
    "amd_card_sysfs": (
        logs.sysfs_tree,
        [
            adapter(
                "AMD",
                "Radeon R7 240",
                "1002:6617",
                address="0000:01:00.0",
                driver="amdgpu",
                integrated=False,
                memory_total=2147483648,
                memory_free=2147483648 - 495321088,
            )
        ],
    ),
    "arc_a380_sysfs": (
        logs.sysfs_tree,
        [
            adapter(
                "Intel",
                "Arc A380",
                "8086:56a5",
                address="0000:08:00.0",
                driver="xe",
                integrated=False,
            )
        ],
    ),
    "arc_b580_sysfs": (
        logs.sysfs_tree,
        [
            adapter(
                "Intel",
                "Arc B580",
                "8086:e20b",
                address="0000:0b:00.0",
                driver="xe",
                integrated=False,
            )
        ],
    ),
    "nouveau_lspci": (
        logs.lspci_tree,
        [
            adapter(
                "Intel",
                "UHD Graphics 630",
                "8086:9bc5",
                address="0000:00:02.0",
                driver="i915",
                **SHARED,
            ),
            adapter(
                "NVIDIA",
                "GeForce MX330",
                "10de:1d16",
                address="0000:01:00.0",
                driver="nouveau",
                integrated=False,
            ),
        ],
    ),
    "no_driver_lspci": (
        logs.lspci_tree,
        [
            adapter(
                "Intel",
                "Intel 8086:0102",
                "8086:0102",
                address="0000:00:02.0",
                unusable=NO_DRIVER,
                **SHARED,
            )
        ],
    ),
    "vm_virtio_lspci": (
        logs.lspci_tree,
        [
            adapter(
                "Red Hat",
                "Red Hat 1af4:1050",
                "1af4:1050",
                address="0000:04:00.0",
                driver="virtio-pci",
                unusable=VIRTUAL,
            )
        ],
    ),
    "vm_without_display_lspci": (logs.lspci_tree, []),
    # No sysfs at all, and lspci fails: nothing is found and nothing goes wrong.
    "container_without_lspci": (logs.lspci_tree, []),
    "container_nvidia_proc": (
        logs.nvidia_proc_tree,
        [
            adapter(
                "NVIDIA",
                "GeForce GTX 650",
                address="0000:04:00.0",
                driver="nvidia",
                driver_version="",
                integrated=False,
            )
        ],
    ),
    "server_board_psutil": (
        logs.psutil_tree,
        [
            adapter(
                "ASPEED",
                "ASPEED 1a03:2000",
                "1a03:2000",
                address="0000:c4:00.0",
                driver="ast",
                unusable=BOARD,
            )
        ],
    ),
    "wsl_lspci": (
        logs.lspci_tree,
        [
            adapter(
                "Microsoft",
                "Microsoft 1414:008e",
                "1414:008e",
                address="8756:00:00.0",
                unusable=VIRTUAL,
            )
        ],
    ),
}


def no_card_memory(_node: Path, _driver: str) -> None:
    return None


def linux_adapters(root: Path, nvml: Nvml) -> tuple[Adapter, ...]:
    files = linux.read(root, no_card_memory)
    files = msgspec.structs.replace(files, kernel=KERNEL.removeprefix("Linux "))
    ids = {function.pci for function in files.adapters if function.pci}
    names = look_up_names(ids, torchruntime_entries(ids), root)
    return linux.describe(files, nvml, names, HOST)


@pytest.fixture(autouse=True)
def no_lspci(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without lspci, as in the containers: unknown to sysfs, unknown to all."""
    monkeypatch.setattr("backends.hardware.names.output_of", lambda _command: "")  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]


@pytest.mark.parametrize("name", LINUX)
def test_a_linux_log_has_exactly_these_adapters(name: str, tmp_path: Path) -> None:
    convert, expected = LINUX[name]
    convert(logs.load(name).text, tmp_path)
    assert list(linux_adapters(tmp_path, Nvml())) == expected


def test_two_cards_of_a_server(tmp_path: Path) -> None:
    text = logs.load("two_nvidia_server_lspci").text
    logs.lspci_tree(text, tmp_path)
    assert linux_adapters(tmp_path, logs.nvidia_smi(text)) == tuple(
        adapter(
            "NVIDIA",
            "NVIDIA L40S",
            "10de:26b9",
            address=address,
            memory_total=46068 << 20,
            driver="nvidia",
            driver_version="595.71.05",
            integrated=False,
        )
        for address in ("0000:01:00.0", "0000:91:00.0")
    )


def test_a_laptop_under_windows() -> None:
    text = logs.load("windows_laptop_dxgi").text
    assert windows.describe(logs.dxgi(text), (), Nvml(), {}, HOST) == (
        adapter("Intel", "Intel(R) UHD Graphics", "8086:a788", memory_total=128 << 20),
        adapter(
            "NVIDIA", "NVIDIA GeForce RTX 4060 Laptop GPU", "10de:28e0", memory_total=7957 << 20
        ),
    )


WINDOWS = {
    "windows_dxdiag": (
        logs.dxdiag,
        [
            adapter(
                "NVIDIA",
                "NVIDIA GeForce GT 710",
                "10de:128b",
                memory_total=2007 << 20,
                driver="NVIDIA",
                driver_version="",
            )
        ],
    ),
    "windows_laptop_wmi": (
        logs.wmi,
        [
            adapter("Intel", "Intel(R) UHD Graphics 630", "8086:3e9b"),
            adapter("NVIDIA", "NVIDIA GeForce GTX 1050 Ti", "10de:1c8c"),
        ],
    ),
    "windows_amd_report": (
        logs.report,
        [
            adapter(
                "AMD",
                "AMD Radeon AI PRO R9700",
                "1002:7551",
                memory_total=32 << 30,
                driver="AMD",
                driver_version="32.0.31035.1003",
            )
        ],
    ),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_adapters_of_windows_are_found_without_dxcore(name: str) -> None:
    convert, expected = WINDOWS[name]
    entries = convert(logs.load(name).text)
    assert list(windows.describe(None, entries, Nvml(), {}, HOST)) == expected


MACS: dict[str, Adapter] = {
    "mac_m3_pro_json": adapter("Apple", "Apple M3 Pro", **SHARED, driver="Metal"),
    "mac_m1_json": adapter("Apple", "Apple M1", **SHARED, driver="Metal"),
    "mac_amd_text": adapter(
        "AMD",
        "Radeon Pro Vega 64",
        "1002:6860",
        integrated=False,
        memory_total=16 << 30,
        driver="Metal",
    ),
    "mac_intel_plist": adapter(
        "Intel", "Intel Iris Graphics 6100", "8086:162b", **SHARED, driver="Metal"
    ),
    # The excerpt ends before its line about Metal.
    "mac_intel_text": adapter(
        "Intel",
        "Intel UHD Graphics 630",
        "8086:3e9b",
        **SHARED,
        driver="",
        unusable="it has no Metal driver",
    ),
}


@pytest.mark.parametrize("name", MACS)
def test_a_mac_log_has_exactly_these_adapters(name: str) -> None:
    text = logs.load(name).text
    text = {"text": logs.system_profiler, "plist": logs.plist, "json": str}[name.split("_")[-1]](
        text
    )
    found = macos.describe(text, HOST, system="15.1")
    assert list(found) == [msgspec.structs.replace(MACS[name], driver_version="macOS 15.1")]


def test_the_architecture_of_a_card_beside_an_apu(tmp_path: Path) -> None:
    text = logs.load("kfd_nodes").text
    logs.add_function(tmp_path, "0000:03:00.0", "1002", "744c", "030000", "amdgpu")
    for number, node in enumerate(text.split("cpu_cores_count")[1:]):
        folder = tmp_path / "sys/class/kfd/kfd/topology/nodes" / str(number)
        folder.mkdir(parents=True)
        (folder / "properties").write_text("cpu_cores_count" + node)
    assert [found.architecture for found in linux_adapters(tmp_path, Nvml())] == ["gfx1100"]


def test_torchruntime_agrees_about_these_machines() -> None:
    for name, (_, expected) in LINUX.items():
        ids = {entry.pci for entry in expected if entry.pci}
        assert database_differences(expected, torchruntime_entries(ids)) == (), name


def test_every_log_has_an_address_and_a_date() -> None:
    names = sorted(path.stem for path in logs.LOGS.iterdir())
    assert len(names) >= 12
    for name in names:
        log = logs.load(name)
        assert log.address.startswith("https://"), name
        assert log.date.startswith(("20", "undated")), name
        assert log.text.strip(), name


def test_every_log_is_used() -> None:
    others = {"two_nvidia_server_lspci", "windows_laptop_dxgi", "kfd_nodes"}
    used = {*LINUX, *WINDOWS, *MACS, *others}
    assert used == {path.stem for path in logs.LOGS.iterdir()}
