"""OpenVINO's compile options: every name and value that this backend uses.

From openvino/runtime/properties.hpp and intel_gpu/properties.hpp of openvino 2026.4, and
src/plugins/intel_gpu/include/intel_gpu/runtime/options.inl of its repository for their effect on a
GPU. Not used: CACHE_DIR, because the engine decides what is kept; ACTIVATIONS_SCALE_FACTOR, which
keeps half precision from overflowing by scaling the inputs of products, because a picture that
overflows is made again in single precision and no safe factor is known.
"""

from collections.abc import Mapping

from backends.base import DType, Precision

PRECISION = "INFERENCE_PRECISION_HINT"
EXECUTION_MODE = "EXECUTION_MODE_HINT"
# The processor's plug-in rounds what is multiplied with weights in blocks to 8 bits, with a scale
# for so many numbers; not for 0, nor where a block has fewer numbers or a zero that is no integer.
# A product of Flux.1's size then takes half of the time, and errs by 0.5 %.
ROUNDED_ACTIVATIONS = "DYNAMIC_QUANTIZATION_GROUP_SIZE"
# One operation for attention instead of three; the default, set explicitly.
GPU_ATTENTION = "GPU_ENABLE_SDPA_OPTIMIZATION"
# Buffers larger than the driver allows by default; "performance may be lower with this option".
GPU_LARGE_BUFFERS = "GPU_ENABLE_LARGE_ALLOCATIONS"

ON = "YES"
NONE = "0"
HINTS: Mapping[Precision, str] = {
    **{precision: precision.value for precision in Precision},
    Precision.INT8: Precision.F32.value,
}
# In ACCURACY mode no transformation may lower the requested precision.
MODES: Mapping[DType, str] = {
    DType.F32: "ACCURACY",
    DType.F16: "PERFORMANCE",
    DType.BF16: "PERFORMANCE",
}
# bfloat16 rounds to 8 bits, too, and more often.
ROUNDING = frozenset({Precision.BF16, Precision.INT8})

# Properties of a device.
AVAILABLE_DEVICES = "AVAILABLE_DEVICES"
FULL_NAME = "FULL_DEVICE_NAME"
CAPABILITIES = "OPTIMIZATION_CAPABILITIES"
KIND = "DEVICE_TYPE"
UUID = "DEVICE_UUID"
# "GPU: vendor=0x8086 arch=v12.71.4"
ARCHITECTURE = "DEVICE_ARCHITECTURE"
GPU_DRIVER = "GPU_DRIVER_VERSION"
GPU_MEMORY = "GPU_DEVICE_TOTAL_MEM_SIZE"
GPU_LARGEST_BUFFER = "GPU_DEVICE_MAX_ALLOC_MEM_SIZE"
GPU_MEMORY_USED = "GPU_MEMORY_STATISTICS"
NPU_DRIVER = "NPU_DRIVER_VERSION"
NPU_COMPILER = "NPU_COMPILER_VERSION"
# A property of a compiled network: where it runs.
RUNS_ON = "EXECUTION_DEVICES"


def compile_options(
    device_id: str, precision: Precision, *, block_length: int = 0, large_buffers: bool = False
) -> dict[str, str]:
    """Return a device's options for a network to be computed in `precision`.

    `block_length`: the numbers in a block of its weights, 0 for no blocks. `large_buffers`: one of
    its tensors is larger than the device's largest buffer. The NPU always computes in half
    precision, and its compiler, which comes with the driver, does not always know the hint; so it
    gets no options.
    """
    if device_id.startswith("npu"):
        return {}
    options = {PRECISION: HINTS[precision]}
    if device_id == "cpu":
        options[ROUNDED_ACTIVATIONS] = str(block_length) if precision in ROUNDING else NONE
    if device_id.startswith("gpu"):
        options |= {EXECUTION_MODE: MODES[precision.dtype], GPU_ATTENTION: ON}
        if large_buffers:
            options[GPU_LARGE_BUFFERS] = ON
    return options
