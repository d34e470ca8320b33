"""Single operators of the WebGPU provider compared with ONNX Runtime's on the processor.

The adapter is the machine's, or SwiftShader if `make swiftshader` installed it and there is no
other.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingTypeStubs=false, reportAttributeAccessIssue=false
# (the runtime ships no complete types)

from collections.abc import Mapping
from itertools import product

import numpy as np
import onnxruntime as ort
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from backends.base import BackendError
from backends.onnx_runtime.static import quiet_options
from backends.webgpu import OPTIONS, real_devices
from benchmarks.report import Findings, Table
from benchmarks.sections.setting import Setting
from benchmarks.workload import Array
from tests import swiftshader

# Tokens of the query and of the text, and the width of a head.
_ATTENTIONS = (
    *((queries, keys, 16) for queries, keys in ((31, 77), (32, 4), (32, 5), (32, 32), (64, 77))),
    *((64, 77, width) for width in (4, 40, 160, 512)),
)
_CHANNELS = (3, 4, 6, 8, 9, 12, 15, 18)
_LAYOUTS = ("NHWC", "NCHW")
_SIDE, _OUTPUTS = 16, 8


def webgpu(setting: Setting) -> Findings:
    """Measure the error of attention by size, and of 3x3 convolutions by channels and layout."""
    swiftshader.offer()
    try:
        device, *_ = real_devices()
    except (BackendError, ValueError) as error:
        missing = Table("WebGPU", ("", "error"), (("not here", str(error)),))
        return Findings((missing,))
    name = f"{device.ep_metadata.get('version', '')} on {device.device.vendor}"
    attention = Table(
        f"MultiHeadAttention, float32, one head, WebGPU provider {name}",
        ("tokens of the query", "tokens of the text", "width of a head", "relative error"),
        tuple((*map(str, sizes), f"{_attention(device, *sizes):.1e}") for sizes in _ATTENTIONS),
        "Against the same node on ONNX Runtime's processor provider, L2 norm; seeded inputs.",
    )
    convolution = Table(
        f"Conv 3x3, float32, to {_OUTPUTS} channels, {_SIDE}x{_SIDE}",
        ("channels, layout", "relative error"),
        tuple(
            (f"{channels}, {layout}", f"{_convolution(device, channels, layout):.1e}")
            for channels, layout in product(_CHANNELS, _LAYOUTS)
        ),
        "The layout is the provider's option preferredLayout.",
    )
    return Findings((attention, convolution))


def _attention(device: ort.OrtEpDevice, queries: int, keys: int, width: int) -> float:
    node = helper.make_node(
        "MultiHeadAttention", ["q", "k", "v"], ["y"], domain="com.microsoft", num_heads=1
    )
    shapes = {"q": (1, queries, width), "k": (1, keys, width), "v": (1, keys, width)}
    return _error(device, _model(node, shapes, shapes["q"]), shapes, "NHWC")


def _convolution(device: ort.OrtEpDevice, channels: int, layout: str) -> float:
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    shapes = {"x": (1, channels, _SIDE, _SIDE), "w": (_OUTPUTS, channels, 3, 3)}
    return _error(device, _model(node, shapes, (1, _OUTPUTS, _SIDE, _SIDE)), shapes, layout)


def _model(
    node: NodeProto, shapes: Mapping[str, tuple[int, ...]], result: tuple[int, ...]
) -> ModelProto:
    def value(name: str, shape: tuple[int, ...]) -> ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    inputs = [value(*item) for item in shapes.items()]
    graph = helper.make_graph([node], "one node", inputs, [value("y", result)])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def _error(
    device: ort.OrtEpDevice,
    model: ModelProto,
    shapes: Mapping[str, tuple[int, ...]],
    layout: str,
) -> float:
    """Return the provider's error relative to the processor's result."""
    random = np.random.default_rng(0)
    feeds = {name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    if "w" in feeds:  # a layer's weights are constants: the layout changes only where they are
        model.graph.initializer.append(_constant("w", feeds.pop("w")))
        del model.graph.input[1]
    options = quiet_options()
    options.add_provider_for_devices([device], OPTIONS | {"preferredLayout": layout})
    content = model.SerializeToString()
    result = _run(ort.InferenceSession(content, options), feeds)
    expected = _run(ort.InferenceSession(content, providers=["CPUExecutionProvider"]), feeds)
    return float(np.linalg.norm(result - expected) / np.linalg.norm(expected))


def _constant(name: str, array: Array) -> TensorProto:
    return helper.make_tensor(name, TensorProto.FLOAT, array.shape, array.tobytes(), raw=True)


def _run(session: ort.InferenceSession, feeds: Mapping[str, Array]) -> Array:
    (result,) = session.run(None, dict(feeds))
    return np.asarray(result)
