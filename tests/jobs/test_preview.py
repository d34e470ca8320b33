"""Previews: due four times a second, and like the picture they announce."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.paths import starter_checkpoint
from backends.base import Array
from engine.api.request import ComponentFiles, GenerateRequest
from engine.cancel import CancelToken
from engine.families.hints import FILE_NAME, PreviewFactors
from engine.families.identify import identify, supply
from engine.families.latents import LatentFormat
from engine.families.shared.stable_diffusion.latent_spaces import SD
from engine.jobs.preview import INTERVAL_S, PreviewPace, preview_pixels
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.output import destination
from starter.preview import fit
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.tiny_checkpoint import write_checkpoint

FACTORS = PreviewFactors(((1.0, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, -1.0)), (0.0, 0.5, 0.0))


def test_the_first_is_due_at_once_and_the_next_after_a_quarter_of_a_second() -> None:
    now = 100.0
    pace = PreviewPace(lambda: now)
    due: list[float] = []
    while now < 102:
        if pace.is_due():
            due.append(now)
        now += 0.01
    assert due[0] == 100.0
    assert all(later - sooner >= INTERVAL_S - 1e-6 for sooner, later in pairwise(due))
    assert len(due) == 8


def test_colours_are_a_linear_map_of_channels() -> None:
    latent = np.zeros((2, 3, 2, 4), np.float32)
    latent[0, :, 0, 1] = [1, 0, 0]
    latent[0, :, 1, 2] = [-1, 1, 1]
    latent[0, :, 1, 3] = [9, -9, -9]
    latent[1] = 9  # of another picture
    pixels = preview_pixels(latent, FACTORS)
    assert pixels.shape == (2, 4, 3)
    assert pixels.dtype == np.uint8
    assert pixels[0, 0].tolist() == [127, 191, 127]
    assert pixels[0, 1].tolist() == [255, 191, 127]
    assert pixels[1, 2].tolist() == [0, 255, 0]
    assert pixels[1, 3].tolist() == [255, 0, 255]


def test_a_broken_latent_is_shown_all_the_same() -> None:
    latent = np.full((1, 3, 2, 2), np.nan, np.float32)
    latent[0, 0, 0, 0] = np.inf
    assert preview_pixels(latent, FACTORS).shape == (2, 2, 3)


def test_the_fit_finds_the_map_that_made_the_colours() -> None:
    random = np.random.default_rng(0)
    weights, bias = random.uniform(-1, 1, (4, 3)), random.uniform(-1, 1, 3)
    latents = random.standard_normal((500, 4))
    found = fit(latents, latents @ weights + bias)
    assert np.abs(np.array(found.weights) - weights).max() < 1e-3
    assert np.abs(np.array(found.bias) - bias).max() < 1e-3


class Collecting(SilentReporter):
    """Every step as it would be shown."""

    def __init__(self) -> None:
        self.shown: list[NDArray[np.uint8]] = []

    def preview(self, step: int, latent: Array, form: LatentFormat) -> None:
        assert form.preview is not None
        assert step == len(self.shown) + 1
        self.shown.append(preview_pixels(latent, form.preview))


def test_previews_of_the_starter_grow_into_its_picture(tmp_path: Path) -> None:
    request = GenerateRequest(
        prompt="a red house by the sea at night",
        checkpoint=str(starter_checkpoint()),
        steps=8,
        seed=1,
        backend="cpu",
    )
    reporter = Collecting()
    saver = PictureSaver(destination(str(tmp_path / "out.png"), 1))
    JobRunner(JobServices.in_cache(tmp_path)).run(request, saver, reporter, CancelToken())
    with Image.open(tmp_path / "out.png") as image:
        small = image.resize((32, 32), Image.Resampling.BOX)
    picture = np.asarray(small, np.float32)
    likeness = [
        float(np.corrcoef(shown.ravel(), picture.ravel())[0, 1]) for shown in reporter.shown
    ]
    assert len(likeness) == 8
    # What the denoiser sees in the noise, not the noise: that shows nothing until the end.
    assert likeness[0] > 0.5
    assert likeness[2] > 0.9
    assert likeness[-1] > 0.98
    assert float(np.abs(reporter.shown[-1] - picture).mean()) < 12


def test_the_family_s_colours_are_for_its_own_latent_space(tmp_path: Path) -> None:
    sd15 = identify(write_sparse(tmp_path / "sd15.safetensors", listings.original()))
    assert sd15.latent.preview == SD.preview
    other = identify(write_checkpoint(tmp_path / "other"))
    assert other.latent.scale != sd15.latent.scale
    assert other.latent.preview is None


def test_a_folder_may_bring_colours_of_its_own(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "own")
    rows = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9], [1.0, 1.1, 1.2]]
    (folder / FILE_NAME).write_text(json.dumps({"preview": {"weights": rows}}))
    own = identify(folder)
    assert own.latent.preview == PreviewFactors(tuple((r, g, b) for r, g, b in rows))
    kept = supply(own, ComponentFiles(vae=str(folder / "vae")))
    assert kept.latent.preview == own.latent.preview
    (folder / FILE_NAME).write_text(json.dumps({"preview": {"weights": rows[:3]}}))
    assert identify(folder).latent.preview is None  # not for these latents
