"""Devices of a machine that is not here, as the engine would tell of them."""

from engine.api.machine import DeviceInfo, PrecisionFigures

CHOICE = "1.9x faster than CUDA here"


def device(
    backend: str, title: str, name: str, *figures: PrecisionFigures, **changes: object
) -> DeviceInfo:
    given = {
        "backend": backend,
        "title": title,
        "name": name,
        "precisions": tuple(figure.precision for figure in figures),
        "automatic": True,
        "runtime": "",
        "memory_total_bytes": 12 << 30,
        "memory_free_bytes": 11 << 30,
        "figures": figures,
    }
    return DeviceInfo(**(given | changes))  # pyright: ignore[reportArgumentType]


def right(precision: str, milliseconds: float) -> PrecisionFigures:
    return PrecisionFigures(precision=precision, milliseconds=milliseconds, difference=1e-3)


CARD = "NVIDIA GeForce RTX 4070"
CPU = "13th Gen Intel(R) Core(TM) i7-13700K"
WRONG = PrecisionFigures(precision="f16", milliseconds=9.1, problem="it is off by 2.0%")

DEVICES = (
    device("nvidia_tensorrt_rtx", "TensorRT-RTX", CARD, right("f16", 2.1), right("f32", 6.8)),
    device("nvidia_cuda", "CUDA", CARD, right("f16", 4.02), right("f32", 11.3)),
    device("webgpu", "WebGPU", CARD, WRONG, right("f32", 14.9)),
    device("intel_openvino", "OpenVINO", CPU, right("f32", 212.0)),
    device("cpu", "ONNX Runtime", CPU, right("f32", 405.0)),
    device(
        "torch_device", "PyTorch", CARD, right("f16", 5.5), failure="CUDA error: device was removed"
    ),
    device("windows_directml", "DirectML", CARD, unusable="It crashed (0xc0000005)."),
    device("amd_migraphx", "MIGraphX", "", unusable="no AMD graphics card found"),
)
