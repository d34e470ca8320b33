"""A checkpoint's network loaded on a backend, and the memory this process holds for it."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from backends.base import Precision, Session, size_of
from benchmarks.child import Answer
from benchmarks.peers.devices import backend_named
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.families import Component, IdentifiedCheckpoint, identify
from engine.families.shared.clip.text_encoding import clip_text_of
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies

_TOKENS = 77


class Loaded:
    """One network, loaded and run once at the smallest size when it is constructed."""

    def __init__(
        self, checkpoint: str, component: str, backend: str, precision: str, placement: str
    ) -> None:
        made = backend_named(backend)
        device = next(device for device in made.probe() if device.usable)
        network = _network(identify(Path(checkpoint)), Component(component))
        self._folder = tempfile.TemporaryDirectory(dir=Path(checkpoint).parent)
        compiler = Compiler(made, device, WorkingCopies(Path(self._folder.name)))
        given = network, Precision(precision), WeightPlacement(placement)
        before = held_bytes()
        start = perf_counter()
        session = compiler.load(*given, lambda _done, _total: None, CancelToken())
        self._seconds, loaded = perf_counter() - start, held_bytes()
        session.run(_feeds(session))
        ran = held_bytes()
        cached = WorkingCopies(Path(self._folder.name)).listed()
        self._memory = {
            "stored": sum(
                weight.dtype.bytes_of(weight.elements) for weight in network.weights.values()
            ),
            "load_private": loaded[0] - before[0],
            "run_private": ran[0] - before[0],
            "mapped": ran[1] - before[1],
            "cached": sum(artifact.bytes for artifact in cached),
        }

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Return the seconds of the load, and the process's memory in bytes."""
        return {"seconds": self._seconds, **self._memory}


def _network(checkpoint: IdentifiedCheckpoint, component: Component) -> Network:
    match component:
        case Component.DENOISER:
            return checkpoint.architecture.denoiser.network(64, 64)
        case Component.VAE:
            return checkpoint.architecture.autoencoder.decoder(64, 64)
        case _:
            return clip_text_of(checkpoint).network(component, 1)


def _feeds(session: Session) -> dict[str, np.ndarray]:
    sizes = {"batch": 1, "contexts": 2, "tokens": _TOKENS, "height": 8, "width": 8}
    feeds: dict[str, np.ndarray] = {}
    for spec in session.inputs:
        if not spec.optional:
            shape = [size_of(side, sizes) for side in spec.shape]
            feeds[spec.name] = np.ones(shape, spec.dtype.numpy)
    return feeds


def held_bytes() -> tuple[int, int]:
    """Return private and mapped resident bytes of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Rss")}
    return int(fields["RssAnon"]) * 1024, int(fields["RssFile"]) * 1024
