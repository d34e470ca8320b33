"""Names for people of the runtimes that run networks, by their backends' names."""

from collections.abc import Mapping
from types import MappingProxyType

_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "nvidia_tensorrt_rtx": "TensorRT-RTX",
        "nvidia_tensorrt": "TensorRT",
        "nvidia_cuda": "CUDA",
        "amd_migraphx": "MIGraphX",
        "intel_openvino": "OpenVINO",
        "windows_directml": "DirectML",
        "apple_coreml": "CoreML",
        "webgpu": "WebGPU",
        "torch_device": "PyTorch",
        "cpu": "ONNX Runtime",
    }
)


def runtime_title(backend: str) -> str:
    """Return the name of a backend's runtime for people; one without a title has its own name."""
    return _TITLES.get(backend, backend)
