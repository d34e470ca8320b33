"""Pictures by a tiny Flux.1 in ComfyUI's layout: one file with transformer, encoders and VAE."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engine.api.features import GuidanceKind
from engine.api.request import GuidanceOptions, InputImage
from engine.api.second_passes import LatentUpscaler
from engine.api.values import InputRole, SamplerName
from engine.families import identify
from tests.checkpoints.arrays import write_arrays
from tests.families import flow_pictures, listings
from tests.families.flow_pictures import check_changes, check_second_pass
from tests.families.flux import files
from tests.families.flux.files import FluxSizes
from tests.families.listings import ClipSizes, prefixed
from tests.thinned import thinned

CLIP, CONTEXT = 64, 40
picture = partial(flow_pictures.picture, guidance=3.5)


def write_checkpoint(path: Path, *, guidance: bool = True, channels: int = 64) -> Path:
    sizes = FluxSizes(64, 32, 256, CONTEXT, CLIP, 1, 1, channels, guidance=guidance)
    clip = listings.clip_text(ClipSizes(width=CLIP, layers=1))
    whole = {
        **prefixed("model.diffusion_model.", files.original(sizes)),
        **prefixed("text_encoders.clip_l.transformer.", clip),
        **prefixed("text_encoders.t5xxl.transformer.", listings.t5_encoder(CONTEXT)),
        **prefixed("vae.", listings.flow_vae()),
    }
    write_arrays(path, files.drawn(whole))
    return path


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("flux") / "tiny_flux.safetensors")


def test_one_file_holds_all_parts(dev: Path) -> None:
    checkpoint = identify(dev)
    assert (checkpoint.family, checkpoint.variant, checkpoint.missing) == ("flux1", "dev", ())
    assert checkpoint.latent.shift == pytest.approx(0.1159)
    features = checkpoint.architecture.features
    assert features.guidance == (GuidanceKind.EMBEDDED, GuidanceKind.CFG)
    assert (features.negative_prompt, features.size_multiple) == (True, 16)


def test_schnell_takes_no_guidance_and_may_have_a_negative_prompt(tmp_path: Path) -> None:
    checkpoint = identify(write_checkpoint(tmp_path / "s.safetensors", guidance=False))
    features = checkpoint.architecture.features
    assert checkpoint.variant == "schnell"
    assert (checkpoint.hints.steps, checkpoint.hints.guidance) == (4, 1.0)
    assert (features.guidance, features.negative_prompt) == ((GuidanceKind.CFG,), True)


@pytest.mark.parametrize(
    "convention", thinned(["a1111", "comfy", "diffusers", "invoke"], ["a1111"])
)
def test_prompt_guidance_and_seed_change_a_picture(dev: Path, convention: str) -> None:
    changes = {"prompt": "a horse"}, {"guidance": 30.0}, {"seed": 8}
    check_changes(picture, dev, convention, *changes)


def test_a_negative_prompt_acts_by_true_guidance_alone(dev: Path) -> None:
    def made(negative: str, scale: float) -> NDArray[np.uint8]:
        options = GuidanceOptions(true_cfg=scale)
        return picture(dev, negative_prompt=negative, guidance_options=options)

    np.testing.assert_array_equal(made("a blur", 1), made("", 1))
    assert not np.array_equal(made("a blur", 2), made("", 2))
    assert not np.array_equal(made("", 2), made("", 1))


def test_fill_sees_each_pixel_of_a_mask(tmp_path: Path) -> None:
    fill = write_checkpoint(tmp_path / "fill.safetensors", channels=384)
    checkpoint = identify(fill)
    assert (checkpoint.variant, checkpoint.hints.guidance) == ("fill", 30.0)
    drawn = np.random.default_rng(0).integers(0, 256, (64, 96, 3), np.uint8)
    Image.fromarray(drawn).save(tmp_path / "init.png")
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png"))
    made: list[NDArray[np.uint8]] = []
    for edge in (48, 50):
        levels = np.zeros((64, 96), np.uint8)
        levels[:, :edge] = 255
        Image.fromarray(levels).save(tmp_path / f"{edge}.png")
        mask = InputImage(role=InputRole.MASK, path=str(tmp_path / f"{edge}.png"))
        made.append(picture(fill, inputs=(init, mask), convention="comfy"))
    assert not np.array_equal(made[0], made[1])


@pytest.mark.parametrize("upscaler", [LatentUpscaler.BILINEAR, "lanczos"])
def test_a_second_pass_enlarges_and_redraws(dev: Path, upscaler: str) -> None:
    check_second_pass(picture, dev, upscaler=upscaler)


@pytest.mark.parametrize("sampler", [SamplerName.EULER_ANCESTRAL, SamplerName.DPMPP_2M_SDE])
def test_samplers_with_noise_make_a_picture_of_their_own(dev: Path, sampler: SamplerName) -> None:
    made = picture(dev, sampler=sampler, convention="comfy")
    assert made.std() > 5
    assert not np.array_equal(made, picture(dev, convention="comfy"))
