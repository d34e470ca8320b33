"""torch's devices on this machine, and their properties.

Every function takes the torch module, which is imported only where it is needed.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (torch is absent from the environment that is type-checked)

import platform
import re
from collections.abc import Callable
from typing import Any

from backends import hardware
from backends.base import Device, MemoryInfo, Precision
from backends.hardware.nvidia import computes_wrongly_in_half
from backends.torch_device.builds import pack_for

BACKEND = "torch_device"
# Intel's names of cards; B370 and B390 are parts of processors, as are all other names.
_INTEL_CARD = re.compile(r"Arc\(TM\) (Pro )?(?!B3[79]0\b)[AB]\d{2,3}|Data Center|\b(Flex|Max)\b")
# From Volta on, half precision is faster than single.
_FAST_HALF = (7, 0)
FAULTS = (AssertionError, AttributeError, ImportError, OSError, RuntimeError, ValueError)


def found(torch: Any) -> list[Device]:
    """List accelerators in torch's order, then the processor, which is never automatic.

    Compilers are faster there: of a full-size SD 1.5 step's time in torch, OpenVINO took 0.76
    (bfloat16) and ONNX Runtime 0.89 (single precision), in processor time on one core of an EPYC.
    """
    devices: list[Device] = []
    for kind, name, find in (
        ("cuda", "CUDA" if torch.version.hip is None else "ROCm", _cuda),
        ("xpu", "Intel GPU", _xpu),
        ("mps", "Apple GPU", _mps),
        ("cpu", hardware.cpu_name(), _cpu),
    ):
        devices += _unless_broken(kind, name, find, torch)
    return devices


def _unless_broken(
    kind: str, name: str, find: Callable[[Any], list[Device]], torch: Any
) -> list[Device]:
    """Return the result of `find`; if it fails, a device of that kind with the reason."""
    try:
        return find(torch)
    except FAULTS as error:
        reason = f"torch {torch.__version__} does not see it: {error}"
        return [Device(BACKEND, kind, name, unusable=reason, automatic=kind != "cpu")]


def _cuda(torch: Any) -> list[Device]:
    """List NVIDIA's devices, or AMD's in a ROCm build, which torch calls by the same name."""
    if torch.version.cuda is None and torch.version.hip is None:
        return []
    if torch.version.hip is not None and (closed := hardware.rocm_closed_reason()):
        raise OSError(closed)  # which HIP does not tell from no card at all
    torch.cuda.init()  # raises with the reason if there is none
    return [_cuda_device(torch, index) for index in range(torch.cuda.device_count())]


def _cuda_device(torch: Any, index: int) -> Device:
    name = torch.cuda.get_device_name(index)
    address = f"cuda:{index}"
    compiled = torch.cuda.get_arch_list()
    if torch.version.hip is not None:
        target = torch.cuda.get_device_properties(index).gcnArchName.partition(":")[0]
        # HSA_OVERRIDE_GFX_VERSION changes the reported name.
        if target not in compiled:
            return _without_kernels(address, name, target, compiled, torch)
        return Device(BACKEND, address, name, (Precision.F16, Precision.BF16, Precision.F32))
    capability = tuple(torch.cuda.get_device_capability(index))
    if not _has_kernels(capability, compiled):
        target = f"sm_{capability[0]}{capability[1]}"
        return _without_kernels(address, name, target, compiled, torch)
    return Device(BACKEND, address, name, _cuda_precisions(name, capability))


def _cuda_precisions(name: str, capability: tuple[int, ...]) -> tuple[Precision, ...]:
    if computes_wrongly_in_half(name):
        return (Precision.F32,)
    if capability < _FAST_HALF:
        return (Precision.F32, Precision.F16)
    if capability < (8, 0):
        return (Precision.F16, Precision.F32)
    return (Precision.F16, Precision.BF16, Precision.F32)


def _has_kernels(capability: tuple[int, ...], compiled: list[str]) -> bool:
    """True if a build has kernels for this or an earlier minor version, or PTX to translate.

    `compiled` has entries such as sm_86, sm_120, sm_90a and compute_120 (CUDA C++ Programming
    Guide, "Application Compatibility").
    """
    major, minor = capability[:2]
    for entry in compiled:
        kind, _, number = entry.partition("_")
        digits = re.match(r"\d+", number)
        if digits is None or not number.isdigit():  # sm_90a runs on 9.0 alone
            if number == f"{major}{minor}a":
                return True
            continue
        built = divmod(int(number), 10)
        if kind == "sm" and built[0] == major and built[1] <= minor:
            return True
        if kind == "compute" and built <= (major, minor):
            return True
    return False


def _without_kernels(
    address: str, name: str, target: str, compiled: list[str], torch: Any
) -> Device:
    kernels = f"no kernels for {target}, only for {', '.join(compiled)}"
    reason = f"torch {torch.__version__} has {kernels}; another build has them"
    install = pack_for(hardware.list_adapters())
    return Device(BACKEND, address, name, unusable=reason, install=install)


def _xpu(torch: Any) -> list[Device]:
    if not hasattr(torch, "xpu") or not torch.xpu.is_available():
        return []
    precisions = (Precision.F16, Precision.BF16, Precision.F32)
    return [
        Device(BACKEND, f"xpu:{index}", torch.xpu.get_device_name(index), precisions)
        for index in range(torch.xpu.device_count())
    ]


def _mps(torch: Any) -> list[Device]:
    if not torch.backends.mps.is_available():
        return []
    # bfloat16 depends on the version of macOS and gains nothing over half precision.
    return [Device(BACKEND, "mps", "Apple GPU (Metal)", (Precision.F16, Precision.F32))]


def _cpu(torch: Any) -> list[Device]:
    """List the processor with the precisions it has instructions for; others are very slow.

    Half precision without its own instructions took 45 s for a convolution that takes 0.13 s in
    single (torch 2.13, EPYC with AVX512-BF16).
    """
    describe: Callable[[], dict[str, Any]] | None = getattr(torch.cpu, "get_capabilities", None)
    has = describe() if describe else {}
    precisions = [Precision.F32]
    if has.get("avx512_bf16") or has.get("amx_bf16"):
        precisions.insert(0, Precision.BF16)
    if has.get("avx512_fp16") or has.get("amx_fp16"):
        precisions.insert(-1, Precision.F16)
    return [Device(BACKEND, "cpu", hardware.cpu_name(), tuple(precisions), automatic=False)]


def runtime(torch: Any, device: Device) -> str:
    """Return the version of a device's driver or libraries."""
    kind, _, index = device.id.partition(":")
    if kind == "cuda" and torch.version.hip is not None:
        return f"ROCm {torch.version.hip}"
    if kind == "cuda":
        libraries = f"CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"
        return f"{libraries}, driver {_nvidia_driver()}"
    if kind == "xpu":
        return f"driver {torch.xpu.get_device_properties(int(index or 0)).driver_version}"
    if kind == "mps":
        return f"macOS {platform.mac_ver()[0]}"
    return torch.backends.cpu.get_cpu_capability()


def _nvidia_driver() -> str:
    """Return the version of NVIDIA's driver, which is one for all its cards; torch tells none."""
    found = hardware.of_maker(hardware.list_adapters(), "NVIDIA")
    return found[0].driver_version if found else "none"


def memory(torch: Any, device: Device) -> MemoryInfo:
    """Return a device's memory; torch's own reserve counts as free."""
    kind, _, index = device.id.partition(":")
    if kind == "cuda" and device.usable:
        free, total = torch.cuda.mem_get_info(int(index))
        reserve = torch.cuda.memory_reserved(int(index)) - torch.cuda.memory_allocated(int(index))
        integrated = bool(torch.cuda.get_device_properties(int(index)).is_integrated)
        return MemoryInfo(total=total, free=free + reserve, integrated=integrated)
    if kind == "xpu" and device.usable:
        free, total = torch.xpu.mem_get_info(int(index))
        reserve = torch.xpu.memory_reserved(int(index)) - torch.xpu.memory_allocated(int(index))
        integrated = _INTEL_CARD.search(device.name) is None
        return MemoryInfo(total=total, free=free + reserve, integrated=integrated)
    if kind == "mps" and device.usable:
        total, held = torch.mps.recommended_max_memory(), torch.mps.driver_allocated_memory()
        # Metal counts what this process may take, and not what other programs hold of the memory.
        free = min(max(0, total - held), hardware.host_memory().free)
        return MemoryInfo(total=total, free=free, integrated=True)
    return hardware.host_memory()
