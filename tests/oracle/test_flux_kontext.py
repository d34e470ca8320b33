"""Pictures by Flux.1 Kontext beside diffusers' pipeline: the same weights, prompts and noise."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.pipelines.flux import (  # noqa: E402
    pipeline_flux_kontext,
    pipeline_flux_kontext_inpaint,
)

from engine.api.request import InputImage  # noqa: E402
from engine.api.values import InputRole  # noqa: E402
from engine.families import identify  # noqa: E402
from engine.families.flux import reference_sizes  # noqa: E402
from tests.oracle.diffusers_pictures import check, opened, our_pixels, their_pixels  # noqa: E402
from tests.oracle.flow_pictures import asked, pair, write_masked  # noqa: E402
from tests.oracle.flux_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402
from tests.tiny_checkpoint import SIDE  # noqa: E402

OURS, THEIRS = asked(steps=3, guidance=2.5, size=(96, 64))
# Without an area the pipeline makes a megapixel of any size.
THEIRS["max_area"] = 96 * 64
OURS_REDRAWN, THEIRS_REDRAWN = asked(steps=4, guidance=2.5)


@pytest.fixture(scope="module")
def kontext(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("kontext"), diffusers.FluxKontextPipeline)


def drawn(path: Path, size: tuple[int, int], seed: int) -> InputImage:
    levels = np.random.default_rng(seed).integers(0, 256, (5, 4, 3), np.uint8)
    Image.fromarray(levels).resize(size, Image.Resampling.BICUBIC).save(path)
    return InputImage(role=InputRole.REFERENCE, path=str(path))


@pytest.mark.parametrize("size", [(120, 70), (64, 96)])
def test_a_picture_with_a_reference_equals_diffusers(
    kontext: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    assert identify(kontext).variant == "kontext"
    reference = drawn(tmp_path / "reference.png", size, 1)
    pipe = opened(diffusers.FluxKontextPipeline, kontext)
    expected = their_pixels(pipe, **THEIRS, image=Image.open(reference.path))
    ours = our_pixels(kontext, **OURS, inputs=(reference,))
    check(ours, expected)
    assert psnr(ours, our_pixels(kontext, **OURS)) < 45


class TwoPictures(diffusers.FluxKontextPipeline):
    """A pipeline that also sees a second picture, placed as ComfyUI places it."""

    second: Image.Image

    def prepare_latents(self, image, *arguments, **options):
        latents, shown, own, ids = super().prepare_latents(image, *arguments, **options)
        width, height = self.second.size
        pixels = self.image_processor.preprocess(self.second, height, width)
        _, more, _, places = super().prepare_latents(pixels, *arguments, **options)
        # The first is wider than high, so that the second lies below it.
        places[:, 1] += image.shape[2] // 16
        return latents, torch.cat([shown, more], dim=1), own, torch.cat([ids, places])


@pytest.fixture
def fewer_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes of references of the same shapes with few pixels, on both sides."""
    sizes = [(192, 96), (96, 96)]
    monkeypatch.setattr(reference_sizes, "_EVERY", tuple(sizes))
    monkeypatch.setattr(pipeline_flux_kontext, "PREFERRED_KONTEXT_RESOLUTIONS", sizes)


@pytest.mark.usefixtures("fewer_pixels")
def test_a_second_reference_lies_below_the_first(kontext: Path, tmp_path: Path) -> None:
    references = drawn(tmp_path / "1.png", (150, 70), 1), drawn(tmp_path / "2.png", (90, 90), 2)
    pipe = opened(TwoPictures, kontext)
    pictures = [Image.open(reference.path) for reference in references]
    pipe.second = pictures[1].resize((96, 96), Image.Resampling.LANCZOS)
    expected = their_pixels(pipe, **THEIRS, image=pictures[0])
    ours = our_pixels(kontext, **OURS, inputs=references)
    check(ours, expected)
    assert psnr(ours, our_pixels(kontext, **OURS, inputs=references[:1])) < 45


@pytest.fixture
def small_references(monkeypatch: pytest.MonkeyPatch) -> None:
    """References of the picture's own size, on both sides, instead of a megapixel's."""
    monkeypatch.setattr(reference_sizes, "_EVERY", ((SIDE, SIDE),))
    monkeypatch.setattr(
        pipeline_flux_kontext_inpaint, "PREFERRED_KONTEXT_RESOLUTIONS", [(SIDE, SIDE)]
    )


@pytest.mark.usefixtures("small_references")
@pytest.mark.parametrize(
    ("strength", "paints_all"),
    [(0.6, True), (0.6, False), (1.0, False)],
    ids=["redraw", "inpaint", "inpaint in full"],
)
def test_redrawing_a_shown_picture_equals_diffusers(
    kontext: Path, tmp_path: Path, strength: float, paints_all: bool
) -> None:
    """diffusers' only pipeline that redraws is for inpainting, and shows the picture itself."""
    init, mask = write_masked(tmp_path)
    if paints_all:
        Image.new("L", (SIDE, SIDE), 255).save(mask.path)
    pipe = opened(diffusers.FluxKontextInpaintPipeline, kontext)
    theirs = {**THEIRS_REDRAWN, **pair((init, mask)), "max_area": SIDE * SIDE}
    expected = their_pixels(pipe, **theirs, strength=strength)
    shown = InputImage(role=InputRole.REFERENCE, path=init.path)
    inputs = (init, shown) if paints_all else (init, mask, shown)
    check(our_pixels(kontext, **OURS_REDRAWN, inputs=inputs, strength=strength), expected)
