"""Whole jobs with LoRAs: what they load, what they record, and that nothing stays of them."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import Backend
from backends.cpu import CpuBackend
from engine.api.lora import LoraChoice, LoraMode
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName, ErrorCode
from engine.cancel import CancelToken
from engine.compile.estimates import Estimates, Kind, Work
from engine.devices.choice import Candidate, Devices
from engine.errors import EngineError
from engine.families import Component, identify
from engine.jobs.attempts import JobResult
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.memory.residency import Residency
from engine.output import destination
from tests.checkpoints.arrays import write_arrays
from tests.jobs.test_residency import NETWORKS, Bench
from tests.pipeline.jobs import a_request
from tests.pipeline.lora_files import FileLora
from tests.tiny_checkpoint import DOWNSCALE, SIDE, write_checkpoint

Pixels = NDArray[np.uint8]
CELLS = (SIDE // DOWNSCALE) ** 2
MERGE, A1111 = LoraMode.MERGE, ConventionName.A1111
STYLE = LoraChoice(file="style", strength=0.8, text_strength=0.0)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A runner with a folder of LoRAs, on a backend that counts."""
    made = Bench(tmp_path, monkeypatch)
    folder = tmp_path / "models" / "Lora"
    FileLora(folder / "style.safetensors", tmp_path / "one")
    FileLora(folder / "other.safetensors", tmp_path / "one", seed=2)
    services = JobServices.in_cache(
        tmp_path / "cache", models=tmp_path / "models", residency=Residency()
    )
    made.runner = JobRunner(services)
    return made


def test_a_new_strength_loads_only_the_networks_that_it_touches(bench: Bench) -> None:
    assert bench.loaded() == NETWORKS
    assert bench.loaded(loras=(STYLE,), lora_mode=MERGE) == ["denoiser"]
    assert bench.loaded(loras=(STYLE,), lora_mode=MERGE) == []
    stronger = msgspec.structs.replace(STYLE, strength=0.9)
    assert bench.loaded(loras=(stronger,), lora_mode=MERGE) == ["denoiser"]
    text = msgspec.structs.replace(stronger, text_strength=0.1)
    assert bench.loaded(loras=(text,), lora_mode=MERGE) == ["text_encoder"]
    assert bench.loaded(loras=()) == ["denoiser", "text_encoder"]
    off = LoraChoice(file="style", strength=0.0)
    assert bench.loaded(loras=(off,)) == []
    assert sorted(bench.backend.open_now) == NETWORKS


def test_side_branches_load_nothing_for_a_new_strength_or_lora(bench: Bench) -> None:
    bench.run()
    assert bench.loaded(loras=(STYLE,), lora_mode=LoraMode.SIDE) == ["denoiser"]
    for strength, file in ((0.9, "style"), (-1.0, "style"), (0.5, "other")):
        choice = LoraChoice(file=file, strength=strength, text_strength=0.0)
        assert bench.loaded(loras=(choice,), lora_mode=LoraMode.SIDE) == []


def test_a_network_with_branches_steps_aside_for_merged_weights(bench: Bench) -> None:
    side = {"loras": (STYLE,), "lora_mode": LoraMode.SIDE}
    bench.run()
    assert bench.loaded(**side) == ["denoiser"]
    assert bench.loaded(loras=(STYLE,), lora_mode=MERGE) == ["denoiser"]
    assert sorted(bench.backend.open_now) == sorted([*NETWORKS, "denoiser"])
    assert bench.loaded(**side) == []
    assert sorted(bench.backend.open_now) == NETWORKS


def test_a_network_that_stepped_aside_is_freed_where_the_next_job_needs_its_memory(
    bench: Bench,
) -> None:
    side = msgspec.structs.replace(bench.request, loras=(STYLE,), lora_mode=LoraMode.SIDE)
    bench.run(side)
    merged = msgspec.structs.replace(side, lora_mode=MERGE)
    enough = bench.run(merged).plan.peak_bytes
    bench.run(msgspec.structs.replace(merged, memory_limit_bytes=enough + 1))
    assert sorted(bench.backend.open_now) == NETWORKS


def test_text_encoders_beside_which_branches_run_are_not_loaded_for_a_new_strength(
    bench: Bench,
) -> None:
    mode = LoraMode.TEXT_SIDE
    first, second = (LoraChoice(file="style", strength=own) for own in (0.8, 0.9))
    assert bench.loaded(loras=(first,), lora_mode=mode) == NETWORKS
    assert bench.loaded(loras=(second,), lora_mode=mode) == ["denoiser"]


class _Timed(Estimates):
    """A step of a second for each context, and four seconds to load merged weights; no others."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(None)
        device = bench.backend.probe()[0]
        denoiser = identify(Path(bench.request.checkpoint or "")).components[Component.DENOISER]
        elements = sum(weight.elements for weight in denoiser.weights.values())
        for activity, network, size, seconds in (
            ("denoise", "denoiser", CELLS, 1.0),
            *[("denoise", "denoiser with side branches of rank 16", CELLS, 1.25)] * 3,
            ("load", "denoiser with patches", 4 * elements, 4.0),
        ):
            kind = Kind(activity, network, device.backend, device.name, "f32")
            super().note(Work(kind, size), seconds)

    def note(self, work: Work, seconds: float) -> None:
        """Learn nothing from the null backend."""


def test_a_plan_of_memory_does_not_want_its_loras(bench: Bench) -> None:
    bench.runner = JobRunner(
        msgspec.structs.replace(bench.runner.services, estimates=_Timed(bench))
    )
    asked = msgspec.structs.replace(bench.request, loras=(STYLE,), steps=10)
    for _ in range(3):
        bench.runner.outlook(asked)
    modes = [bench.run(asked).images[0].record.request.lora_mode for _ in range(2)]
    assert modes == [LoraMode.SIDE, LoraMode.TEXT_SIDE]


def test_auto_begins_a_new_strength_at_once_and_merges_the_one_that_is_wanted_again(
    bench: Bench,
) -> None:
    services = msgspec.structs.replace(bench.runner.services, estimates=_Timed(bench))
    bench.runner = JobRunner(services)
    bench.run()

    def made(strength: float) -> tuple[list[str], LoraMode]:
        bench.backend.loads.clear()
        choice = msgspec.structs.replace(STYLE, strength=strength)
        result = bench.run(msgspec.structs.replace(bench.request, loras=(choice,), steps=10))
        mode = result.images[0].record.request.lora_mode
        return [name for name, _ in bench.backend.loads], mode

    beside, merged = LoraMode.SIDE, LoraMode.TEXT_SIDE
    assert made(0.8) == (["denoiser"], beside)
    assert [made(strength) for strength in (0.7, 0.6)] == [([], beside)] * 2
    assert made(0.6) == (["denoiser"], merged)
    assert made(0.6) == ([], merged)
    assert made(0.5) == ([], beside)
    assert made(0.8) == (["denoiser"], merged)


def test_the_memory_plan_counts_the_weights_that_are_changed(bench: Bench) -> None:
    plain = bench.run().plan.peak_bytes
    request = msgspec.structs.replace(bench.request, loras=(STYLE,), lora_mode=MERGE)
    with_lora = bench.run(request).plan.peak_bytes
    assert with_lora > plain
    # Of pictures with different LoRAs those that take most count, wherever they come.
    prompts = {"prompt": "a {bird|<lora:style:0.8>bird}", "lora_mode": MERGE}
    for seed in range(2):
        several = msgspec.structs.replace(
            bench.request, **prompts, convention=A1111, count=8, seed=seed
        )
        result = bench.run(several)
        assert {len(image.record.loras) for image in result.images} == {0, 1}
        assert result.plan.peak_bytes > with_lora


def test_a_lora_for_another_family_is_refused_before_anything_is_loaded(
    bench: Bench, tmp_path: Path
) -> None:
    names = (
        f"lora_unet_double_blocks_{place}_img_attn_qkv.lora_{part}.weight"
        for place in range(3)
        for part in ("up", "down")
    )
    arrays = {name: np.ones((4, 4), np.float32) for name in names}
    write_arrays(tmp_path / "models" / "Lora" / "flux.safetensors", arrays)
    for changes in ({"loras": (LoraChoice(file="flux"),)}, {"prompt": "a <lora:flux:1>"}):
        convention = {"convention": ConventionName.A1111}
        request = msgspec.structs.replace(bench.request, **changes, **convention)
        with pytest.raises(EngineError) as caught:
            bench.run(request)
        assert caught.value.code is ErrorCode.LORA_MISMATCH
    assert bench.backend.loads == []


class Studio:
    """A runner on the processor, or another only backend, and the picture of each job."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, only: Backend | None = None
    ) -> None:
        backend = only or CpuBackend()

        def candidates(_devices: Devices, _wanted: str, _cancel: CancelToken) -> list[Candidate]:
            return [Candidate(backend, backend.probe()[0])]

        monkeypatch.setattr(Devices, "candidates", candidates)
        checkpoint = write_checkpoint(folder / "one")
        self.request = a_request(checkpoint, convention=ConventionName.A1111, steps=2)
        FileLora(folder / "models" / "Lora" / "style.safetensors", checkpoint)
        self.out, self.folder = folder / "out", folder
        self.runner = self.restarted()

    def restarted(self) -> JobRunner:
        return JobRunner(
            JobServices.in_cache(
                self.folder / "cache", models=self.folder / "models", residency=Residency()
            )
        )

    def run(self, request: GenerateRequest) -> tuple[JobResult, Pixels]:
        saver = PictureSaver(destination(str(self.out / ""), 1))
        result = self.runner.run(request, saver, SilentReporter(), CancelToken())
        return result, np.asarray(Image.open(result.images[0].path))


def test_nothing_of_a_lora_stays_for_the_next_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = Studio(tmp_path, monkeypatch)
    _, before = studio.run(studio.request)
    found: list[Pixels] = []
    for mode in (LoraMode.MERGE, LoraMode.SIDE):
        asked = msgspec.structs.replace(studio.request, loras=(STYLE,), lora_mode=mode)
        result, pixels = studio.run(asked)
        found.append(pixels)
        (report,) = result.images[0].record.loras
        assert report.path == str(tmp_path / "models" / "Lora" / "style.safetensors")
        assert report.applied_keys == report.total_keys > 0
        assert (result.images[0].record.request.loras[0].file, report.strength) == (
            report.path,
            0.8,
        )
        _, after = studio.run(studio.request)
        np.testing.assert_array_equal(before, after)
        assert result.images[0].record.request.lora_mode is mode
    assert np.abs(found[0].astype(int) - found[1].astype(int)).max() <= 1
    assert np.abs(found[0].astype(int) - before.astype(int)).max() > 20
    # A record makes the picture again, also from merged weights that the cache keeps.
    for _ in range(2):
        studio.runner.close()
        studio.runner = studio.restarted()
        asked = msgspec.structs.replace(studio.request, loras=(STYLE,), lora_mode=LoraMode.MERGE)
        np.testing.assert_array_equal(studio.run(asked)[1], found[0])


def test_a_lora_that_was_deleted_while_the_job_waited_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = Studio(tmp_path, monkeypatch)
    path = tmp_path / "models" / "Lora" / "style.safetensors"
    path.unlink()
    choice = LoraChoice(file=str(path), hash="00" * 32)
    result, _ = studio.run(msgspec.structs.replace(studio.request, loras=(choice,)))
    (warning,) = result.warnings
    assert "style" in warning.message
    assert str(choice.hash) in warning.hint
