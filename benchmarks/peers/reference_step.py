"""A guided step of a denoiser that also attends to a reference picture, in OpenVINO."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import msgspec
import numpy as np

from backends.base import Feed, Precision, Session
from backends.intel_openvino import OpenVinoBackend, core
from backends.intel_openvino.model import read_with_weights
from backends.mapped_weights import mapped_weights
from benchmarks import networks
from benchmarks.child import Answer
from benchmarks.workload import DENOISER, SIZE, feeds
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.families import IdentifiedCheckpoint, identify
from engine.families.network_changes import ATTENDS_ALONE, ReferenceForm, kept_by
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies

PLAIN, REFERENCE = "the plain graph", "with a reference"
# Runs: one whose self-attentions see their own tokens alone, one that also sees the reference's.
ALONE, BESIDE, LAYERS = "alone", "beside", "layers"
_CONTEXTS = 2


class ReferenceStep:
    """The denoiser in one of two ways: plain, or in the two graphs that attend to a reference.

    They hand on what is written in the runtime's memory.
    """

    def __init__(self, checkpoint: str, precision: str, way: str, size: int = SIZE) -> None:
        self._backend = OpenVinoBackend()
        self._device = next(device for device in self._backend.probe() if device.id == "cpu")
        # Weights are converted in memory: an empty folder has no working copy.
        self._folder = TemporaryDirectory()
        self._copies = WorkingCopies(Path(self._folder.name))
        self._precision, self._way = Precision(precision), way
        identified = identify(Path(checkpoint))
        denoiser = identified.architecture.denoiser
        self._networks = _networks(identified, way, size)
        self._sessions = [self._loaded(network) for network in self._networks]
        given = dict(feeds(DENOISER, 1))
        timestep = float(given.pop("timestep")[0])
        self._given: dict[str, Feed] = {**given, **denoiser.timestep_inputs(timestep)}

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run "alone" or "beside" once; or return the number of executed "layers" of each kind.

        The seconds are told, and the processor's: of all, and of the first run (`alone_cpu_s`).
        """
        if task == LAYERS:
            return {"layers": [self._layers(network) for network in self._networks]}
        start, used = perf_counter(), process_time()
        # The network that makes the picture is the last one.
        seen: Mapping[str, Any] = self._sessions[0].run_on_device(self._given)
        alone_cpu_s = process_time() - used
        if task == BESIDE:
            together = {ATTENDS_ALONE: np.zeros((_CONTEXTS, 1, 1), np.float32)}
            seen = self._sessions[-1].run(self._given | together | kept_by(seen))
        cpu_s, seconds = process_time() - used, perf_counter() - start
        if "save" in options:
            found = seen["prediction"]
            np.save(options["save"], found if isinstance(found, np.ndarray) else found.numpy())
        return {"seconds": seconds, "cpu_s": cpu_s, "alone_cpu_s": alone_cpu_s}

    def close(self) -> None:
        """Free the graphs, and the folder of working copies."""
        for session in self._sessions:
            session.close()
        self._folder.cleanup()

    def _loaded(self, network: Network) -> Session:
        return Compiler(self._backend, self._device, self._copies).load(
            network,
            self._precision,
            WeightPlacement.MEMORY,
            lambda _done, _total: None,
            CancelToken(),
        )

    def _layers(self, network: Network) -> dict[str, int]:
        """Compile a network once more, and count what the runtime executes by kind."""
        operators = self._backend.operators(self._device)
        graph = networks.graph(network, operators, self._precision, self._copies)
        weights = mapped_weights(graph.weights)
        model = read_with_weights(core(), graph.model, weights)
        hint = {"INFERENCE_PRECISION_HINT": self._precision.value}
        runtime = core().compile_model(model, "CPU", hint).get_runtime_model()
        kinds = (op.get_rt_info()["layerType"].astype(str) for op in runtime.get_ordered_ops())
        return dict(Counter(str(kind) for kind in kinds))


def _networks(checkpoint: IdentifiedCheckpoint, way: str, size: int) -> list[Network]:
    """Return the denoisers: the plain one, or one that writes and one that reads."""
    denoiser = checkpoint.architecture.denoiser
    if way == PLAIN:
        return [denoiser.network(size, size)]
    layers = denoiser.reference_layers(weight=1.0)
    changes = [
        msgspec.structs.replace(checkpoint.changes, reference=ReferenceForm(layers, writes=writes))
        for writes in (True, False)
    ]
    changed = [checkpoint.with_changes(change) for change in changes]
    return [variant.architecture.denoiser.network(size, size) for variant in changed]
