"""Decodes latents with a checkpoint's VAE as a job does, whole or in tiles."""

import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Precision
from benchmarks.child import Answer
from benchmarks.peers.devices import backend_named
from benchmarks.peers.timing import timed
from engine import result_checks
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.families import identify
from engine.jobs.reporting import SilentReporter
from engine.memory.plan import MemoryPlan, WeightPlacement
from engine.pipeline.canvas.pictures import read_image
from engine.pipeline.network_pool import NetworkPool
from engine.pipeline.stages import RunContext, Stages
from engine.pipeline.vae.autoencoding import Autoencoder
from engine.pipeline.vae.networks import vae_networks
from engine.weights.working_copies import WorkingCopies


class Decoded:
    """One VAE on one backend."""

    def __init__(self, checkpoint: str, backend: str, precision: str) -> None:
        self._backend, self._precision = backend_named(backend), Precision(precision)
        self._device = next(device for device in self._backend.probe() if device.usable)
        self._checkpoint = identify(Path(checkpoint))
        self._folder = tempfile.TemporaryDirectory()

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Execute the task "decode": a picture of `size` pixels a side.

        It is decoded in tiles of `tile` pixels, or whole if `tile` is None, from the encoded file
        `picture`, else from noise. `save` names a file for the result.
        """
        size = options["size"]
        latent = self._latent(options.get("picture"), size)

        def decode() -> np.ndarray:
            with closing(self._stages()) as stages:
                vae = self._vae(stages, size, options["tile"])
                return vae.decode(latent, result_checks.numbers)

        return timed(decode, options)

    def _latent(self, picture: str | None, size: int) -> np.ndarray:
        form = self._checkpoint.latent
        if picture is None:
            cells = size // form.downscale
            shape = (1, form.channels, cells, cells)
            return np.random.default_rng(0).standard_normal(shape, np.float32)
        with closing(self._stages()) as stages:
            given = read_image(Path(picture), size, size)
            return self._vae(stages, size, None).encode([given])[0].mean

    def _vae(self, stages: Stages, size: int, tile: int | None) -> Autoencoder:
        networks = vae_networks(self._checkpoint, (size, size), tile)
        return Autoencoder(networks, stages, SilentReporter())

    def _stages(self) -> Stages:
        compiler = Compiler(self._backend, self._device, WorkingCopies(Path(self._folder.name)))
        plan = MemoryPlan(WeightPlacement.MEMORY, together=False, peak_bytes=0, budget_bytes=0)
        context = RunContext(SilentReporter(), CancelToken())
        pool = NetworkPool(compiler, plan, context.cancel)
        return Stages(pool, (self._precision,), context)
