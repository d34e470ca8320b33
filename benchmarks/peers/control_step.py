"""A denoiser and a ControlNet of Safelight's, loaded together as in a job."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from backends.base import DeviceValue, Precision, Session
from benchmarks.child import Answer
from benchmarks.peers.devices import backend_named
from benchmarks.workload import CONTROL, CONTROLLED, DENOISER, SIZE, Array, feeds, random_map
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.control.model import control_model
from engine.control.reading import read_control_network
from engine.control.residuals import mask_inputs, residual_inputs
from engine.families import identify
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies


class ControlStep:
    """A step of a denoiser, of a ControlNet, or of both."""

    def __init__(self, checkpoint: str, network: str, backend: str, precision: str) -> None:
        made = backend_named(backend)
        # Weights are converted in memory: an empty folder has no working copy.
        self._folder = tempfile.TemporaryDirectory()
        identified = identify(Path(checkpoint))
        self._compiler = Compiler(made, made.probe()[0], WorkingCopies(Path(self._folder.name)))
        self._precision = Precision(precision)
        model = control_model(read_control_network(Path(network)), identified)
        given = dict(feeds(DENOISER, 1))
        timestep = float(given.pop("timestep")[0])
        self._given = given | identified.architecture.denoiser.timestep_inputs(timestep)
        embeds = model.embedding(SIZE, SIZE)
        assert embeds is not None, "a ControlNet of a UNet embeds maps itself"
        embedding = self._loaded(embeds)
        self._embedded = embedding.run({"map": random_map()})
        embedding.close()
        self._denoiser = self._loaded(identified.architecture.denoiser.network(SIZE, SIZE))
        denoising = model.denoising(SIZE, SIZE)
        assert denoising is not None, "a ControlNet runs at each step"
        self._control = self._loaded(denoising)
        self._embedded |= self._of_residuals(identified.latent.downscale)

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run the denoiser, the ControlNet, or one after the other; `save` names a file."""
        start, residuals = perf_counter(), dict[str, DeviceValue]()
        output: Array | None = None
        if task in (CONTROL, CONTROLLED):
            residuals = self._control.run_on_device(self._given | self._embedded)
        if task in (DENOISER, CONTROLLED):
            output = self._denoiser.run(self._given | residuals)["prediction"]
        seconds = perf_counter() - start
        if "save" in options and output is not None:
            np.save(options["save"], output)
        return {"seconds": seconds}

    def _of_residuals(self, downscale: int) -> dict[str, Array]:
        """Return the inputs by which all residuals act everywhere, with a weight of 1."""
        rows, cells = len(self._given["context"]), SIZE // downscale
        weights = np.ones((rows, len(self._control.outputs)), np.float32)
        masks = mask_inputs(self._control.inputs, (cells, cells))
        return residual_inputs(range(rows), weights) | masks

    def _loaded(self, network: Network) -> Session:
        return self._compiler.load(
            network,
            self._precision,
            WeightPlacement.MEMORY,
            lambda _done, _total: None,
            CancelToken(),
        )
