"""The backends that may use an adapter, the preferred first: by vendor, system and driver.

The order uses only facts known without running anything; a backend's own probe decides.
"""

import sys

from backends.hardware.adapter import Adapter

# Cards supported by TensorRT-RTX's provider 0.5.0: no datacentre cards (8.0, 9.0), no Turing.
_TENSORRT_RTX = ("sm_86", "sm_89", "sm_120", "sm_121")
# Architectures that AMD lists for MIGraphX (https://rocm.docs.amd.com, compatibility matrix).
MIGRAPHX = frozenset(
    {
        *("gfx90a", "gfx942", "gfx950"),
        *("gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201"),
        *("gfx1150", "gfx1151", "gfx1152", "gfx1153"),
    }
)


def backends_for(adapter: Adapter, system: str = sys.platform) -> tuple[str, ...]:
    """Return the backends' registry names; none for an adapter that cannot compute."""
    if adapter.unusable:
        return ()
    if system == "darwin":
        # Runtimes for Macs with Intel processors are no longer made.
        return ("webgpu", "apple_coreml", "torch_device") if adapter.vendor == "Apple" else ()
    directml = ("windows_directml",) if system == "win32" else ()
    match adapter.vendor:
        case "NVIDIA":
            return _nvidia(adapter, directml)
        case "AMD" if adapter.driver == "radeon":  # The old driver has neither Vulkan nor ROCm.
            return ()
        case "AMD":
            known_without = adapter.architecture and adapter.architecture not in MIGRAPHX
            migraphx = () if known_without else ("amd_migraphx",)
            return (*migraphx, "webgpu", *directml, "torch_device")
        case "Intel":
            return ("intel_openvino", "webgpu", *directml, "torch_device")
        case _:
            return ("webgpu", *directml)


def _nvidia(adapter: Adapter, directml: tuple[str, ...]) -> tuple[str, ...]:
    if adapter.driver == "nouveau":
        return ("webgpu",)
    others = ("nvidia_cuda", "nvidia_tensorrt", "webgpu", *directml, "torch_device")
    known_without = adapter.architecture and adapter.architecture not in _TENSORRT_RTX
    return others if known_without else ("nvidia_tensorrt_rtx", *others)
