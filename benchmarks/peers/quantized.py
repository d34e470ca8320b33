"""A few blocks of Flux.1 on a backend: the memory for their weights, a step's time, its result."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from backends.base import Array, Precision
from benchmarks.child import Answer
from benchmarks.peers.devices import backend_named
from benchmarks.peers.loaded import held_bytes
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.families import identify
from engine.memory.plan import WeightPlacement
from engine.memory.release import return_free_memory
from engine.weights.rounding import Rounding
from engine.weights.working_copies import WorkingCopies

TOKENS, TIMESTEP = 256, 700.0


class QuantizedStep:
    """The transformer of a file, loaded from a working copy for pictures of `side` pixels.

    Weights that are not in blocks keep so many `bits`: 8 or 4, or 16 for all that they have.
    """

    def __init__(
        self,
        checkpoint: str,
        backend: str,
        precision: str,
        placement: str,
        side: int,
        bits: int = 16,
    ) -> None:
        made = backend_named(backend)
        device = next(device for device in made.probe() if device.usable)
        path = Path(checkpoint)
        denoiser = identify(path).architecture.denoiser
        self._folder = tempfile.TemporaryDirectory(dir=path.parent)
        copies = WorkingCopies(Path(self._folder.name))
        compiler = Compiler(made, device, copies, rounding=Rounding(denoiser=bits))
        network = denoiser.network(side, side, tokens=TOKENS)
        given = network, Precision(precision), WeightPlacement(placement)
        # The first load makes the copy; the second is that of every later start.
        compiler.load(*given, lambda _done, _total: None, CancelToken()).close()
        return_free_memory()
        self._before = held_bytes()[0]
        start, worked = perf_counter(), process_time()
        self._session = compiler.load(*given, lambda _done, _total: None, CancelToken())
        self._seconds, self._worked = perf_counter() - start, process_time() - worked
        self._loaded = held_bytes()[0]
        self._cached = sum(artifact.bytes for artifact in copies.listed())
        inputs = denoiser.timestep_inputs(TIMESTEP, 3.5) | denoiser.size_inputs(side, side)
        self._feeds = {
            spec.name: inputs[spec.name] if spec.name in inputs else _drawn(spec.shape, side // 8)
            for spec in self._session.inputs
            if not spec.optional
        }

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run a step. The result is written to the file `result`, if one is named."""
        start, worked = perf_counter(), process_time()
        found = self._session.run(self._feeds)["prediction"]
        seconds, worked = perf_counter() - start, process_time() - worked
        if options.get("result"):
            np.save(options["result"], found)
        return {
            "seconds": seconds,
            "processor_s": worked,
            "load_s": self._seconds,
            "load_processor_s": self._worked,
            "loaded": self._loaded - self._before,
            "ran": held_bytes()[0] - self._before,
            "cached": self._cached,
        }

    def close(self) -> None:
        """Free the network, and delete its working copy."""
        self._session.close()
        self._folder.cleanup()


def _drawn(shape: tuple[int | str, ...], cells: int) -> Array:
    sizes = {"batch": 1, "contexts": 1, "tokens": TOKENS, "height": cells, "width": cells}
    whole = [sizes[side] if isinstance(side, str) else side for side in shape]
    return np.random.default_rng(3).standard_normal(whole).astype(np.float32)
