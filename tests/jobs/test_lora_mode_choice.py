"""New combinations of LoRAs begin beside the layers, and are merged once that saves time."""

import itertools
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Precision, ShapeSupport
from backends.cpu import CpuBackend
from backends.null import Compiling, NullBackend
from engine.api.lora import LoraChoice, LoraMode
from engine.api.lora_rules import DoraRule, LoraRules
from engine.api.second_passes import SecondPass
from engine.api.values import ConventionName, SamplerName, ScheduleName
from engine.checkpoints.files import read_index
from engine.compile.estimates import Estimates, Kind, Work
from engine.compile.refit_failures import RefitFailures
from engine.devices.choice import Candidate
from engine.families import Component, identify
from engine.families.lora_purpose import fit_lora
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.jobs.lora_mode_choice import LoraModeChoice
from engine.lora.file import read_lora
from engine.lora.folder import LoraLookup
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.lora_patches import ActingLora, LoraCombination, combination_of
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import NamedFiles, resolve, resolve_job
from engine.text.lora_blocks import BLOCKS, BlockWeights
from engine.text.lora_strengths import RunLength
from engine.text.lora_tags import LoraUse
from engine.wanted_counts import WantedCounts
from tests.families.flux.test_pictures import write_checkpoint as write_flux
from tests.pipeline.jobs import a_request
from tests.pipeline.lora_files import FileLora
from tests.tiny_checkpoint import DOWNSCALE, SIDE, write_checkpoint

DEVICE = CpuBackend().probe()[0]
CELLS = (SIDE // DOWNSCALE) ** 2
_BESIDE = "denoiser with side branches of rank 16"
_FULL, _RULES = LoraUse("style"), LoraRules()


class Timed:
    """A tiny checkpoint, and what its denoiser was measured to take."""

    def __init__(self, folder: Path) -> None:
        self.path = write_checkpoint(folder / "tiny")
        self.checkpoint = identify(self.path)
        self.estimates = Estimates(None)
        self.refit_failures = RefitFailures()
        self.candidate = Candidate(CpuBackend(), DEVICE)
        self.wanted = WantedCounts(folder / "wanted.json")
        self.numbers = itertools.count()
        self.lora = FileLora(folder / "style.safetensors", self.path)
        self.combination = self.combined(self.lora)

    def combined(
        self, lora: FileLora, use: LoraUse = _FULL, rules: LoraRules = _RULES
    ) -> LoraCombination:
        """A LoRA alone."""
        fitted = fit_lora(read_lora(read_index(lora.path)), self.checkpoint)
        return combination_of([ActingLora(fitted, use, rules)], self.checkpoint)

    def note(self, activity: str, network: str, seconds: float) -> None:
        kind = Kind(activity, network, DEVICE.backend, DEVICE.name, Precision.F32.value)
        weights = self.checkpoint.components[Component.DENOISER].weights.values()
        size = CELLS if activity == "denoise" else 4 * sum(weight.elements for weight in weights)
        self.estimates.note(Work(kind, size), seconds)

    def note_beside(self, seconds: float, times: int = 3) -> None:
        for _ in range(times):
            self.note("denoise", _BESIDE, seconds)

    def prefers_side(
        self,
        steps: int,
        count: int = 1,
        key: str = "",
        sampler: SamplerName = SamplerName.EULER,
    ) -> bool:
        """Ask for a combination; without a key for one that was never wanted."""
        asked = a_request(self.path, steps=steps, sampler=sampler)
        request = resolve(asked, JobCheckpoints(self.checkpoint))
        combination = msgspec.structs.replace(
            self.combination, key=key or f"new {next(self.numbers)}"
        )
        return self.mode_choice(count)(request, RunLength(steps), combination)

    def mode_choice(self, count: int = 1) -> LoraModeChoice:
        return LoraModeChoice(
            self.estimates,
            self.refit_failures,
            self.wanted,
            self.candidate,
            count,
        )


@pytest.fixture
def timed(tmp_path: Path) -> Timed:
    return Timed(tmp_path)


def test_the_first_lora_of_a_device_that_made_nothing_begins_at_once(timed: Timed) -> None:
    assert timed.prefers_side(20, key="first")
    assert not timed.prefers_side(20, key="first")
    wide = FileLora(timed.path.parent / "wide.safetensors", timed.path, rank=64)
    timed.combination = timed.combined(wide)
    assert not timed.prefers_side(20)


def test_the_first_lora_counts_the_loading_of_the_plain_weights(timed: Timed) -> None:
    """Branches of rank 16 cost a twelfth: 20 s of the 240 s that merged weights would take."""
    timed.note("denoise", "denoiser", 6.0)
    wide = FileLora(timed.path.parent / "wide.safetensors", timed.path, rank=48)
    timed.combination = timed.combined(wide)
    assert not timed.prefers_side(20)
    timed.note("load", "denoiser", 30.0)
    assert timed.prefers_side(20)
    timed.note("load", "denoiser with patches", 10.0)
    assert not timed.prefers_side(20)


def test_a_new_combination_begins_at_once_unless_the_job_would_take_much_longer(
    timed: Timed,
) -> None:
    """A step evaluates the denoiser under two contexts, each of which takes a second."""
    timed.note("denoise", "denoiser", 1.0)
    timed.note("load", "denoiser with patches", 4.0)
    timed.note_beside(1.25)
    # 22 steps: 48 s merged, 55 s beside; 24 steps: 52 and 60.
    assert [timed.prefers_side(steps) for steps in (4, 22, 24)] == [True, True, False]
    assert [timed.prefers_side(4, count) for count in (5, 6)] == [True, False]


def test_a_job_is_as_long_as_its_sampler_makes_it(timed: Timed) -> None:
    """Heun evaluates twice in a step, and DPM adaptive as often as it needs, whatever the steps."""
    timed.note("denoise", "denoiser", 1.0)
    timed.note("load", "denoiser with patches", 4.0)
    timed.note_beside(1.25)
    assert [timed.prefers_side(steps, sampler=SamplerName.HEUN) for steps in (11, 13)] == [
        True,
        False,
    ]
    assert not timed.prefers_side(10, sampler=SamplerName.DPM_ADAPTIVE)


def test_a_combination_is_merged_once_it_is_wanted_again_and_merging_pays(timed: Timed) -> None:
    timed.note("denoise", "denoiser", 1.0)
    timed.note("load", "denoiser with patches", 4.0)
    timed.note_beside(1.25)
    assert [timed.prefers_side(10, key="one") for _ in range(3)] == [True, False, False]
    assert timed.prefers_side(10, key="another")
    # Three jobs of a second each are less than loading; with the fourth there are more.
    assert [timed.prefers_side(2, key="few steps") for _ in range(5)] == [True] * 3 + [False] * 2
    timed.wanted = WantedCounts(timed.path.parent / "wanted.json")
    assert not timed.prefers_side(10, key="one")


def test_a_checkpoint_of_a_second_pass_goes_by_its_own_times(timed: Timed) -> None:
    """The first one may be of a family that takes ten times as long."""
    timed.note("denoise", "denoiser", 1.0)
    timed.note("load", "denoiser with patches", 4.0)
    timed.note_beside(1.25)
    assert not timed.prefers_side(24)
    second = replace(timed.checkpoint, network_prefix="second_1_")
    timed.combination = msgspec.structs.replace(timed.combination, checkpoint=second)
    assert timed.prefers_side(24)
    for activity, name, seconds in (
        ("denoise", "second_1_denoiser", 0.1),
        ("load", "second_1_denoiser with patches", 0.1),
        *[("denoise", f"second_1_{_BESIDE}", 0.2)] * 3,
    ):
        timed.note(activity, name, seconds)
    assert not timed.prefers_side(24)


def test_branches_that_were_slow_once_or_twice_are_still_taken(timed: Timed) -> None:
    timed.note("denoise", "denoiser", 1.0)
    timed.note("load", "denoiser with patches", 4.0)
    timed.note_beside(3.0, times=2)
    assert timed.prefers_side(20)
    timed.note_beside(3.0, times=1)
    assert not timed.prefers_side(20)


def test_a_job_that_is_read_again_keeps_its_road(timed: Timed) -> None:
    timed.note("denoise", "denoiser", 1.0)
    timed.note("load", "denoiser with patches", 4.0)
    request = resolve(a_request(timed.path, steps=10), JobCheckpoints(timed.checkpoint))
    prefers_side = timed.mode_choice()
    assert all(prefers_side(request, RunLength(10), timed.combination) for _ in range(3))
    assert not timed.mode_choice()(request, RunLength(30), timed.combination)


def test_branches_are_taken_to_cost_by_their_rank_until_they_are_timed(timed: Timed) -> None:
    timed.note("denoise", "denoiser", 1.0)
    timed.note("load", "denoiser with patches", 4.0)
    # Rank 16 costs a twelfth of 20 s, and rank 48 a quarter.
    assert [timed.prefers_side(10, key="thin") for _ in range(3)] == [True, True, False]
    wide = FileLora(timed.path.parent / "wide.safetensors", timed.path, rank=48)
    timed.combination = timed.combined(wide)
    assert [timed.prefers_side(10, key="wide") for _ in range(2)] == [True, False]


def test_changes_that_cannot_run_beside_or_need_more_memory_there_are_merged(timed: Timed) -> None:
    timed.note("denoise", "denoiser", 1.0)
    timed.note("load", "denoiser with patches", 1000.0)
    assert timed.prefers_side(1)
    timed.combination = msgspec.structs.replace(timed.combination, branches=None)
    assert not timed.prefers_side(1)
    wide = FileLora(timed.path.parent / "wide.safetensors", timed.path, rank=128)
    timed.combination = timed.combined(wide)
    assert timed.combination.branches is not None
    assert not timed.prefers_side(1)


def test_a_combination_is_told_by_all_that_its_weights_depend_on(
    timed: Timed, tmp_path: Path
) -> None:
    other = FileLora(tmp_path / "other.safetensors", timed.path, seed=2)
    plain, blocks = LoraUse("style"), BlockWeights((0.5,) * len(BLOCKS), "half")
    different = (
        timed.combined(timed.lora),
        timed.combined(other),
        timed.combined(timed.lora, msgspec.structs.replace(plain, strengths=(0.9,))),
        timed.combined(timed.lora, msgspec.structs.replace(plain, strengths=(0.9, 1.0))),
        timed.combined(timed.lora, msgspec.structs.replace(plain, blocks=blocks)),
        timed.combined(timed.lora, msgspec.structs.replace(plain, rank=2)),
        timed.combined(timed.lora, rules=LoraRules(dora=DoraRule.TRAINED)),
    )
    assert len({combination.key for combination in different}) == len(different)
    text = msgspec.structs.replace(plain, name="another name", text_strength=0.3)
    assert timed.combined(timed.lora, text).key == different[0].key


def test_changes_that_are_no_products_and_absent_ones_have_no_branches(
    timed: Timed, tmp_path: Path
) -> None:
    assert timed.combination.branches is not None
    whole = with_more(timed, tmp_path, "weight", "diff", (Component.TEXT_ENCODER,))
    assert timed.combined(whole).branches is None
    off = LoraUse("style", strengths=(0.0,))
    assert timed.combined(timed.lora, off).branches is None


def test_changes_of_biases_are_merged_beside_branches_of_one_strength(
    timed: Timed, tmp_path: Path
) -> None:
    mixed = with_more(timed, tmp_path, "bias", "diff_b")
    combined = timed.combined(mixed)
    assert combined.branches is not None
    changing = LoraUse("style", strengths=(0.2, 1.0, 0.6))
    assert timed.combined(mixed, changing).branches is None


def with_more(
    timed: Timed,
    folder: Path,
    tensor: str,
    key: str,
    components: tuple[Component, ...] = (Component.TEXT_ENCODER, Component.DENOISER),
) -> FileLora:
    """A LoRA of some components that also changes a tensor of the UNet as a whole."""
    weights = timed.checkpoint.components[Component.DENOISER].weights
    name = next(name for name in weights if name.endswith(f"proj_in.{tensor}"))
    layer = "lora_unet_" + name.removesuffix(f".{tensor}").replace(".", "_")
    extra = {f"{layer}.{key}": np.ones(weights[name].shape, np.float32)}
    path = folder / "mixed.safetensors"
    return FileLora(path, timed.path, components=components, extra=extra)


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
    checkpoints, files = JobCheckpoints(timed.checkpoint), NamedFiles(loras=lookup)
    job = resolve_job(request, checkpoints, files, timed.mode_choice())
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


def test_a_lora_of_a_second_pass_alone_is_judged_by_that_passes_checkpoint(
    timed: Timed, tmp_path: Path
) -> None:
    """The layers that it changes are of another family than the first checkpoint."""
    flux = write_flux(tmp_path / "flux.safetensors")
    second = SecondPass(
        scale=1, upscaler="lanczos", checkpoint=str(timed.path), prompt="a <lora:style:1>"
    )
    request = a_request(
        flux,
        width=64,
        height=64,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.SIMPLE,
        convention=ConventionName.A1111,
        second_passes=(second,),
    )
    checkpoints, files = load_checkpoints(request), NamedFiles(loras=LoraLookup((tmp_path,)))
    job = read_job(resolve_job(request, checkpoints, files, timed.mode_choice()))
    assert job.first.loras.mode is LoraMode.SIDE
    assert [bool(pass_.checkpoint.patches) for pass_ in job.first.passes] == [False, True]
