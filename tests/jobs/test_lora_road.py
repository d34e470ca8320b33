"""LoRAs are merged, unless a short run was measured to be quicker with side branches."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Precision, ShapeSupport
from backends.cpu import CpuBackend
from backends.null import Compiling, NullBackend
from engine.api.lora import LoraChoice, LoraMode
from engine.api.values import ConventionName
from engine.compile.estimates import Estimates, Kind, Work
from engine.compile.refit_failures import RefitFailures
from engine.devices.choice import Candidate
from engine.families import Component, identify
from engine.jobs.lora_road import LoraRoad
from engine.lora.folder import LoraLookup
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import NamedFiles, resolve, resolve_job
from engine.text.lora_strengths import RunLength
from tests.pipeline.jobs import a_request
from tests.pipeline.lora_files import FileLora
from tests.tiny_checkpoint import DOWNSCALE, SIDE, write_checkpoint

DEVICE = CpuBackend().probe()[0]
CELLS = (SIDE // DOWNSCALE) ** 2


class Timed:
    """A tiny checkpoint, and what its denoiser was measured to take."""

    def __init__(self, folder: Path) -> None:
        self.path = write_checkpoint(folder / "tiny")
        self.checkpoint = identify(self.path)
        self.estimates = Estimates(None)
        self.refit_failures = RefitFailures()
        self.candidate = Candidate(CpuBackend(), DEVICE)

    def note(self, activity: str, network: str, seconds: float) -> None:
        kind = Kind(activity, network, DEVICE.backend, DEVICE.name, Precision.F32.value)
        weights = self.checkpoint.components[Component.DENOISER].weights.values()
        size = CELLS if activity == "denoise" else 4 * sum(one.elements for one in weights)
        self.estimates.note(Work(kind, size), seconds)

    def prefers_side(self, steps: int, count: int = 1) -> bool:
        request = resolve(a_request(self.path, steps=steps), self.checkpoint)
        return self.road(count)(request, RunLength(steps))

    def road(self, count: int = 1) -> LoraRoad:
        return LoraRoad(self.estimates, self.refit_failures, self.candidate, self.checkpoint, count)


@pytest.fixture
def timed(tmp_path: Path) -> Timed:
    return Timed(tmp_path)


def test_loras_are_merged_until_both_roads_are_timed(timed: Timed) -> None:
    assert not timed.prefers_side(1)
    timed.note("denoise", "denoiser", 1.0)
    assert not timed.prefers_side(1)
    timed.note("load", "denoiser with patches", 4.0)
    assert timed.prefers_side(1)


def test_the_number_of_steps_decides(timed: Timed) -> None:
    """A step evaluates the denoiser under two contexts, each of which takes a second."""
    timed.note("denoise", "denoiser", 1.0)
    timed.note("load", "denoiser with patches", 4.0)
    # A quarter more is assumed for side branches.
    assert [timed.prefers_side(steps) for steps in (4, 7, 8, 20)] == [True, True, False, False]
    assert not timed.prefers_side(4, count=2)
    timed.note("denoise", "denoiser with side branches", 1.1)
    assert [timed.prefers_side(steps) for steps in (8, 19, 21)] == [True, True, False]


@pytest.mark.parametrize(
    ("carries", "refits", "side"),
    [(True, False, True), (True, True, False), (False, False, False)],
)
def test_a_compiled_network_is_not_made_for_each_strength(
    timed: Timed, carries: bool, refits: bool, side: bool
) -> None:
    how = Compiling(ShapeSupport.RANGES, carries_weights=carries, refits=refits)
    backend = NullBackend(compiling=how)
    timed.candidate = Candidate(backend, backend.probe()[0])
    assert timed.prefers_side(50) == side
    timed.refit_failures.note(DEVICE)
    assert timed.prefers_side(50) == side
    timed.refit_failures.note(timed.candidate.device)
    assert timed.prefers_side(50) == carries


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (LoraMode.AUTO, LoraMode.SIDE),
        (LoraMode.MERGE, LoraMode.MERGE),
        (LoraMode.SIDE, LoraMode.SIDE),
        (LoraMode.TEXT_SIDE, LoraMode.TEXT_SIDE),
    ],
)
def test_the_choice_is_recorded_and_a_forced_mode_stays(
    timed: Timed, tmp_path: Path, asked: LoraMode, expected: LoraMode
) -> None:
    lora = FileLora(tmp_path / "style.safetensors", timed.path)
    timed.note("denoise", "denoiser", 1.0)
    timed.note("load", "denoiser with patches", 1000.0)
    request = a_request(timed.path, convention=ConventionName.A1111, lora_mode=asked)
    request = msgspec.structs.replace(request, loras=(LoraChoice(file=str(lora.path)),))
    lookup = LoraLookup(())
    job = resolve_job(request, timed.checkpoint, NamedFiles(loras=lookup), timed.road())
    group = read_job(job).first
    assert group.loras.mode is expected
    patches = group.passes[0].checkpoint.patches[Component.DENOISER]
    assert (patches.branches is not None) == (expected is LoraMode.SIDE)
    assert bool(patches.merged) == (expected is not LoraMode.SIDE)
    texts = group.passes[0].checkpoint.patches[Component.TEXT_ENCODER]
    assert (texts.branches is None) == bool(texts.merged) == (expected is LoraMode.MERGE)
    strengths = group.passes[0].loras.strengths
    if strengths is not None:
        np.testing.assert_array_equal(strengths(0), (1.0,))
