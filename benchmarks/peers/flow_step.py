"""A step of a flow's transformer from a file: as in a job, or by bare calls of ONNX Runtime."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime as ort

from backends.base import Array, Precision, Session, TensorSpec, size_of
from backends.onnx_runtime.session import add_weights
from backends.onnx_runtime.weights import WeightBuffers
from benchmarks import networks
from benchmarks.child import Answer
from benchmarks.peers.devices import backend_named
from benchmarks.peers.timing import timed
from benchmarks.workload import FLOW_TIMESTEP, FLOW_TOKENS, SIZE
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.families import identify
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies

_CELLS = SIZE // 8


class FlowStep:
    """A transformer in a precision on a backend's device, from a working copy.

    With `bare`, our graph is called directly, in ONNX Runtime's session with its default options.
    """

    def __init__(self, checkpoint: str, backend: str, precision: str, *, bare: bool) -> None:
        made, path, computed_in = backend_named(backend), Path(checkpoint), Precision(precision)
        device = next(device for device in made.probe() if device.usable)
        denoiser = identify(path).architecture.denoiser
        network = denoiser.network(SIZE, SIZE, tokens=FLOW_TOKENS)
        self._folder = tempfile.TemporaryDirectory(dir=path.parent)
        copies = WorkingCopies(Path(self._folder.name))
        given = denoiser.timestep_inputs(FLOW_TIMESTEP) | denoiser.size_inputs(SIZE, SIZE)
        if bare:
            graph = networks.graph(network, made.operators(device), computed_in, copies)
            self._weights, options = WeightBuffers(graph), ort.SessionOptions()
            add_weights(options, self._weights)
            runtime = ort.InferenceSession(self._weights.model, options)
            feeds = _feeds(graph.inputs, given)
            self._run = partial(_first, runtime, feeds)
        else:
            session: Session = Compiler(made, device, copies).load(
                network,
                computed_in,
                WeightPlacement.WORKING_COPY,
                lambda _done, _total: None,
                CancelToken(),
            )
            feeds = _feeds(session.inputs, given)
            self._run = lambda: session.run(feeds)["prediction"]

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run one step; `save` names a file for the prediction."""
        return timed(self._run, options)

    def close(self) -> None:
        """Delete the working copy."""
        self._folder.cleanup()


def _first(runtime: ort.InferenceSession, feeds: dict[str, Array]) -> Array:
    return cast(Array, runtime.run(None, feeds)[0])


def _feeds(inputs: tuple[TensorSpec, ...], given: Mapping[str, Array]) -> dict[str, Array]:
    """Return inputs for one text without padding; what a picture's size gives is `given`."""
    random = np.random.default_rng(0)
    sizes = {"batch": 1, "contexts": 1, "tokens": FLOW_TOKENS, "height": _CELLS, "width": _CELLS}
    feeds: dict[str, Array] = {}
    for spec in inputs:
        if spec.optional:
            continue
        if spec.name in given:
            feeds[spec.name] = given[spec.name]
            continue
        shape = [size_of(side, sizes) for side in spec.shape]
        match spec.name:
            case "is_token" | "is_seen":
                feeds[spec.name] = np.ones(shape, np.float32)
            case "frame":
                feeds[spec.name] = np.full(shape, FLOW_TOKENS + 1, np.int64)
            case _:
                feeds[spec.name] = random.standard_normal(shape, np.float32)
    return feeds
