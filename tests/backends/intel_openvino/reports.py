"""Reports of OpenVINO on machines with Intel's GPUs and NPUs.

As posted by their owners:
- names and values of a Core Ultra 9 185H, like those below of a 155H:
  github.com/SearchSavior/OpenArc issue 43;
- Arc A770's UUID, name and driver: github.com/oobabooga/textgen issue 3761;
- the plug-in without OpenCL's loader: github.com/vllm-project/vllm-openvino issue 25 (and here);
- the plug-in without a driver: github.com/openvinotoolkit/openvino issue 29074.

Not from a log, but in the form the documentation gives: the A770's architecture, capabilities and
memory, the NVIDIA card among the devices, the numbers of the NPU. What they stand for was not seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from backends.hardware import Adapter, PciId

INTEGRATED_UUID = "8680557d080000000002000000000000"
CARD_UUID = "8680a056-0800-0000-0300-000000000000"
CPU: Mapping[str, object] = {
    "FULL_DEVICE_NAME": "Intel(R) Core(TM) Ultra 7 155H",
    "OPTIMIZATION_CAPABILITIES": ["FP32", "INT8", "BIN", "EXPORT_IMPORT"],
}
INTEGRATED: Mapping[str, object] = {
    "DEVICE_ARCHITECTURE": "GPU: vendor=0x8086 arch=v12.71.4",
    "FULL_DEVICE_NAME": "Intel(R) Arc(TM) Graphics (iGPU)",
    "DEVICE_UUID": INTEGRATED_UUID,
    "DEVICE_TYPE": "Type.INTEGRATED",
    "OPTIMIZATION_CAPABILITIES": ["FP32", "BIN", "FP16", "INT8", "EXPORT_IMPORT"],
    "GPU_DEVICE_TOTAL_MEM_SIZE": 30477434880,
    "GPU_MEMORY_STATISTICS": {},
}
CARD: Mapping[str, object] = {
    "DEVICE_ARCHITECTURE": "GPU: vendor=0x8086 arch=v12.55.8",
    "FULL_DEVICE_NAME": "Intel(R) Arc(TM) A770 Graphics (dGPU)",
    "DEVICE_UUID": CARD_UUID,
    "DEVICE_TYPE": "Type.DISCRETE",
    "OPTIMIZATION_CAPABILITIES": ["FP32", "BIN", "FP16", "INT8", "GPU_HW_MATMUL", "EXPORT_IMPORT"],
    "GPU_DEVICE_TOTAL_MEM_SIZE": 16225243136,
    "GPU_DEVICE_MAX_ALLOC_MEM_SIZE": 4294959104,
    "GPU_MEMORY_STATISTICS": {"usm_device_current": 2 << 30, "cl_mem_current": 1 << 30},
    "GPU_DRIVER_VERSION": "23.35.27191.42",
}
NVIDIA_CARD: Mapping[str, object] = {
    "FULL_DEVICE_NAME": "NVIDIA GeForce RTX 5090 D (dGPU)",
    "DEVICE_TYPE": "Type.DISCRETE",
    "DEVICE_ARCHITECTURE": "GPU: vendor=0x10de arch=v12.0.0",
    "GPU_DEVICE_TOTAL_MEM_SIZE": 34190458880,
}
NPU: Mapping[str, object] = {
    "FULL_DEVICE_NAME": "Intel(R) AI Boost",
    "OPTIMIZATION_CAPABILITIES": ["FP16", "INT8", "EXPORT_IMPORT"],
    "NPU_DRIVER_VERSION": 1738334590,
    "NPU_COMPILER_VERSION": 393219,
}
NO_LOADER = (
    "Exception from src/inference/src/cpp/core.cpp:268:\nCannot load library "
    '"libopenvino_intel_gpu_plugin.so": libOpenCL.so.1: cannot open shared object file: '
    "No such file or directory\n"
)

INTEGRATED_ADAPTER = Adapter(
    "Intel",
    "Meteor Lake-P [Intel Arc Graphics]",
    PciId(0x8086, 0x7D55),
    "0000:00:02.0",
    driver="i915",
    integrated=True,
)
CARD_ADAPTER = Adapter(
    "Intel",
    "DG2 [Arc A770]",
    PciId(0x8086, 0x56A0),
    "0000:03:00.0",
    memory_total=16225243136,
    memory_free=10 << 30,
    driver="i915",
    integrated=False,
)


@dataclass
class ReportingCore:
    """Answers as `ov.Core` does on a machine with these devices."""

    reports: Mapping[str, Mapping[str, object]]
    # What asking its GPU plug-in which devices there are raises, or nothing.
    gpu_fault: str = ""
    asked: list[str] = field(default_factory=list[str])

    @property
    def available_devices(self) -> list[str]:
        return list(self.reports)

    def get_property(self, name: str, key: str) -> object:
        self.asked.append(f"{name} {key}")
        if name == "GPU" and self.gpu_fault:
            raise RuntimeError(self.gpu_fault)
        if key == "AVAILABLE_DEVICES":
            return [device for device in self.reports if device.startswith(name)]
        if key not in self.reports.get(name, {}):
            raise RuntimeError(f"Unsupported property {key}")
        return self.reports[name][key]
