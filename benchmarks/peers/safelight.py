"""Safelight's own networks, prepared by the engine's compiler as in a job."""

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from backends.base import Precision, Session
from benchmarks.child import Answer
from benchmarks.peers.devices import backend_named
from benchmarks.peers.timing import timed
from benchmarks.workload import DECODER, DENOISER, SIZE, TEXT, feeds
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.families import Component, identify
from engine.families.shared.clip.text_encoding import clip_text_of
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies


class Safelight:
    """One checkpoint on one backend; one network is loaded at a time, as for a single picture."""

    def __init__(self, checkpoint: str, backend: str, precision: str) -> None:
        made = backend_named(backend)
        self._checkpoint = identify(Path(checkpoint))
        self._precision = Precision(precision)
        # Weights are converted in memory: an empty folder has no working copy.
        self._folder = tempfile.TemporaryDirectory()
        copies = WorkingCopies(Path(self._folder.name))
        self._compiler = Compiler(made, made.probe()[0], copies)
        self._session: Session | None = None
        self._loaded = ""

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Run a component once on the input of `pictures` pictures.

        The component is prepared first if it is not loaded, or if `fresh` is set. `save` names a
        file for its output.
        """
        prepare_s = self._prepare(task, fresh=options.get("fresh", False))
        assert self._session
        given = dict(feeds(task, options.get("pictures", 1)))
        if task == DENOISER:
            timestep = float(given.pop("timestep")[0])
            given |= self._checkpoint.architecture.denoiser.timestep_inputs(timestep)
        run = partial(self._session.run, given)
        return {
            **timed(run, options, lambda made: next(iter(made.values()))),
            "prepare_s": prepare_s,
        }

    def _prepare(self, component: str, *, fresh: bool) -> float:
        """Load the component into `_session`; return the seconds this took."""
        if self._loaded == component and not fresh:
            return 0.0
        start = perf_counter()
        if self._session:
            self._session.close()
        self._session = self._compiler.load(
            self._network(component),
            self._precision,
            WeightPlacement.MEMORY,
            lambda done, total: None,
            CancelToken(),
        )
        self._loaded = component
        return perf_counter() - start

    def _network(self, component: str) -> Network:
        if component == TEXT:
            return clip_text_of(self._checkpoint).network(Component.TEXT_ENCODER, 1)
        if component == DENOISER:
            return self._checkpoint.architecture.denoiser.network(SIZE, SIZE)
        assert component == DECODER
        return self._checkpoint.architecture.autoencoder.decoder()
