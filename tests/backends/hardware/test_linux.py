"""Details in no user's log: cards lent to virtual machines, hidden by containers, read by ioctl."""

from pathlib import Path

import pytest

from backends.base import MemoryInfo
from backends.hardware import linux, listing
from backends.hardware.adapter import Adapter, PciId
from backends.hardware.intel_memory import CardMemory
from backends.hardware.nvml import Nvml, NvmlDevice
from tests.backends.hardware.logs_of_users import add_function

HOST = MemoryInfo(total=64 << 30, free=40 << 30, integrated=True)
RTX = NvmlDevice("NVIDIA GeForce RTX 4070", "0000:01:00.0", 0x278610DE, 12 << 30, 11 << 30, (8, 9))


def found(
    root: Path, nvml: Nvml | None = None, memory: CardMemory | None = None
) -> tuple[Adapter, ...]:
    files = linux.read(root, lambda _node, _driver: memory)
    return linux.describe(files, nvml or Nvml(), {}, HOST)


def test_the_drivers_library_tells_name_memory_and_capability(tmp_path: Path) -> None:
    add_function(tmp_path, "0000:01:00.0", "10de", "2786", "030000", "nvidia")
    assert found(tmp_path, Nvml("560.35.03", (RTX,))) == (
        Adapter(
            vendor="NVIDIA",
            name="NVIDIA GeForce RTX 4070",
            pci=PciId(0x10DE, 0x2786),
            address="0000:01:00.0",
            memory_total=12 << 30,
            memory_free=11 << 30,
            driver="nvidia",
            driver_version="560.35.03",
            integrated=False,
            architecture="sm_89",
        ),
    )


def test_a_container_without_sysfs_shows_what_the_library_does(tmp_path: Path) -> None:
    (only,) = found(tmp_path, Nvml("560.35.03", (RTX,)))
    assert (only.pci, only.driver, only.memory_total) == (PciId(0x10DE, 0x2786), "nvidia", 12 << 30)


def test_a_card_whose_driver_a_container_hides_is_usable_if_it_answers(tmp_path: Path) -> None:
    add_function(tmp_path, "0000:01:00.0", "10de", "2786", "030000")
    assert found(tmp_path)[0].unusable == "no driver is loaded for it"
    assert found(tmp_path, Nvml("560.35.03", (RTX,)))[0].unusable == ""


def test_a_gpu_without_memory_of_its_own_shares_the_hosts(tmp_path: Path) -> None:
    spark = NvmlDevice("NVIDIA GB10", "000f:01:00.0", 0x2E1210DE, None, None, (12, 1))
    (only,) = found(tmp_path, Nvml("580.95.05", (spark,)))
    assert (only.integrated, only.memory_total, only.memory_free) == (True, HOST.total, HOST.free)
    assert only.architecture == "sm_121"


def test_the_driver_tells_its_version_and_models_in_proc(tmp_path: Path) -> None:
    add_function(tmp_path, "0000:01:00.0", "10de", "2786", "030000", "nvidia")
    proc = tmp_path / "proc/driver/nvidia"
    (proc / "gpus/0000:01:00.0").mkdir(parents=True)
    (proc / "version").write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03  Release Build\n"
        "GCC version:  gcc version 13.2.0 (Ubuntu 13.2.0-23ubuntu4)\n"
    )
    text = "Model: \t\t NVIDIA GeForce RTX 4070\nBus Location: \t 0000:01:00.0\n"
    (proc / "gpus/0000:01:00.0/information").write_text(text)
    (only,) = found(tmp_path)
    assert (only.name, only.driver_version) == ("NVIDIA GeForce RTX 4070", "560.35.03")


def test_a_model_the_driver_does_not_know_keeps_its_name(tmp_path: Path) -> None:
    add_function(tmp_path, "0000:00:08.0", "10de", "1d01", "030000", "nvidia")
    folder = tmp_path / "proc/driver/nvidia/gpus/0000:00:08.0"
    folder.mkdir(parents=True)
    (folder / "information").write_text("Model: \t\t Unknown\nBus Location: \t 0000:00:08.0\n")
    assert [adapter.name for adapter in found(tmp_path)] == ["NVIDIA 10de:1d01"]


def test_an_intel_cards_memory_is_read_from_its_render_node(tmp_path: Path) -> None:
    card = add_function(tmp_path, "0000:03:00.0", "8086", "56a0", "030000", "i915")
    (card / "drm/card1").mkdir(parents=True)
    (card / "drm/renderD129").mkdir()
    asked: list[tuple[Path, str]] = []

    def memory(node: Path, driver: str) -> CardMemory:
        asked.append((node, driver))
        return CardMemory(total=16 << 30, free=None)

    files = linux.read(tmp_path, memory)
    (only,) = linux.describe(files, Nvml(), {}, HOST)
    assert asked == [(tmp_path / "dev/dri/renderD129", "i915")]
    assert (only.integrated, only.memory_total, only.memory_free) == (False, 16 << 30, None)


def test_intels_card_is_a_card_on_the_first_bus_of_a_virtual_machine(tmp_path: Path) -> None:
    card = add_function(tmp_path, "0000:00:05.0", "8086", "56a0", "030000", "xe")
    assert found(tmp_path)[0].integrated is True
    (card / "drm/renderD128").mkdir(parents=True)
    assert found(tmp_path, memory=CardMemory(16 << 30, None))[0].integrated is False


@pytest.mark.parametrize(
    ("vendor", "driver", "reason"),
    [
        ("10de", "vfio-pci", "it is set aside for a virtual machine (vfio-pci)"),
        ("1002", "", "no driver is loaded for it"),
        ("1414", "dxgkrnl", "it stands for the GPUs of the Windows host"),
        ("15ad", "vmwgfx", "it is the display of a virtual machine"),
        ("1a03", "ast", "it is the display of a server's management controller"),
        ("10de", "nvidia", ""),
    ],
)
def test_an_unusable_adapter_has_a_reason(
    tmp_path: Path, vendor: str, driver: str, reason: str
) -> None:
    add_function(tmp_path, "0000:01:00.0", vendor, "1234", "030000", driver)
    unusable = found(tmp_path)[0].unusable
    assert unusable.startswith(reason)
    assert bool(unusable) == bool(reason)


def test_only_displays_and_amds_accelerators_are_adapters(tmp_path: Path) -> None:
    add_function(tmp_path, "0000:01:00.0", "1002", "74a1", "120000", "amdgpu")
    add_function(tmp_path, "0000:02:00.0", "8086", "7d1d", "120000", "intel_vpu")
    add_function(tmp_path, "0000:03:00.0", "10de", "22bd", "040300", "snd_hda_intel")
    add_function(tmp_path, "0000:04:00.0", "10de", "2330", "030200", "nvidia")
    assert [adapter.address for adapter in found(tmp_path)] == ["0000:01:00.0", "0000:04:00.0"]


def test_an_instinct_card_has_its_product_name(tmp_path: Path) -> None:
    card = add_function(tmp_path, "0000:01:00.0", "1002", "74a1", "120000", "amdgpu")
    (card / "product_name").write_text("AMD Instinct MI300X OAM\n")
    assert found(tmp_path)[0].name == "AMD Instinct MI300X OAM"


def test_no_program_is_started_where_sysfs_suffices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_function(tmp_path, "0000:01:00.0", "10de", "2786", "030000", "nvidia")
    add_function(tmp_path, "0000:02:00.0", "1af4", "1050", "030000", "virtio-pci")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(listing, "_ROOT", tmp_path)
    monkeypatch.setattr("subprocess.Popen", None)
    monkeypatch.setattr(listing, "read_nvml", Nvml)
    assert [adapter.name for adapter in listing.list_adapters()] == [
        "GeForce RTX 4070",
        "Red Hat 1af4:1050",
    ]


def test_lspci_is_asked_for_the_name_of_a_gpu_that_no_table_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_function(tmp_path, "0000:01:00.0", "10de", "fff0", "030000", "nvidia")
    asked: list[tuple[str, ...]] = []

    def lspci(command: tuple[str, ...]) -> str:
        asked.append(command)
        return "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation GX1 [New] [10de:fff0]"

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(listing, "_ROOT", tmp_path)
    monkeypatch.setattr(listing, "read_nvml", Nvml)
    monkeypatch.setattr("backends.hardware.names.output_of", lspci)
    assert [adapter.name for adapter in listing.list_adapters()] == ["New"]
    assert asked == [("lspci", "-nn")]
