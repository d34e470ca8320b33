"""A network of full width with few blocks on a backend's processor: the memory of one run."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from backends.base import Array, Device, DType, Precision, size_of
from benchmarks.child import Answer
from benchmarks.measure import PrivateMemoryPeak, private_bytes
from benchmarks.peers.devices import backend_named
from engine.cancel import CancelToken
from engine.graphs.live_results import held_results
from engine.heap import LARGE_RESULT, keep_heap_compact
from engine.memory.release import return_free_memory
from tests.graphs.wide_networks import NETWORKS, wide_graph

# A size in pixels and tokens at which the runtime packs all weights, and holds little else.
_SMALL, _FEW_TOKENS = 64, 32
_SAMPLED_S = 0.004
# ONNX Runtime lays a size's results out in its second run.
_RUNS = 2


class WideNetwork:
    """The peer. It answers one task: a runtime keeps what it made for one size."""

    def __init__(self, kind: str, network: str, backend: str, precision: str) -> None:
        keep_heap_compact(LARGE_RESULT)
        made, self._network = backend_named(backend), NETWORKS[kind][network]
        device, self._precision = Device(backend, "cpu", "the processor"), Precision(precision)
        operators, wanted = made.operators(device), self._precision.dtype
        element = wanted if wanted in operators.elements else DType.F32
        self._folder = TemporaryDirectory()
        folder = Path(self._folder.name)
        self._graph = wide_graph(self._network, folder, operators, element, self._precision)
        self._memory = made.working_memory(device)
        self._session = made.load(self._graph, None, device, lambda _: None, CancelToken())
        self._random = np.random.default_rng(0)

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Return the bytes that are held without a run's results ("packed"), or a run's peak.

        That is at a `height` and `width` in pixels, with so many `contexts`.
        """
        start = perf_counter()
        if task == "packed":
            few = min(self._network.tokens, _FEW_TOKENS)
            self._session.run(self._feeds(replace(self._network, tokens=few).sizes(*_LEAST)))
            return_free_memory()
            return {"seconds": perf_counter() - start, "bytes": private_bytes(os.getpid())}
        sizes = self._network.sizes(*(int(options[one]) for one in ("height", "width", "contexts")))
        feeds = self._feeds(sizes)
        return_free_memory()
        with PrivateMemoryPeak(os.getpid(), _SAMPLED_S) as memory:
            for _ in range(_RUNS):
                self._session.run(feeds)
        predicted = self._memory.run_bytes(
            held_results(self._graph, sizes), self._precision.dtype.itemsize
        )
        seconds = perf_counter() - start
        return {"seconds": seconds, "bytes": memory.peak_bytes, "predicted": predicted}

    def _feeds(self, sizes: Mapping[str, int]) -> dict[str, Array]:
        fed = self._network.fed(sizes)
        return fed | {
            spec.name: self._random.standard_normal(
                tuple(size_of(n, sizes) for n in spec.shape), np.float32
            )
            for spec in self._graph.inputs
            if spec.name not in fed and not spec.optional
        }


_LEAST = _SMALL, _SMALL, 1
