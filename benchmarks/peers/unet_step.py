"""Safelight's UNet alone, emitted with a chosen set of operators, on a graphics processor."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Backend, Precision, Session
from backends.nvidia_cuda import CudaBackend, CudaOptions
from backends.torch_device import TorchBackend, TorchOptions
from benchmarks.ablation_steps import STEPS
from benchmarks.child import Answer
from benchmarks.peers.devices import backend_named
from benchmarks.peers.timing import timed
from benchmarks.workload import SIZE, Array
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.families import identify
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies

_TOKENS = 77


class UnetStep:
    """Repeated guided evaluations of the denoiser, with the context kept on the device.

    `step` is a key of `ablation_steps.STEPS`, for `nvidia_cuda`; `options` are the text options of
    that backend or of `torch_device`.
    """

    def __init__(
        self,
        checkpoint: str,
        backend: str,
        precision: str,
        *,
        step: str = "",
        options: str = "",
        size: int = SIZE,
    ) -> None:
        self._backend = _made(backend, step, options)
        self._device = next(d for d in self._backend.probe() if d.usable)
        found = identify(Path(checkpoint))
        self._told = found.architecture.denoiser.timestep_inputs(500.0)
        self._size = size
        # The folder does not exist, so no working copy is found.
        copies = WorkingCopies(Path(checkpoint).parent / "no working copies")
        compiler = Compiler(self._backend, self._device, copies)
        self._free = self._backend.memory(self._device).free
        self._session: Session = compiler.load(
            found.architecture.denoiser.network(size, size),
            Precision(precision),
            WeightPlacement.MEMORY,
            lambda done, total: None,
            CancelToken(),
        )
        self._pictures = 0

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run one "step" of `pictures` pictures, or return the "memory" used since the start."""
        if task == "memory":
            return {"bytes": self._free - self._backend.memory(self._device).free}
        feeds = self._feeds(options["pictures"])
        return timed(lambda: next(iter(self._session.run(feeds).values())), options)

    def _feeds(self, pictures: int) -> dict[str, Array]:
        """Return the inputs that change in each step; others are pinned per number of pictures."""
        random, cells = np.random.default_rng(0), self._size // 8
        shapes = {spec.name: spec.shape for spec in self._session.inputs}
        channels, width = int(shapes["sample"][1]), int(shapes["context"][2])
        sample = random.standard_normal((pictures, channels, cells, cells), np.float32)
        if pictures != self._pictures:
            self._pictures = pictures
            context = random.standard_normal((2 * pictures, _TOKENS, width), np.float32)
            self._session.pin("context", context)
        return {"sample": sample, **self._told}


def _made(backend: str, step: str, options: str) -> Backend:
    if backend == "nvidia_cuda":
        return CudaBackend(CudaOptions.named(options), STEPS[step])
    if backend == "torch_device":
        return TorchBackend(TorchOptions.named(options))
    return backend_named(backend)
