"""The part of torch that `backends.torch_device.devices` uses, on machines that are not here."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

GB = 1 << 30


def of_each(value: Any) -> Callable[[int], Any]:
    """The same of every device."""

    def answer(index: int) -> Any:
        return value

    return answer


def torch_cpu(**capabilities: bool) -> Any:
    """A build for processors; what `torch.cpu.get_capabilities` tells."""

    def init() -> None:
        raise AssertionError("Torch not compiled with CUDA enabled")

    return SimpleNamespace(
        __version__="2.13.0+cpu",
        version=SimpleNamespace(cuda=None, hip=None),
        cuda=SimpleNamespace(init=init),
        xpu=SimpleNamespace(is_available=lambda: False),
        backends=SimpleNamespace(
            mps=SimpleNamespace(is_available=lambda: False),
            cpu=SimpleNamespace(get_cpu_capability=lambda: "AVX2"),
            cudnn=SimpleNamespace(version=lambda: 92000),
        ),
        cpu=SimpleNamespace(get_capabilities=lambda: capabilities),
    )


def torch_cuda(
    *cards: tuple[str, tuple[int, int]],
    compiled: tuple[str, ...] = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_120"),
) -> Any:
    """A CUDA build and its cards, each a name and compute capability."""

    def name(index: int) -> str:
        return cards[index][0]

    def capability(index: int) -> tuple[int, int]:
        return cards[index][1]

    torch = torch_cpu()
    torch.__version__ = "2.13.0+cu130"
    torch.version.cuda = "13.0"
    properties = SimpleNamespace(is_integrated=0, gcnArchName="")
    torch.cuda = SimpleNamespace(
        init=lambda: None,
        is_available=lambda: True,
        device_count=lambda: len(cards),
        get_device_name=name,
        get_device_capability=capability,
        get_arch_list=lambda: list(compiled),
        get_device_properties=of_each(properties),
        mem_get_info=of_each((5 * GB, 8 * GB)),
        memory_reserved=of_each(2 * GB),
        memory_allocated=of_each(GB),
    )
    return torch


def torch_rocm(target: str, compiled: tuple[str, ...] = ("gfx1030", "gfx1100")) -> Any:
    """A ROCm build and one card, which ROCm calls by its target."""
    torch = torch_cuda(("AMD Radeon RX 6800", (10, 3)), compiled=compiled)
    torch.version.cuda, torch.version.hip = None, "7.2.4"
    properties = SimpleNamespace(is_integrated=0, gcnArchName=target)
    torch.cuda.get_device_properties = of_each(properties)
    return torch


def torch_xpu() -> Any:
    """An XPU build and one card."""
    torch = torch_cpu()
    torch.xpu = SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 1,
        get_device_name=of_each("Intel(R) Arc(TM) A770 Graphics"),
        get_device_properties=of_each(SimpleNamespace(driver_version="1.6.33578")),
        mem_get_info=of_each((10 * GB, 16 * GB)),
        memory_reserved=of_each(3 * GB),
        memory_allocated=of_each(1 * GB),
    )
    return torch


def torch_mps() -> Any:
    """A build for macOS on Apple's processors."""
    torch = torch_cpu()
    torch.backends.mps = SimpleNamespace(is_available=lambda: True)
    torch.mps = SimpleNamespace(
        recommended_max_memory=lambda: 12 * GB, driver_allocated_memory=lambda: 2 * GB
    )
    return torch
