"""Masked and edited pictures on tiny checkpoints: what is loaded, and what is promised."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.api.request import GuidanceOptions, InputImage
from engine.api.values import ConventionName, InputRole, Phase
from engine.compile.estimates import Estimates
from engine.families import identify
from tests.pipeline.conftest import Draw
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import a_request, psnr, run
from tests.pipeline.test_forecast import make
from tests.tiny_checkpoint import SIDE, write_checkpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("masked")
    small = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(small).resize((SIDE, SIDE)).save(folder / "init.png")
    levels = np.zeros((SIDE, SIDE), np.uint8)
    levels[16:48, 16:48] = 255
    Image.fromarray(levels).save(folder / "mask.png")
    for channels in (8, 9):
        write_checkpoint(folder / str(channels), in_channels=channels)
    return folder


@pytest.fixture(scope="module")
def inputs(folder: Path) -> tuple[InputImage, InputImage]:
    return (
        InputImage(role=InputRole.INIT, path=str(folder / "init.png")),
        InputImage(role=InputRole.MASK, path=str(folder / "mask.png")),
    )


def loads(checkpoint: Path, **changes: object) -> list[str]:
    backend = CountingBackend()
    run(a_request(checkpoint, **changes), backend)
    return [name for name, _ in backend.loads]


def test_the_encoder_is_loaded_once_and_gone_before_the_rest(
    folder: Path, inputs: tuple[InputImage, ...]
) -> None:
    for strength in (0.5, 1.0):
        names = loads(folder / "9", inputs=inputs, strength=strength, count=2)
        assert names.count("vae_encoder") == 1
        assert names[0] == "vae_encoder"
    assert loads(folder / "8", inputs=inputs[:1])[0] == "vae_encoder"


def test_encodings_of_the_canvas_are_announced(
    folder: Path, inputs: tuple[InputImage, ...]
) -> None:
    """One second a picture: that it starts from, and that with a hole."""

    def promised(strength: float) -> float | None:
        asked = a_request(folder / "9", inputs=inputs, strength=strength)
        estimates = Estimates(None)
        make(a_request(folder / "9", inputs=inputs, strength=0.5), estimates)
        told = make(asked, estimates).told
        return next(estimate.phase_s for phase, estimate in told if phase is Phase.ENCODE)

    twice, once = promised(0.5), promised(1.0)
    assert twice is not None
    assert once is not None
    # diffusers starts from noise alone at 1.
    assert twice == pytest.approx(2 * once)


def test_an_edit_has_a_third_prediction(folder: Path, inputs: tuple[InputImage, ...]) -> None:
    checkpoint = folder / "8"
    assert identify(checkpoint).variant == "instruct-pix2pix"

    def steps_s(guidance: float) -> float | None:
        options = GuidanceOptions(image_guidance=guidance)
        asked = a_request(checkpoint, inputs=inputs[:1], guidance_options=options)
        estimates = Estimates(None)
        make(a_request(checkpoint, inputs=inputs[:1]), estimates)
        told = make(asked, estimates).told
        return next(estimate.phase_s for phase, estimate in told if phase is Phase.DENOISE)

    three, two = steps_s(1.5), steps_s(1.0)
    assert three is not None
    assert two is not None
    assert three == pytest.approx(1.5 * two)


def test_an_edit_listens_to_its_picture_its_text_and_both_guidances(
    draw: Draw, folder: Path, inputs: tuple[InputImage, ...], tmp_path: Path
) -> None:
    other = tmp_path / "other.png"
    Image.open(inputs[0].path).transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(other)
    usual: dict[str, object] = {"inputs": inputs[:1], "convention": ConventionName.COMFY}

    def made(**changes: object) -> np.ndarray:
        return draw(a_request(folder / "8", **(usual | changes))).pixels[0]

    first = made()
    for changes in (
        {"inputs": (InputImage(role=InputRole.INIT, path=str(other)),)},
        {"prompt": "a blue house"},
        {"guidance": 3.0},
        {"guidance_options": GuidanceOptions(image_guidance=3.0)},
        {"inputs": inputs},
    ):
        assert psnr(first, made(**changes)) < 45


def test_an_inpainting_checkpoint_without_a_mask_redraws_it_all(
    draw: Draw, folder: Path, inputs: tuple[InputImage, ...]
) -> None:
    asked = {"strength": 0.5, "steps": 6, "convention": ConventionName.A1111}
    whole = draw(a_request(folder / "9", inputs=inputs[:1], **asked)).pixels[0]
    part = draw(a_request(folder / "9", inputs=inputs, **asked)).pixels[0]
    before = np.asarray(Image.open(inputs[0].path))
    corner = (slice(0, 8), slice(0, 8))
    assert np.array_equal(part[corner], before[corner])
    assert np.abs(whole[corner].astype(int) - before[corner]).mean() > 5


@pytest.mark.parametrize("tool", [ConventionName.A1111, ConventionName.COMFY])
def test_a_mask_that_is_white_all_over_is_none(
    draw: Draw, tiny: Path, inputs: tuple[InputImage, ...], tmp_path: Path, tool: ConventionName
) -> None:
    """Whatever its size, which is scaled to the picture's."""
    Image.new("1", (150, 90), 1).save(tmp_path / "white.png")
    white = InputImage(role=InputRole.MASK, path=str(tmp_path / "white.png"))
    asked = {"strength": 0.5, "steps": 4, "convention": tool}
    masked = draw(a_request(tiny, inputs=(inputs[0], white), **asked)).pixels[0]
    plain = draw(a_request(tiny, inputs=inputs[:1], **asked)).pixels[0]
    np.testing.assert_array_equal(masked, plain)


@pytest.mark.parametrize("channels", [4, 9])
def test_invokeai_keeps_the_latent_of_what_is_kept(
    draw: Draw, folder: Path, tiny: Path, inputs: tuple[InputImage, ...], channels: int
) -> None:
    checkpoint = tiny if channels == 4 else folder / "9"
    asked = {"steps": 4, "convention": ConventionName.INVOKE, "inputs": inputs}
    half, full = (
        draw(a_request(checkpoint, strength=strength, **asked)).pixels[0].astype(int)
        for strength in (0.5, 1.0)
    )
    differences = np.abs(half - full).mean(axis=2)
    # Of what is kept only the latent's neighbours differ, through the VAE's convolutions.
    assert differences[:6].mean() < differences[20:44, 20:44].mean() / 2
