"""A linear layer from a GGUF file on a backend, in several precisions: time of a run, and error."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import DType, Precision
from benchmarks.child import Answer
from benchmarks.peers.devices import backend_named
from benchmarks.peers.timing import timed
from benchmarks.sections.parity import relative_error
from engine.cancel import CancelToken
from engine.checkpoints.files import read_index
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.graphs.operators import GraphBuilder
from engine.memory.plan import WeightPlacement
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies

# The first rows of the input, by which the error is found.
_COMPARED = 64


class QuantizedLayer:
    """The layer whose matrix [out, in] is the file's weight "layer.weight", over some tokens."""

    def __init__(
        self, checkpoint: str, backend: str, precisions: Sequence[str], tokens: int
    ) -> None:
        made, path = backend_named(backend), Path(checkpoint)
        device = next(device for device in made.probe() if device.usable)
        weights = WeightSet("content", read_index(path).tensors)
        outputs, inputs = weights["layer.weight"].shape
        self._folder = tempfile.TemporaryDirectory(dir=path.parent)
        compiler = Compiler(made, device, WorkingCopies(Path(self._folder.name)))

        def emit(g: GraphBuilder) -> None:
            x = g.cast(g.input("x", DType.F32, ("tokens", inputs)), g.element)
            y = g.cast(g.linear(x, "layer", (inputs, outputs), bias=False), DType.F32)
            g.output(y, "y", DType.F32, ("tokens", outputs))

        network = Network("layer", emit, weights)
        self._sessions = {
            precision: compiler.load(
                network,
                Precision(precision),
                WeightPlacement.WORKING_COPY,
                lambda _done, _total: None,
                CancelToken(),
            )
            for precision in precisions
        }
        self._x = np.random.default_rng(0).standard_normal((tokens, inputs), np.float32)
        self._expected = self._x[:_COMPARED] @ weights["layer.weight"].read_as(DType.F32).T

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run the layer once in `precision`: its seconds, those of processors, and its error."""
        session = self._sessions[options["precision"]]
        found = np.empty(0, np.float32)

        def run() -> None:
            nonlocal found
            found = session.run({"x": self._x})["y"]

        times = timed(run, {})
        return {**times, "relative_error": relative_error(found[:_COMPARED], self._expected)}

    def close(self) -> None:
        """Free the sessions, and delete their working copies."""
        for session in self._sessions.values():
            session.close()
        self._folder.cleanup()
