"""Every word that a backend says to its runtime, asked of the backend's own code.

Words are names of providers, options and entries of a configuration, and values that are words;
numbers, sizes and folders are not.
"""

# pyright: reportUnknownVariableType=false
# (devices are of the runtime, which ships no complete types)

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import backends
from backends.base import (
    DimensionRange,
    DType,
    Graph,
    MemoryInfo,
    Precision,
    ShapeProfile,
    TensorSpec,
)
from backends.onnx_runtime.provider import Provider
from backends.registry import BACKENDS, find

FOLDER = Path("/the/folder/of/an/artifact")
# No runtime of theirs takes words: null has none, the others are told by calls of typed functions.
WITHOUT = frozenset({"cpu", "null", "nvidia_tensorrt", "torch_device"})
_NO_WORD = re.compile(r"-?[\d.]+%?|\w+:\d+(x\d+)*(,\w+:\d+(x\d+)*)*")
_OURS = Path(backends.__file__).parent


class _AnyDevice:
    """In place of a device that only a card has; words do not depend on it."""


def words_of(provider: Provider) -> set[str]:
    """The words of one provider as it is asked for."""
    said = {provider.name}
    for mapping in (provider.options, provider.config):
        said |= set(mapping) | set(mapping.values())
    return {word for word in said if word != str(FOLDER) and not _NO_WORD.fullmatch(word)}


def _all(providers: Iterable[Provider]) -> set[str]:
    return {word for provider in providers for word in words_of(provider)}


def _coreml() -> set[str]:
    from backends.apple_coreml import provider

    return _all(provider(folder) for folder in (None, FOLDER))


def _directml() -> set[str]:
    from backends.windows_directml import provider

    return words_of(provider(cast("Any", _AnyDevice())))


def _migraphx_built_in() -> set[str]:
    from backends.amd_migraphx import built_in

    return _all(built_in(0, folder) for folder in (None, FOLDER))


def _migraphx_plugged_in() -> set[str]:
    from backends.amd_migraphx import plugged_in

    device = cast("Any", _AnyDevice())
    return _all(plugged_in(device, folder) for folder in (None, FOLDER))


def _windows_ml() -> set[str]:
    """The attributes that our code reads of the objects from the catalog's package."""
    tree = ast.parse((_OURS / "onnx_runtime/windows_ml.py").read_text())
    function = next(
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "_library"
    )
    return {n.attr for n in ast.walk(function) if isinstance(n, ast.Attribute)} - {"lower"}


def _webgpu() -> set[str]:
    module = import_module("backends.webgpu")
    return _all(module.provider(_AnyDevice(), layout) for layout in ("NHWC", "NCHW"))


def _openvino() -> set[str]:
    from backends.intel_openvino import options

    said: set[str] = set()
    for device in ("cpu", "gpu", "gpu.1", "npu"):
        for precision in Precision:
            for large in (False, True):
                told = options.compile_options(device, precision, large_buffers=large)
                said |= set(told) | set(told.values())
    said |= {v for k, v in vars(options).items() if k.isupper() and isinstance(v, str)}
    return {word for word in said if not _NO_WORD.fullmatch(word)}


def _cuda() -> set[str]:
    module = import_module("backends.nvidia_cuda")
    device = module.CudaBackend().probe()[0]
    provider = Provider(module.PROVIDER, module.CudaBackend().provider_options(device))
    return words_of(provider) | set(module.OPTIONS) | {module.GRAPH_ID}


def _tensorrt_rtx() -> set[str]:
    module = import_module("backends.nvidia_tensorrt_rtx")
    shape = TensorSpec("x", DType.F32, ("batch", 4))
    graph = Graph("x", b"", {}, (shape,), (shape,), Precision.F32)
    profile = ShapeProfile({"batch": DimensionRange(1, 2, 4)})
    told = module.provider_options(graph, profile, MemoryInfo(1, 1, integrated=False), FOLDER)
    return words_of(Provider(module.PROVIDER, told)) | set(module.OPTIONS)


def _sessions() -> set[str]:
    """Entries of any session's or run's configuration, wherever the code has them."""
    return {
        word for word in literals() if word.startswith(("session.", "memory.", "optimization."))
    }


def _placement() -> set[str]:
    from backends.onnx_runtime.placement import RECORD

    return {RECORD}


# What says the words, and the backend whose they are; several may be one backend's.
SPEAKERS: Mapping[str, tuple[str, Callable[[], set[str]]]] = {
    "amd_migraphx": ("amd_migraphx", _migraphx_built_in),
    "amd_migraphx plug-in": ("amd_migraphx", _migraphx_plugged_in),
    "apple_coreml": ("apple_coreml", _coreml),
    "intel_openvino": ("intel_openvino", _openvino),
    "nvidia_cuda": ("nvidia_cuda", _cuda),
    "nvidia_tensorrt_rtx": ("nvidia_tensorrt_rtx", _tensorrt_rtx),
    "placement": ("cpu", _placement),
    "sessions": ("cpu", _sessions),
    "webgpu": ("webgpu", _webgpu),
    "windows_directml": ("windows_directml", _directml),
    "windows_ml": ("amd_migraphx", _windows_ml),
}


def speakers() -> dict[str, set[str]]:
    """The words of every speaker whose backend is registered."""
    return {name: said() for name, (backend, said) in SPEAKERS.items() if find(backend) is not None}


def silent() -> set[str]:
    """Backends of the registry that are no speaker's and should be."""
    spoken = {backend for backend, _ in SPEAKERS.values()}
    return {reference.name for reference in BACKENDS} - spoken - WITHOUT


_LIKE_AN_OPTION = re.compile(
    r"(session|ep|memory|optimization)\.[\w.]+"
    r"|(nv|migraphx|cudnn|gpu|arena)_[a-z_]+"
    r"|(ORT|MIGRAPHX|CUDA|OPENVINO|HIP|HSA|GPU|NPU|DML)_[A-Z_]+"
)


def literals() -> Iterator[str]:
    """Whatever in the code of the backends looks like an option, wherever it stands."""
    for path in sorted(_OURS.rglob("*.py")):
        if path.parent.name in ("hardware", "torch_device"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, str) and _LIKE_AN_OPTION.fullmatch(value):
                yield value
