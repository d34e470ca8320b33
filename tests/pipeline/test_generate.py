"""Whole jobs on a tiny checkpoint: what the request says is what happens."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import Precision
from backends.cpu import CpuBackend
from engine.api.conventions import CONVENTIONS
from engine.api.request import InputImage, SeedOptions
from engine.api.values import ConventionName, InputRole, Phase, SamplerName
from engine.families import identify
from tests.pipeline.conftest import Draw
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import a_request, psnr, run
from tests.tiny_checkpoint import SIDE, write_checkpoint


@pytest.fixture(scope="module")
def init(tmp_path_factory: pytest.TempPathFactory) -> InputImage:
    path = tmp_path_factory.mktemp("init") / "init.png"
    small = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(small).resize((100, 80)).save(path)
    return InputImage(role=InputRole.INIT, path=str(path))


@pytest.fixture(scope="module")
def usual(tiny: Path) -> NDArray[np.uint8]:
    """The picture of a request without changes."""
    return run(a_request(tiny), CpuBackend()).pixels[0]


def test_the_same_request_gives_the_same_pixels(
    tiny: Path, draw: Draw, usual: NDArray[np.uint8]
) -> None:
    first, second = usual, draw(a_request(tiny)).pixels[0]
    assert first.shape == (SIDE, SIDE, 3)
    assert first.std() > 20
    np.testing.assert_array_equal(first, second)


def test_the_size_is_height_by_width(tiny: Path) -> None:
    (pixels,) = run(a_request(tiny, width=96, height=70), CountingBackend()).pixels
    assert pixels.shape == (70, 96, 3)


def test_a_picture_of_a_batch_is_that_of_its_seed(tiny: Path, draw: Draw) -> None:
    """A picture has its own seed, or its place in the batch of one seed, as the tool has it."""
    places = SeedOptions(batch_index=1, batch_size=2)
    for convention, changes in (
        (ConventionName.A1111, {"seed": 8}),
        (ConventionName.COMFY, {"seed": 7, "seed_options": places}),
    ):
        asked = {"convention": convention, "sampler": SamplerName.EULER_ANCESTRAL}
        batch = draw(a_request(tiny, seed=7, count=2, **asked)).pixels
        alone = draw(a_request(tiny, **asked, **changes)).pixels[0]
        np.testing.assert_array_equal(batch[1], alone)
        assert psnr(batch[0], batch[1]) < 20


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "a blue house"},
        {"negative_prompt": "green"},
        {"steps": 4},
        {"guidance": 3.0},
        {"sampler": SamplerName.EULER},
        {"clip_skip": 2},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_setting_has_a_say(
    tiny: Path, draw: Draw, usual: NDArray[np.uint8], change: dict[str, object]
) -> None:
    assert psnr(usual, draw(a_request(tiny, **change)).pixels[0]) < 60


def test_without_guidance_the_negative_prompt_has_none(tiny: Path, draw: Draw) -> None:
    first, second = (
        draw(a_request(tiny, guidance=1.0, negative_prompt=text)).pixels[0]
        for text in ("blur", "green")
    )
    np.testing.assert_array_equal(first, second)


def test_the_final_norm_is_left_out_only_where_layers_are_skipped(tiny: Path, draw: Draw) -> None:
    usual = CONVENTIONS[ConventionName.A1111]
    without = msgspec.structs.replace(usual, final_norm=False)
    pixels = {
        (skip, convention.final_norm): draw(
            a_request(tiny, clip_skip=skip, convention=convention)
        ).pixels[0]
        for skip in (1, 2)
        for convention in (usual, without)
    }
    np.testing.assert_array_equal(pixels[1, True], pixels[1, False])
    assert psnr(pixels[2, True], pixels[2, False]) < 40


def test_a_picture_is_redrawn_by_its_strength(tiny: Path, draw: Draw, init: InputImage) -> None:
    asked = {"convention": ConventionName.A1111, "steps": 10, "inputs": (init,)}
    results = {
        strength: draw(a_request(tiny, **asked, strength=strength)) for strength in (0.0, 0.5, 1.0)
    }
    steps = {strength: result.log.steps[-1] for strength, result in results.items()}
    assert steps == {0.0: (1, 1), 0.5: (6, 6), 1.0: (10, 10)}
    pixels = {strength: result.pixels[0] for strength, result in results.items()}
    assert psnr(pixels[0.0], pixels[0.5]) > psnr(pixels[0.0], pixels[1.0])
    encode = [phase for phase in results[0.5].log.phases if phase is Phase.ENCODE]
    assert len(encode) == 2  # the prompt and the picture


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction"])
def test_the_prediction_type_is_read_from_the_folder(
    tmp_path: Path, draw: Draw, usual: NDArray[np.uint8], prediction: str
) -> None:
    path = write_checkpoint(tmp_path / prediction, prediction=prediction)
    assert identify(path).prediction.value == prediction
    same = psnr(draw(a_request(path)).pixels[0], usual) == 99
    assert same == (prediction == "epsilon")


def test_an_inpainting_checkpoint_paints_everything(tmp_path: Path, draw: Draw) -> None:
    path = write_checkpoint(tmp_path / "inpainting", in_channels=9)
    assert identify(path).variant == "inpainting"
    backend = CountingBackend()
    run(a_request(path), backend)
    names = [name for name, _ in backend.loads]
    assert (names[0], names[-1]) == ("vae_encoder", "vae_decoder")
    assert sorted(names[1:-1]) == ["denoiser", "text_encoder"]
    assert draw(a_request(path)).pixels[0].std() > 20


def test_pictures_come_in_the_precision_that_is_asked_for(tiny: Path) -> None:
    backend = CountingBackend()
    run(a_request(tiny), backend, (Precision.F16, Precision.F32))
    assert {precision for _, precision in backend.loads} == {Precision.F16}
