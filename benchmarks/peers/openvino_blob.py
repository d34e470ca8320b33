"""One network in OpenVINO, compiled from its graph or loaded from a stored blob."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

import mmap
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from backends import hardware
from backends.base import Precision
from backends.intel_openvino import OpenVinoBackend, core
from backends.intel_openvino.model import read_with_weights
from backends.mapped_weights import mapped_weights
from benchmarks import networks
from benchmarks.child import Answer
from engine.weights.working_copies import WorkingCopies

if TYPE_CHECKING:
    import openvino as ov

FRESH, IMPORT, SPEED, SIZE = "fresh compile", "import_model", "OPTIMIZE_SPEED", "OPTIMIZE_SIZE"
WAYS = (FRESH, IMPORT, SPEED, SIZE)
_BLOB = "network.blob"
# The traits of a compiled layer: its kind, kernel, element type and memory layout.
_TRAITS = ("layerType", "primitiveType", "runtimePrecision", "outputLayouts")


class OpenVinoBlob:
    """A network loaded in one of `WAYS`; `folder` holds working copies and stored blobs.

    If nothing is stored yet for that way, the network is first compiled and stored.
    """

    def __init__(
        self, checkpoint: str, network: str, precision: str, way: str, folder: str
    ) -> None:
        self._folder = Path(folder)
        backend = OpenVinoBackend()
        cpu = next(device for device in backend.probe() if device.id == "cpu")
        self._graph = networks.graph(
            networks.network(Path(checkpoint), network),
            backend.operators(cpu),
            Precision(precision),
            WorkingCopies(self._folder / "copies"),
        )
        self._options: dict[str, str] = {"INFERENCE_PRECISION_HINT": precision}
        self._core = core()
        self._private = hardware.private_bytes() or 0
        began, used = perf_counter(), process_time()
        self._compiled = self._load(way)
        self._request = self._compiled.create_infer_request()
        self._load_s, self._load_cpu_s = perf_counter() - began, process_time() - used

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Execute the task "run" with dynamic dimensions of the given `sizes`, or "describe"."""
        if task == "describe":
            return self._describe(options["way"])
        feeds = networks.random_feeds(self._graph, options["sizes"])
        start, cpu = perf_counter(), process_time()
        self._request.infer(feeds, share_inputs=True)
        cpu_s, seconds = process_time() - cpu, perf_counter() - start
        if "save" in options:
            np.save(options["save"], self._request.get_output_tensor(0).data)
        return {"seconds": seconds, "cpu_s": cpu_s}

    def _load(self, way: str) -> "ov.CompiledModel":
        if way == IMPORT:
            return self._imported()
        if way != FRESH:
            cache = self._folder / way
            cache.mkdir(exist_ok=True)
            self._options |= {"CACHE_DIR": str(cache), "CACHE_MODE": way}
        self._weights = mapped_weights(self._graph.weights)
        model = read_with_weights(self._core, self._graph.model, self._weights)
        return self._core.compile_model(model, "CPU", self._options)

    def _imported(self) -> "ov.CompiledModel":
        import openvino as ov

        blob = self._folder / _BLOB
        if not blob.exists():
            blob.write_bytes(self._load(FRESH).export_model().getvalue())
        with blob.open("rb") as file:
            self._stored = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        stored = ov.Tensor(np.frombuffer(self._stored, np.uint8), shared_memory=True)
        return self._core.import_model(stored, "CPU", self._options)

    def _describe(self, way: str) -> Answer:
        runtime = self._compiled.get_runtime_model()
        layers = Counter(
            "|".join(_trait(op.get_rt_info(), name) for name in _TRAITS)
            for op in runtime.get_ordered_ops()
        )
        stored = [self._folder / _BLOB] if way == IMPORT else (self._folder / way).rglob("*.blob")
        return {
            "load_s": self._load_s,
            "load_cpu_s": self._load_cpu_s,
            "private_bytes": (hardware.private_bytes() or 0) - self._private,
            "from_cache": bool(self._compiled.get_property("LOADED_FROM_CACHE")),
            "stored_bytes": sum(file.stat().st_size for file in stored),
            "layers": dict(layers),
        }


def _trait(info: Any, name: str) -> str:
    return str(info[name].astype(str)) if name in info else ""
