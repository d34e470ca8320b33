"""Facts from NVIDIA's driver: names, memory, and GPUs that the system does not list."""

import re
from collections.abc import Iterator

import msgspec

from backends.base import MemoryInfo
from backends.hardware.adapter import NVIDIA, Adapter, PciId, vendor_name
from backends.hardware.nvml import Nvml, NvmlDevice

# cuDNN's half-precision convolutions give NaN on TU116 and TU117, which have no tensor cores
# (github.com/pytorch/pytorch issues 58123, 77955).
_WITHOUT_HALF = re.compile(r"\bGTX 16[56]0|\bT(1000|600|550|500|400)\b|\bMX(450|550)\b")
_VERSION = re.compile(r"\b([0-9]{2,4}(?:\.[0-9]{1,4}){1,3})\b", re.ASCII)


def computes_wrongly_in_half(name: str) -> bool:
    """True if a card of that name computes convolutions wrongly in half precision."""
    return _WITHOUT_HALF.search(name) is not None


def version_in(text: str) -> str:
    """Find the version in /proc/driver/nvidia/version: "NVRM version: ... 560.35.03 ..."."""
    match = _VERSION.search(text)
    return match[1] if match else ""


def nvidia_models(texts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield bus address and model of each "information" file; "" until the driver knows it."""
    for text in texts:
        lines = [line.partition(":") for line in text.split("\n")]
        facts = {key.strip(): value.strip() for key, _, value in lines}
        model = facts.get("Model", "")
        if address := facts.get("Bus Location", ""):
            yield address, "" if model == "Unknown" else model


def with_nvml(adapter: Adapter, device: NvmlDevice, nvml: Nvml, host: MemoryInfo) -> Adapter:
    """Add NVML's facts to an adapter. A GPU without memory of its own shares the host's."""
    shared = device.memory_total is None
    capability = device.capability
    return msgspec.structs.replace(
        adapter,
        name=device.name or adapter.name,
        pci=adapter.pci or PciId(device.pci & 0xFFFF, device.pci >> 16),
        memory_total=host.total if shared else device.memory_total,
        memory_free=host.free if shared else device.memory_free,
        driver=adapter.driver or "nvidia",
        driver_version=nvml.driver or adapter.driver_version,
        integrated=shared,
        uuid=device.uuid,
        architecture=f"sm_{capability[0]}{capability[1]}" if capability else "",
        # The driver answers, so the card is usable even if a container hides it in sysfs.
        unusable="",
    )


def hidden_adapter(address: str, name: str, version: str) -> Adapter:
    """Return a GPU that only NVIDIA's driver shows, as in containers and under WSL."""
    return Adapter(
        vendor=vendor_name(NVIDIA),
        name=name,
        address=address,
        driver="nvidia",
        driver_version=version,
        integrated=False,
    )
