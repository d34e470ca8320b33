"""Previews by a tiny VAE: real pictures, for a small share of the steps' time, or not at all."""

import json
from concurrent.futures import wait
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from backends.base import Array, DeviceValue, Feeds, Session, TensorSpec, host_array, host_values
from engine.api.request import ComponentFiles
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.compile.network import Network
from engine.errors import EngineError
from engine.families.architecture import TinyDecoder
from engine.families.latents import LatentFormat
from engine.families.shared.stable_diffusion.latent_spaces import SD
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
from tests.families.tiny_vaes import write_diffusers, write_original
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

    def run(self, feeds: Feeds) -> dict[str, Array]:
        self.clock.now += self.seconds
        latent = host_array(feeds["latent"])
        self.sizes.append(latent.shape)
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
