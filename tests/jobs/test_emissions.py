"""A job emits each network's graph once, however many questions are asked about it."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from backends.base import ShapeSupport
from backends.null import Compiling, NullBackend
from engine.cancel import CancelToken
from engine.compile import prepared
from engine.devices.choice import Candidate, Devices
from engine.graphs.operators import GraphBuilder
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.memory.residency import Residency
from engine.output import Destination
from tests.pipeline.jobs import a_request
from tests.tiny_checkpoint import write_checkpoint


@pytest.fixture
def emissions(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The number of emitted graphs of each name."""
    counted = Counter[str]()

    class CountedBuilder(GraphBuilder):
        def __init__(self, name: str, *given: object) -> None:
            super().__init__(name, *given)  # pyright: ignore[reportArgumentType]
            counted[name] += 1

    monkeypatch.setattr(prepared, "GraphBuilder", CountedBuilder)
    return counted


@pytest.mark.parametrize("compiling", [None, *ShapeSupport])
def test_a_job_emits_each_network_once(
    emissions: Counter[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compiling: ShapeSupport | None,
) -> None:
    backend = NullBackend(
        compiling=Compiling(shapes=compiling, carries_weights=True) if compiling else None
    )

    def candidates(_devices: Devices, _wanted: str, _cancel: CancelToken) -> list[Candidate]:
        return [Candidate(backend, backend.probe()[0])]

    monkeypatch.setattr(Devices, "candidates", candidates)
    runner = JobRunner(JobServices.in_cache(tmp_path / "cache", residency=Residency()))
    request = a_request(write_checkpoint(tmp_path / "checkpoint"), count=2)
    once = {"text_encoder": 1, "denoiser": 1, "vae_decoder": 1}
    for seed in (1, 2):
        emissions.clear()
        saver = PictureSaver(Destination(tmp_path / "out"))
        given = msgspec.structs.replace(request, seed=seed)
        runner.run(given, saver, SilentReporter(), CancelToken())
        assert emissions == once
    runner.close()
