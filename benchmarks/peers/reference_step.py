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

import numpy as np

from backends.base import Feed, Precision, Session
from backends.intel_openvino import OpenVinoBackend, core
from backends.intel_openvino.model import read_with_weights
from backends.mapped_weights import mapped_weights
from benchmarks import networks
from benchmarks.child import Answer
from benchmarks.reference_unet import KEPT, SEEN, reference_network
from benchmarks.workload import DENOISER, SIZE, Array, feeds
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.families import identify
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies

PLAIN, TWO, ONE = "the plain graph", "two graphs", "one graph"
# Runs: one whose self-attentions see their own tokens alone, one that also sees those that it kept.
ALONE, BESIDE, LAYERS = "alone", "beside", "layers"
_WAYS: Mapping[str, tuple[Mapping[str, bool] | None, ...]] = {
    PLAIN: (None,),
    TWO: ({"writes": True, "reads": False}, {"writes": False, "reads": True}),
    ONE: ({"writes": True, "reads": True},),
}


class ReferenceStep:
    """The denoiser in one of three ways: plain; in two graphs; in one that writes and reads.

    Two graphs hand on what is written in the runtime's memory. One graph would overwrite it while
    it reads it, so it is copied.
    """

    def __init__(self, checkpoint: str, precision: str, way: str, size: int = SIZE) -> None:
        self._backend = OpenVinoBackend()
        self._device = next(one for one in self._backend.probe() if one.id == "cpu")
        # Weights are converted in memory: an empty folder has no working copy.
        self._folder = TemporaryDirectory()
        self._copies = WorkingCopies(Path(self._folder.name))
        self._precision, self._way = Precision(precision), way
        identified = identify(Path(checkpoint))
        denoiser = identified.architecture.denoiser
        self._networks = [
            denoiser.network(size, size)
            if form is None
            else reference_network(identified, size, **form)
            for form in _WAYS[way]
        ]
        self._sessions = [self._loaded(network) for network in self._networks]
        given = dict(feeds(DENOISER, 1))
        timestep = float(given.pop("timestep")[0])
        self._given: dict[str, Feed] = {**given, **denoiser.timestep_inputs(timestep)}

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run "alone" or "beside" once; or return the number of executed "layers" of each kind.

        The seconds are told, and the processor's: of all, and of the first run (`alone_cpu_s`).
        """
        if task == LAYERS:
            return {"layers": [self._layers(one) for one in self._networks]}
        start, used = perf_counter(), process_time()
        seen = self._alone()
        alone_cpu_s = process_time() - used
        if task == BESIDE:
            given = {name.replace(SEEN, KEPT): x for name, x in seen.items() if SEEN in name}
            seen = self._sessions[-1].run(self._given | given)
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

    def _alone(self) -> Mapping[str, Feed]:
        """Run the first graph, with nothing kept by an earlier run where it reads."""
        first = self._sessions[0]
        if self._way == TWO:
            return first.run_on_device(self._given)
        return first.run(self._given | _nothing(first, self._given))

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


def _nothing(session: Session, given: Mapping[str, Feed]) -> dict[str, Array]:
    """Return inputs of a reading graph without any token of another run."""
    rows = {"contexts": given["context"].shape[0], "batch": given["sample"].shape[0]}
    return {
        spec.name: np.zeros((rows[str(spec.shape[0])], 0, int(spec.shape[2])), np.float32)
        for spec in session.inputs
        if spec.name.startswith(KEPT)
    }
