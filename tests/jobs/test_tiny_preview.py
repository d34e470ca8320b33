"""Previews by a tiny VAE: real pictures, for a small share of the steps' time, or not at all."""

import json
import os
from concurrent.futures import wait
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from backends.base import Array, DeviceValue, Feeds, Session, TensorSpec, host_array, host_values
from engine.api.request import ComponentFiles
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, SamplerName
from engine.cancel import CancelToken
from engine.compile.network import Network
from engine.errors import EngineError
from engine.families.architecture import TinyDecoder
from engine.families.latents import LatentFormat
from engine.families.shared.stable_diffusion.latent_spaces import SD
from engine.families.tiny_files import TinyFiles
from engine.folders import entries_of as list_entries
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.jobs.tiny_preview import (
    MOST_STEPS,
    PREVIEW_BYTES,
    SHARE,
    Previewing,
    TinyPreview,
    picture,
)
from engine.output import destination
from engine.weights.weight_set import WeightSet
from tests.families.flux2.test_pictures import write_with_published_latents
from tests.families.tiny_vaes import CONFIG_2, write_diffusers, write_original
from tests.pipeline.jobs import a_request
from tests.tiny_checkpoint import SIDE, write_checkpoint

LATENT = np.zeros((1, 4, 8, 8), np.float32)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Decoder:
    """Takes `seconds` of the clock for a picture; `hold` makes it wait."""

    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.clock, self.seconds, self.closed = clock, seconds, False
        self.sizes: list[tuple[int, ...]] = []
        self.seen: list[Array] = []

    def run(self, feeds: Feeds) -> dict[str, Array]:
        self.clock.now += self.seconds
        latent = host_array(feeds["latent"])
        self.sizes.append(latent.shape)
        self.seen.append(latent)
        return {"image": np.zeros((1, 3, *latent.shape[2:]), np.float32)}

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        return host_values(self.outputs, self.run(feeds))

    def pin(self, name: str, array: Array) -> None:
        raise AssertionError(name)

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


class Bench:
    """Offers steps of a length and waits for each picture."""

    def __init__(self, seconds: float) -> None:
        self.clock, self.shown = Clock(), list[int]()
        self.decoder = Decoder(self.clock, seconds)
        self.previews = TinyPreview(self._load, self._show, self.clock)

    def steps(self, count: int, seconds: float) -> list[bool]:
        answers: list[bool] = []
        for step in range(1, count + 1):
            answers.append(self.previews.offer(step, LATENT))
            self._settle()
            self.clock.now += seconds
        return answers

    def _settle(self) -> None:
        running = self.previews._running  # pyright: ignore[reportPrivateUsage]
        if running is not None:
            running.result(timeout=60)

    def _load(self) -> Session:
        return self.decoder

    def _show(self, step: int, pixels: NDArray[np.uint8]) -> None:
        assert pixels.dtype == np.uint8
        self.shown.append(step)


def test_previews_take_a_small_share_of_the_steps_time() -> None:
    bench = Bench(seconds=0.1)
    answers = bench.steps(60, seconds=1.0)
    bench.previews.close()
    assert bench.shown[0] == 1
    assert len(bench.shown) >= 10
    spent = 0.1 * (len(bench.shown) - 1)
    assert spent <= SHARE * bench.clock.now
    # Linear ones until the first is there, and never again.
    assert all(answers[1:])
    assert bench.decoder.closed


def test_slow_previews_stop_after_the_first() -> None:
    seconds = 1.1 * MOST_STEPS * SHARE
    bench = Bench(seconds)
    answers = bench.steps(20, seconds=1.0 - seconds)
    assert bench.shown == [1]
    assert not any(answers[2:])
    bench.previews.close()


@pytest.mark.parametrize(
    "problem",
    [EngineError(ErrorCode.BACKEND_FAILED, sentence("no")), OSError("gone"), MemoryError()],
    ids=repr,
)
def test_a_decoder_that_fails_leaves_the_linear_ones(problem: Exception) -> None:
    loads: list[int] = []

    def fail() -> Session:
        loads.append(len(loads))
        raise problem

    previews = TinyPreview(fail, lambda _step, _pixels: pytest.fail("shown"), Clock())
    for step in range(1, 4):
        assert not previews.offer(step, LATENT)
        running = previews._running  # pyright: ignore[reportPrivateUsage]
        assert running is not None
        wait([running], 60)
    previews.close()
    assert len(loads) == 1
    assert not previews.offer(4, LATENT)


def test_large_latents_are_averaged() -> None:
    decoder = Decoder(Clock(), 0)
    latent = np.arange(4 * 128 * 100, dtype=np.float32).reshape(1, 4, 128, 100)
    assert picture(decoder, latent).shape == (64, 50, 3)
    assert decoder.sizes == [(1, 4, 64, 50)]


class Collecting(SilentReporter):
    """With `patient` steps the first picture comes before the second step."""

    shows_previews = True

    def __init__(self, *, patient: bool) -> None:
        self.shown: list[NDArray[np.uint8]] = []
        self.linear, self._patient, self._first = 0, patient, Event()

    def preview(self, step: int, latent: Array, form: LatentFormat) -> None:
        self.linear += 1
        if self._patient:
            assert self._first.wait(60)

    def show(self, step: int, pixels: NDArray[np.uint8]) -> None:
        self.shown.append(pixels)
        self._first.set()


def test_a_second_pass_with_other_latents_has_linear_previews() -> None:
    """The tiny VAE of the first pass would show them in wrong colours, or fail."""
    bench, inner = Bench(seconds=0.1), Collecting(patient=False)
    network = Network("preview", lambda _: None, WeightSet("preview", {}))
    own = LatentFormat(4, 8, SD.scale, space=SD.name)
    previewing = Previewing(inner, bench.previews, TinyDecoder(network, 1.0), own)
    previewing.preview(1, np.zeros((1, 16, 8, 8), np.float32), LatentFormat(16, 8, 1.0))
    bench.previews.close()
    assert (inner.linear, bench.decoder.sizes) == (1, [])


def test_cells_of_a_packed_latent_are_shown_where_they_lie() -> None:
    """FLUX.2's channels are rows of cells, then columns; large latents are averaged by cells."""
    bench, inner = Bench(seconds=0.1), Collecting(patient=False)
    network = Network("preview", lambda _: None, WeightSet("preview", {}))
    form = LatentFormat(8, 16, 1.0, space="packed")
    tiny = TinyDecoder(network, 1.0, patch=2)
    cells = np.arange(2 * 6 * 4, dtype=np.float32).reshape(1, 2, 6, 4)
    packed = np.stack(
        [cells[0, c, y::2, x::2] for c in range(2) for y in range(2) for x in range(2)]
    )
    previewing = Previewing(inner, bench.previews, tiny, form)
    previewing.preview(1, packed[None], form)
    bench.previews.close()
    assert bench.decoder.sizes == [(1, 2, 6, 4)]
    np.testing.assert_array_equal(bench.decoder.seen[0], cells)


def of_stable_diffusion(folder: Path) -> Path:
    """A checkpoint with the latents that TAESD knows."""
    checkpoint = write_checkpoint(folder)
    config = checkpoint / "vae" / "config.json"
    usual = json.loads(config.read_text()) | {"scaling_factor": SD.scale}
    config.write_text(json.dumps(usual))
    return checkpoint


def test_memory_is_planned_for_it_where_somebody_looks(tmp_path: Path) -> None:
    checkpoint, models = of_stable_diffusion(tmp_path / "checkpoint"), tmp_path / "models"
    write_original(models / "vae_approx", "taesd")
    runner, peaks = JobRunner(JobServices.in_cache(tmp_path / "cache", models=models)), list[int]()
    for reporter in (SilentReporter(), Collecting(patient=False)):
        saver = PictureSaver(destination(str(tmp_path / "out/"), 1))
        request = a_request(checkpoint, backend="cpu", steps=1)
        peaks.append(runner.run(request, saver, reporter, CancelToken()).plan.peak_bytes)
    assert peaks[0] < peaks[1] <= peaks[0] + PREVIEW_BYTES


def test_one_among_the_persons_files_is_used(tmp_path: Path) -> None:
    checkpoint = of_stable_diffusion(tmp_path / "checkpoint")
    models = tmp_path / "models"
    write_original(models / "vae_approx", "taesdxl")
    for expected in (False, True):
        reporter = Collecting(patient=expected)
        request = a_request(checkpoint, backend="cpu", steps=12)
        runner = JobRunner(JobServices.in_cache(tmp_path / "cache", models=models))
        runner.run(
            request, PictureSaver(destination(str(tmp_path / "out/"), 1)), reporter, CancelToken()
        )
        assert bool(reporter.shown) == expected
        # The first may be shown before its step has asked for another.
        assert expected or reporter.linear == 12
        for pixels in reporter.shown:
            # Twice the latent's side: what this tiny VAE makes of it.
            assert pixels.shape == (SIDE, SIDE, 3)
            assert pixels.std() > 1
        write_original(models / "vae_approx", "taesd")


def test_one_in_another_folder_of_models_is_used(tmp_path: Path) -> None:
    """ComfyUI's folder, which its user named."""
    checkpoint = of_stable_diffusion(tmp_path / "checkpoint")
    comfy = tmp_path / "ComfyUI"
    write_original(comfy / "models" / "vae_approx", "taesd")
    reporter, cache = Collecting(patient=True), tmp_path / "cache"
    services = JobServices.in_cache(cache, models=tmp_path / "mine", loras=(comfy,))
    saver = PictureSaver(destination(str(tmp_path / "out/"), 1))
    request = a_request(checkpoint, backend="cpu", steps=12)
    JobRunner(services).run(request, saver, reporter, CancelToken())
    assert reporter.shown


def test_folders_without_one_are_looked_through_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint, models = of_stable_diffusion(tmp_path / "checkpoint"), tmp_path / "models"
    (models / "loras").mkdir(parents=True)
    (models / "vae_approx").mkdir()
    listed = list[Path]()

    def entries_of(folder: Path) -> list[os.DirEntry[str]]:
        listed.append(folder)
        return list_entries(folder)

    monkeypatch.setattr("engine.folders.entries_of", entries_of)
    runner = JobRunner(JobServices.in_cache(tmp_path / "cache", models=models))

    def looked_into() -> list[Path]:
        """The folders that a job lists which is looked at."""
        listed.clear()
        saver = PictureSaver(destination(str(tmp_path / "out/"), 1))
        request = a_request(checkpoint, backend="cpu", steps=1)
        runner.run(request, saver, Collecting(patient=False), CancelToken())
        return [folder for folder in listed if folder.is_relative_to(models)]

    _leave_alone(models, models / "vae_approx")
    assert looked_into() == [models, models / "vae_approx"]
    assert looked_into() == []
    # One that just changed may change again within the tick of its clock.
    write_original(models / "vae_approx", "taesdxl")
    for _ in range(2):
        assert looked_into() == [models, models / "vae_approx"]
    _leave_alone(models / "vae_approx")
    assert looked_into()
    assert looked_into() == []
    # A list of the user's models is wanted anew where folders' times tell of nothing.
    runner.services.tiny_files.forget()
    assert looked_into()


def test_a_decoder_is_found_where_folders_keep_their_times(tmp_path: Path) -> None:
    """On FAT and exFAT Windows leaves a folder's time as it is when a file is added."""
    folder, files = tmp_path / "vae_approx", TinyFiles()
    folder.mkdir()
    for kept in (tmp_path, folder):
        # The unit of exFAT is 10 ms, and that of FAT a multiple.
        os.utime(kept, ns=(10**18 + 70_000_000, 10**18 + 70_000_000))
    assert list(files.below([tmp_path])) == []
    write_original(folder, "taesdxl")
    os.utime(folder, ns=(10**18 + 70_000_000, 10**18 + 70_000_000))
    assert list(files.below([tmp_path]))


def _leave_alone(*folders: Path) -> None:
    for folder in folders:
        os.utime(folder, (1e9, folder.stat().st_mtime - 1000))


def test_taef2_shows_pictures_while_klein_runs(tmp_path: Path) -> None:
    klein = write_with_published_latents(tmp_path / "klein.safetensors")
    models = tmp_path / "models"
    write_original(models / "vae_approx", "taef2", config=CONFIG_2)
    reporter = Collecting(patient=True)
    services = JobServices.in_cache(tmp_path / "cache", models=models)
    saver = PictureSaver(destination(str(tmp_path / "out/"), 1))
    request = a_request(
        klein, backend="cpu", steps=4, width=96, height=64, sampler=SamplerName.EULER
    )
    JobRunner(services).run(request, saver, reporter, CancelToken())
    assert reporter.shown
    for pixels in reporter.shown:
        # As large as the picture: 6 x 4 cells, each of 2 x 2 of the decoder's.
        assert pixels.shape == (64, 96, 3)
        assert pixels.std() > 1


def test_a_tiny_vae_as_the_only_vae_makes_the_picture(tmp_path: Path) -> None:
    checkpoint = write_checkpoint(tmp_path / "checkpoint")
    tiny = write_diffusers(tmp_path / "taesd.safetensors")
    plain = a_request(checkpoint, backend="cpu")
    quick = a_request(checkpoint, backend="cpu", components=ComponentFiles(vae=str(tiny)))
    runner, made = JobRunner(JobServices.in_cache(tmp_path / "cache")), list[bytes]()
    for request in (plain, quick):
        saver = PictureSaver(destination(str(tmp_path / "out/"), 1))
        (image,) = runner.run(request, saver, SilentReporter(), CancelToken()).images
        made.append(image.path.read_bytes())
    assert made[0] != made[1]
