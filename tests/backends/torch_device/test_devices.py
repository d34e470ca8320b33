"""The devices that torch reports on machines that are not here, and ours made of them."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from backends import hardware
from backends.base import BackendError, Device, MemoryInfo, Precision
from backends.hardware import Adapter, PciId
from backends.torch_device import TorchBackend, TorchOptions, devices
from backends.torch_device.builds import pack_for
from tests.backends.torch_device.fake_torch import (
    GB,
    torch_cpu,
    torch_cuda,
    torch_mps,
    torch_rocm,
    torch_xpu,
)

F32, F16, BF16 = Precision.F32, Precision.F16, Precision.BF16


def accelerators(torch: Any) -> list[Device]:
    return [device for device in devices.found(torch) if device.id != "cpu"]


@pytest.mark.parametrize(
    ("name", "capability", "precisions"),
    [
        ("NVIDIA GeForce RTX 4070", (8, 9), (F16, BF16, F32)),
        ("NVIDIA GeForce RTX 2060", (7, 5), (F16, F32)),
        ("NVIDIA H100 80GB HBM3", (9, 0), (F16, BF16, F32)),
        # Half precision gives nothing but NaN there: ComfyUI and A1111 know them by name.
        ("NVIDIA GeForce GTX 1660 SUPER", (7, 5), (F32,)),
        ("NVIDIA GeForce GTX 1650", (7, 5), (F32,)),
        ("NVIDIA T600 Laptop GPU", (7, 5), (F32,)),
        ("Tesla T4", (7, 5), (F16, F32)),
    ],
)
def test_nvidia_cards_have_the_expected_precisions(
    name: str, capability: tuple[int, int], precisions: tuple[Precision, ...]
) -> None:
    (card,) = accelerators(torch_cuda((name, capability)))
    assert card == Device("torch_device", "cuda:0", name, precisions)


@pytest.mark.parametrize(
    ("capability", "compiled", "usable"),
    [
        ((8, 6), ("sm_80",), True),  # machine code of an earlier minor version runs
        ((8, 0), ("sm_86",), False),  # of a later one does not
        ((12, 0), ("sm_90",), False),  # nor of another major version
        ((12, 0), ("sm_90", "compute_90"), True),  # but it can be translated
        ((6, 1), ("sm_75", "compute_75"), False),
        ((9, 0), ("sm_90a",), True),
        ((10, 0), ("sm_90a",), False),
        ((12, 1), ("sm_120",), True),
    ],
)
def test_a_build_without_kernels_for_a_card_is_a_reason(
    capability: tuple[int, int], compiled: tuple[str, ...], usable: bool
) -> None:
    (card,) = accelerators(torch_cuda(("a card", capability), compiled=compiled))
    assert card.usable == usable
    if not usable:
        assert f"sm_{capability[0]}{capability[1]}" in (card.unusable or "")
        assert card.install == pack_for(hardware.list_adapters())


def test_old_cards_are_faster_in_single_precision() -> None:
    torch = torch_cuda(("NVIDIA GeForce GTX 1080", (6, 1)), compiled=("sm_61",))
    assert accelerators(torch)[0].precisions == (F32, F16)


def test_every_card_is_a_device() -> None:
    torch = torch_cuda(("one", (8, 6)), ("two", (5, 2)))
    assert [(d.id, d.name, d.usable) for d in accelerators(torch)] == [
        ("cuda:0", "one", True),
        ("cuda:1", "two", False),
    ]


@pytest.mark.parametrize("target", ["gfx1030", "gfx1100:sramecc+:xnack-"])
def test_an_amd_card_of_a_rocm_build_is_a_device(target: str) -> None:
    (card,) = accelerators(torch_rocm(target))
    assert card.usable
    assert card.precisions == (F16, BF16, F32)


def test_an_amd_card_unknown_to_the_build_is_unusable() -> None:
    (card,) = accelerators(torch_rocm("gfx1012"))
    assert "gfx1012" in (card.unusable or "")


def test_intel_and_apple_gpus_are_devices() -> None:
    (arc,) = accelerators(torch_xpu())
    assert (arc.id, arc.name) == ("xpu:0", "Intel(R) Arc(TM) A770 Graphics")
    (apple,) = accelerators(torch_mps())
    assert (apple.id, apple.precisions) == ("mps", (F16, F32))


@pytest.mark.parametrize(
    ("capabilities", "precisions"),
    [
        ({}, (F32,)),
        ({"avx512_bf16": True, "avx512_fp16": False}, (BF16, F32)),
        ({"amx_bf16": True, "avx512_fp16": True}, (BF16, F16, F32)),
        ({"amx_fp16": True}, (F16, F32)),
    ],
)
def test_the_processor_has_its_precisions_and_is_not_automatic(
    capabilities: dict[str, bool], precisions: tuple[Precision, ...]
) -> None:
    (processor,) = devices.found(torch_cpu(**capabilities))
    assert processor == Device(
        "torch_device", "cpu", hardware.cpu_name(), precisions, automatic=False
    )


def test_a_card_whose_node_may_not_be_opened_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "kfd"
    monkeypatch.setattr("backends.hardware.reading.ROCM_NODE", node)

    def refused(_path: object, _mode: int) -> bool:
        return False

    # As root everything may be opened.
    monkeypatch.setattr("backends.hardware.reading.os.access", refused)
    torch = torch_rocm("gfx1100")
    assert accelerators(torch)[0].usable
    node.touch()
    (card,) = accelerators(torch)
    assert f"{node} may not be opened: add yourself to the group render" in str(card.unusable)


def test_an_older_torch_offers_the_processor_in_single_precision() -> None:
    torch = torch_cpu()
    torch.cpu = SimpleNamespace()
    assert devices.found(torch)[0].precisions == (F32,)


@pytest.mark.parametrize(
    "error", [RuntimeError("no driver"), OSError("no driver"), AssertionError("no driver")]
)
def test_a_part_of_torch_that_fails_leaves_the_others_listed(error: Exception) -> None:
    def broken() -> None:
        raise error

    torch = torch_cuda(("a card", (8, 6)))
    torch.cuda.init = broken
    card, processor = devices.found(torch)
    assert "no driver" in (card.unusable or "")
    assert card.automatic
    assert processor.usable


# --- memory and versions ---


def test_a_device_that_is_lost_is_an_error_of_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = torch_cuda(("a card", (8, 6)))

    def lost(_index: int) -> tuple[int, int]:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    torch.cuda.mem_get_info = lost
    monkeypatch.setattr("backends.torch_device._torch", lambda: torch)
    with pytest.raises(BackendError, match="torch does not reach a card: CUDA error"):
        TorchBackend().memory(Device("torch_device", "cuda:0", "a card", (F16,)))


def test_memory_is_the_devices_own() -> None:
    card = Device("torch_device", "cuda:0", "a card", (F16,))
    memory = devices.memory(torch_cuda(("a card", (8, 6))), card)
    # 5 free and 1 of the 2 that torch holds
    assert (memory.total, memory.free, memory.integrated) == (8 * GB, 6 * GB, False)
    (arc,) = accelerators(torch_xpu())
    memory = devices.memory(torch_xpu(), arc)
    assert (memory.total, memory.free, memory.integrated) == (16 * GB, 12 * GB, False)


@pytest.mark.parametrize(("host_free", "free"), [(11, 10), (3, 3)])
def test_memory_of_metal_is_what_metal_and_the_other_programs_leave(
    host_free: int, free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = MemoryInfo(total=16 * GB, free=host_free * GB, integrated=True)
    monkeypatch.setattr(hardware, "host_memory", lambda: host)
    memory = devices.memory(torch_mps(), Device("torch_device", "mps", "Apple GPU", (F16,)))
    assert (memory.total, memory.free, memory.integrated) == (12 * GB, free * GB, True)


@pytest.mark.parametrize(
    ("name", "integrated"),
    [
        ("Intel(R) Arc(TM) A770 Graphics", False),
        ("Intel(R) Arc(TM) Pro B60 Graphics", False),
        ("Intel(R) Data Center GPU Max 1100", False),
        ("Intel(R) Arc(TM) Graphics", True),
        ("Intel(R) Arc(TM) 140V GPU (16GB)", True),
        ("Intel(R) Arc(TM) B390 GPU", True),
        ("Intel(R) Iris(R) Xe Graphics", True),
    ],
)
def test_an_intel_gpu_in_the_processor_shares_the_host_s_memory(
    name: str, integrated: bool
) -> None:
    device = Device("torch_device", "xpu:0", name, (F16,))
    assert devices.memory(torch_xpu(), device).integrated == integrated


def test_the_memory_of_an_unusable_device_is_the_hosts() -> None:
    broken = Device("torch_device", "cuda", "CUDA", unusable="no driver")
    assert devices.memory(torch_cuda(), broken).total == hardware.host_memory().total


MACHINES = {
    "CUDA 13.0, cuDNN 92000, driver 580.1": torch_cuda(("a card", (8, 6))),
    "ROCm 7.2.4": torch_rocm("gfx1030"),
    "driver 1.6.33578": torch_xpu(),
    "macOS": torch_mps(),
    "AVX2": torch_cpu(),
}


@pytest.mark.parametrize(("told", "torch"), MACHINES.items(), ids=list(MACHINES))
def test_the_fingerprint_has_the_runtimes_version(
    monkeypatch: pytest.MonkeyPatch, told: str, torch: Any
) -> None:
    card = msgspec.structs.replace(ADAPTERS["NVIDIA"], driver_version="580.1")
    monkeypatch.setattr(hardware, "list_adapters", lambda: (card,))
    assert told in devices.runtime(torch, devices.found(torch)[0])


# --- the backend where torch is not what it should be ---


ADAPTERS = {
    "NVIDIA": Adapter("NVIDIA", "GeForce RTX 4070", PciId(0x10DE, 0x2786)),
    "AMD": Adapter("AMD", "Radeon RX 7900 XTX", PciId(0x1002, 0x744C)),
    "Intel": Adapter("Intel", "Arc A770", PciId(0x8086, 0x56A0)),
    "Apple": Adapter("Apple", "Apple M3 Pro"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="torchruntime's choice is another elsewhere")
@pytest.mark.parametrize(
    ("vendor", "pack"),
    [
        ("NVIDIA", "torch-cuda"),
        ("AMD", "torch-rocm"),
        ("Intel", "torch-xpu"),
        ("Apple", "torch-mps"),
    ],
)
def test_without_torch_the_pack_is_that_of_torchruntimes_choice(
    vendor: str, pack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backends.torch_device.find_spec", lambda _name: None)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    monkeypatch.setattr(hardware, "list_adapters", lambda: (ADAPTERS[vendor],))
    (device,) = TorchBackend().probe()
    assert device.install == (pack,)


def test_cards_of_two_makers_have_no_choice_of_torchruntime() -> None:
    assert pack_for([ADAPTERS["AMD"], ADAPTERS["Intel"]]) == ()
    assert pack_for([ADAPTERS["AMD"], ADAPTERS["NVIDIA"]]) == ("torch-cuda",)


def test_without_torch_a_processor_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.torch_device.find_spec", lambda _name: None)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    monkeypatch.setattr(hardware, "list_adapters", lambda: ())
    backend = TorchBackend()
    (device,) = backend.probe()
    assert device.unusable == "torch is not installed"
    assert device.install == ()
    assert not device.automatic
    assert backend.memory(device).total == hardware.host_memory().total


def test_options_are_read_from_the_environment() -> None:
    assert TorchOptions.named("") == TorchOptions()
    assert TorchOptions.named("graphs") == TorchOptions(cuda_graphs=True)
    assert TorchOptions.named("compile,graphs") == TorchOptions(cuda_graphs=True, compiled=True)


def names(fake: SimpleNamespace, path: str = "") -> Iterator[str]:
    for name, value in vars(fake).items():
        yield path + name
        if isinstance(value, SimpleNamespace):
            yield from names(value, f"{path}{name}.")


@pytest.mark.oracle
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("fake", MACHINES.values(), ids=list(MACHINES))
def test_torch_has_every_attribute_in_use(fake: Any) -> None:
    import torch  # pyright: ignore[reportMissingImports]

    for name in names(fake):
        real: Any = torch
        for part in name.split("."):
            real = getattr(real, part)
