"""An upscaler's file on one backend: the bare network over the whole picture, or in our tiles."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter
from typing import Any

import numpy as np

from backends.base import Precision
from benchmarks.child import Answer
from benchmarks.peers.devices import backend_named
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.graphs.operators import GraphBuilder
from engine.memory.plan import WeightPlacement
from engine.upscalers.network import Emit
from engine.upscalers.reading import read_upscaler
from engine.upscalers.running import Setting, UpscalerRun, peak_on, tiles_on
from engine.upscalers.tiles import Floats
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies


class Upscaler:
    """The peer. Its answers have the seconds of a run, and the bytes that were predicted."""

    def __init__(self, file: str, backend: str) -> None:
        self._upscaler = read_upscaler(Path(file))
        made = backend_named(backend)
        copies = WorkingCopies(Path(mkdtemp()))
        self._compiler = Compiler(made, made.probe()[0], copies)
        self._token = CancelToken()

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Enlarge noise of a `side`: "bare", or in "tiles"."""
        side = int(options["side"])
        planes = np.random.default_rng(0).random((3, side, side), np.float32)
        enlarge = self._bare(side) if task == "bare" else self._in_tiles()
        start = perf_counter()
        enlarge(planes)
        seconds = perf_counter() - start
        network = self._upscaler.network
        plan = tiles_on(network, self._compiler, None)
        predicted = peak_on(network, self._compiler, plan, planes.shape)
        return {"seconds": seconds, "predicted": predicted}

    def _in_tiles(self) -> Callable[[Floats], Floats]:
        run = UpscalerRun(
            self._upscaler, Setting(self._compiler, self._token, lambda _done, _total: None)
        )
        run.load()
        return run.enlarge

    def _bare(self, side: int) -> Callable[[Floats], Floats]:
        upscaler, sides = self._upscaler, offered(side, side, side)
        network = Network(
            "bare upscaler",
            partial(_of_one_size, upscaler.network.emit),
            WeightSet(upscaler.digest, upscaler.network.weights),
            {"height": sides, "width": sides},
        )
        session = self._compiler.load(
            network, Precision.F32, WeightPlacement.MEMORY, lambda _done, _total: None, self._token
        )

        def enlarge(planes: Floats) -> Floats:
            (result,) = session.run({"image": planes[None]}).values()
            return result[0]

        return enlarge


def _of_one_size(emit: Emit, g: GraphBuilder) -> None:
    g.one_size = True
    emit(g)
