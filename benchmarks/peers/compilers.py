"""One of our graphs in one compiler on the processor: our backends and cross-vendor compilers.

IREE and TVM read a plain ONNX file: operators of opset 17, weights inside, one size, and shape
arithmetic folded by ONNX Runtime, because both reject or misread dynamic dimensions.
"""
# pyright: basic, reportMissingImports=false
# (most of these are absent from the environment that is type-checked)

import resource
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from backends.base import DType, Graph, OperatorSet, Precision
from benchmarks.child import Answer
from benchmarks.networks import random_feeds
from benchmarks.workload import Array
from engine.cancel import CancelToken
from engine.graphs.unet import UNetBlock, UNetConfig, unet
from engine.graphs.vae import VaeConfig, vae_decoder
from tests.graphs.networks import Emit, graph_in_memory, random_weights

Run = Callable[[Mapping[str, Array]], Array]
REFERENCE = "ONNX Runtime f32"
# The packages of each tool.
PACKAGES: Mapping[str, tuple[str, ...]] = {
    REFERENCE: ("onnxruntime",),
    "OpenVINO f32": ("openvino",),
    "OpenVINO bf16": ("openvino",),
    "torch, eager, f32": ("torch",),
    "torch.compile, inductor, f32": ("torch",),
    "IREE f32": ("iree-base-compiler", "iree-base-runtime"),
    "TVM f32, untuned": ("apache-tvm", "apache-tvm-ffi"),
}
# SD 1.5's first level: residual, transformer (8 heads, a text of 77 x 768), residual.
_BLOCK = UNetConfig(
    in_channels=4,
    out_channels=4,
    context_width=768,
    down=(UNetBlock(320, (), 8, resample=False),),
    mid=UNetBlock(320, (1,), 8, resample=False),
    up=(),
)
_VAE = VaeConfig(latent_channels=4, widths=(128, 256, 512, 512), layers=2)
_NETWORKS: Mapping[str, Emit] = {
    "UNet block": partial(unet, config=_BLOCK, halves_evenly=True),
    "VAE decoder": partial(vae_decoder, config=_VAE),
}
_PLAIN = OperatorSet(opset=17)


def installed(tool: str) -> bool:
    """True if every package of a tool is installed."""
    try:
        return all(version(package) for package in PACKAGES[tool])
    except PackageNotFoundError:
        return False


def installed_bytes(tool: str) -> int:
    """Return the installed bytes of a tool's own packages, without their dependencies."""
    total = 0
    for package in PACKAGES[tool]:
        for file in distribution(package).files or ():
            path = Path(str(file.locate()))
            total += path.stat().st_size if path.is_file() else 0
    return total


class Compiled:
    """A network prepared in one of the tools of `PACKAGES`; constructing it takes one run."""

    def __init__(
        self, tool: str, network: str, sizes: Mapping[str, int], folder: str, limit_s: int
    ) -> None:
        self._tool, self._folder = tool, Path(folder)
        emit = _NETWORKS[network]
        self._weights = random_weights(emit)
        plain = graph_in_memory(emit, self._weights, _PLAIN)
        self._feeds = random_feeds(plain, sizes)
        prepare = _PREPARE[tool]
        file = ""
        if tool.startswith(("IREE", "TVM")):
            file = str(plain_file(plain, sizes, self._folder / f"{network}.onnx"))
        # The limit ends the process, even inside a tool's own code.
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(process_time()) + limit_s, hard))
        start, used = perf_counter(), _processor_s()
        self._run = prepare(emit, self._weights, file)
        self._result = self._run(self._feeds)
        self._ready_s, self._ready_cpu_s = perf_counter() - start, _processor_s() - used
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Execute the task "run", or "describe", which returns the cost of the preparation."""
        if task == "run":
            start, used = perf_counter(), process_time()
            self._run(self._feeds)
            return {"seconds": perf_counter() - start, "cpu_s": process_time() - used}
        np.save(options["save"], self._result.astype(np.float32))
        peaks = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        return {
            "ready_s": self._ready_s,
            "ready_cpu_s": self._ready_cpu_s,
            "peak_bytes": max(resource.getrusage(who).ru_maxrss for who in peaks) * 1024,
            "version": version(PACKAGES[self._tool][0]),
        }


def plain_file(graph: Graph, sizes: Mapping[str, int], path: Path) -> Path:
    """Write the graph as one ONNX file: weights inside, one size, no shape arithmetic."""
    import onnxruntime as ort

    model = onnx.ModelProto.FromString(graph.model)
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            array = graph.weights[tensor.name].array  # pyright: ignore[reportAttributeAccessIssue]
            del tensor.external_data[:]
            tensor.data_location = TensorProto.DEFAULT
            tensor.raw_data = np.ascontiguousarray(array).tobytes()
    for value in model.graph.input:
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param:
                dimension.dim_value = sizes[dimension.dim_param]
    for value in model.graph.output:
        for dimension in value.type.tensor_type.shape.dim:
            dimension.Clear()
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(path)
    ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    onnx.save(onnx.shape_inference.infer_shapes(onnx.load(path)), path)
    return path


def _backend(name: str, precision: Precision, emit: Emit, weights: dict[str, Array], _: str) -> Run:
    """Load the network on one of our backends, with the operator forms that it declares."""
    from backends import registry

    reference = registry.find(name)
    assert reference
    return _loaded(reference.create(), precision, emit, weights)


def _torch(compiled: bool, emit: Emit, weights: dict[str, Array], _: str) -> Run:
    from backends.torch_device import TorchBackend, TorchOptions

    return _loaded(TorchBackend(TorchOptions(compiled=compiled)), Precision.F32, emit, weights)


def _loaded(backend: Any, precision: Precision, emit: Emit, weights: dict[str, Array]) -> Run:
    device = next(device for device in backend.probe() if device.id == "cpu")
    operators = backend.operators(device)
    element = precision.dtype if precision.dtype in operators.elements else DType.F32
    graph = graph_in_memory(emit, weights, operators, element, precision)
    session = backend.load(graph, None, device, lambda _done: None, CancelToken())
    return lambda feeds: session.run(feeds)[graph.outputs[0].name]


def _iree(_emit: Emit, _weights: dict[str, Array], file: str) -> Run:
    """Compile ahead of time for this processor, with all optimisations and cores."""
    import iree.runtime

    mlir, module = Path(file).with_suffix(".mlir"), Path(file).with_suffix(".vmfb")
    target = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
    tuned = ("--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3")
    for command in (
        ("iree-import-onnx", file, "-o", str(mlir)),
        ("iree-compile", str(mlir), *target, *tuned, "-o", str(module)),
    ):
        subprocess.run(command, check=True, capture_output=True)
    loaded = iree.runtime.load_vm_flatbuffer_file(str(module), driver="local-task")
    names = (name for name in loaded.vm_module.function_names if not name.startswith("__"))
    function = loaded[next(name for name in names if "async" not in name)]
    return lambda feeds: np.asarray(function(*feeds.values()).to_host())


def _tvm(_emit: Emit, _weights: dict[str, Array], file: str) -> Run:
    """Compile with TVM's default pipeline.

    Searching for schedules would take hours per network and size.
    """
    import tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx

    module = from_onnx(onnx.load(file), keep_params_in_input=False)
    with tvm.transform.PassContext(opt_level=3):
        built = relax.build(module, tvm.target.Target({"kind": "llvm", "mcpu": _host_cpu()}))
    machine = relax.VirtualMachine(built, tvm.cpu())

    def run(feeds: Mapping[str, Array]) -> Array:
        result = machine["main"](*(tvm.runtime.tensor(array) for array in feeds.values()))
        return (result if hasattr(result, "numpy") else result[0]).numpy()

    return run


def _host_cpu() -> str:
    """Return LLVM's name of this processor, from TVM's own LLVM."""
    import tvm_ffi

    return tvm_ffi.get_global_func("target.llvm_get_system_cpu")() or "generic"


def _processor_s() -> float:
    """Return the processor time of this process and of children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


_PREPARE: Mapping[str, Callable[[Emit, dict[str, Array], str], Run]] = {
    REFERENCE: partial(_backend, "cpu", Precision.F32),
    "OpenVINO f32": partial(_backend, "intel_openvino", Precision.F32),
    "OpenVINO bf16": partial(_backend, "intel_openvino", Precision.BF16),
    "torch, eager, f32": partial(_torch, False),
    "torch.compile, inductor, f32": partial(_torch, True),
    "IREE f32": _iree,
    "TVM f32, untuned": _tvm,
}
