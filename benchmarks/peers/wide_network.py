"""Networks of full width with few blocks on a backend's processor: the memory of one run."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from backends.base import Array, Device, DType, Feed, Graph, Precision, size_of
from benchmarks.child import Answer
from benchmarks.measure import PrivateMemoryPeak, private_bytes
from benchmarks.peers.devices import backend_named
from engine.cancel import CancelToken
from engine.families.network_changes import kept_by
from engine.graphs.live_results import held_results
from engine.heap import LARGE_RESULT, keep_heap_compact
from engine.memory.release import return_free_memory
from tests.graphs.wide_jobs import WIDE
from tests.graphs.wide_networks import WideNetwork as Wide
from tests.graphs.wide_networks import wide_graph

# A size in pixels and tokens at which the runtime packs all weights, and holds little else.
_SMALL, _FEW_TOKENS = 64, 32
_SAMPLED_S = 0.004
# ONNX Runtime lays a size's results out in its second run.
_RUNS = 2


class WideNetwork:
    """The peer. It answers one task: a runtime keeps what it made for one size.

    Networks that run before the network are loaded with it.
    """

    def __init__(self, kind: str, network: str, backend: str, precision: str) -> None:
        keep_heap_compact(LARGE_RESULT)
        runtime, self._precision = backend_named(backend), Precision(precision)
        whole = WIDE[kind][network]
        self._networks = *whole.before, whole
        device = Device(backend, "cpu", "the processor")
        operators, wanted = runtime.operators(device), self._precision.dtype
        element = wanted if wanted in operators.elements else DType.F32
        self._folder = TemporaryDirectory()
        self._graphs: list[Graph] = []
        for number, wide in enumerate(self._networks):
            folder = Path(self._folder.name, str(number))
            folder.mkdir()
            self._graphs.append(wide_graph(wide, folder, operators, element, self._precision))
        self._memory = runtime.working_memory(device)
        self._sessions = [
            runtime.load(graph, None, device, lambda _: None, CancelToken())
            for graph in self._graphs
        ]
        self._random = np.random.default_rng(0)

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Return the bytes that are held without a run's results ("packed"), or a run's peak.

        Both are with so many `contexts`, of which some matrices are packed for one only if it is
        alone; a run is at a `height` and `width` in pixels.
        """
        start, contexts = perf_counter(), int(options["contexts"])
        if task == "packed":
            self._run(_SMALL, _SMALL, contexts, few=True)
            return_free_memory()
            return {"seconds": perf_counter() - start, "bytes": private_bytes(os.getpid())}
        size = int(options["height"]), int(options["width"]), contexts
        return_free_memory()
        with PrivateMemoryPeak(os.getpid(), _SAMPLED_S) as memory:
            left = dict[str, Array]()  # of one run, as whoever asks for it holds that
            for _ in range(_RUNS):
                left.clear()
                left |= self._run(*size)
        itemsize = self._precision.dtype.itemsize
        predicted = self._memory.runs_bytes(
            [
                (
                    held_results(graph, network.sizes(*size), simulates=self._memory.simulates),
                    itemsize,
                )
                for network, graph in zip(self._networks, self._graphs, strict=True)
            ]
        )
        seconds = perf_counter() - start
        return {"seconds": seconds, "bytes": memory.peak_bytes, "predicted": predicted}

    def _run(
        self, height: int, width: int, contexts: int, *, few: bool = False
    ) -> dict[str, Array]:
        """Return the last network's results of a run of all, with what those before make."""
        made, left = dict[str, Feed](), dict[str, Array]()
        for network, graph, session in zip(
            self._networks, self._graphs, self._sessions, strict=True
        ):
            shown = replace(network, tokens=min(network.tokens, _FEW_TOKENS)) if few else network
            feeds = self._feeds(shown, graph, shown.sizes(height, width, contexts))
            feeds |= {name: made[name] for name in made.keys() & {i.name for i in graph.inputs}}
            if network is self._networks[-1]:
                left = session.run(feeds)
            else:
                written = session.run_on_device(feeds)
                made |= written | kept_by(written)
        return left

    def _feeds(self, network: Wide, graph: Graph, sizes: Mapping[str, int]) -> dict[str, Feed]:
        fed = network.fed(sizes)
        drawn: dict[str, Feed] = {
            spec.name: self._random.standard_normal(
                tuple(size_of(n, sizes) for n in spec.shape), np.float32
            )
            for spec in graph.inputs
            if spec.name not in fed and not spec.optional
        }
        return drawn | fed
