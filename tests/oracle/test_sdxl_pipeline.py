"""Whole SDXL pictures beside diffusers' pipelines: the same weights, prompts and noise."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

import json
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from backends.base import Array  # noqa: E402
from engine.api.request import InputImage, SizeOptions  # noqa: E402
from engine.api.values import InputRole, SamplerName  # noqa: E402
from engine.families import identify  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    SIZE,
    TEXTS,
    check,
    opened,
    our_pixels,
    their_pixels,
    write_init,
)
from tests.oracle.sdxl_folder import (  # noqa: E402
    unet_module,
    write_pipeline,
    write_sd2_pipeline,
)
from tests.pipeline.jobs import psnr  # noqa: E402

backends = pytest.mark.parametrize("backend_name", ["cpu", "intel_openvino"])


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("sdxl"))


def their_picture(folder: Path, **arguments) -> Array:
    pipe = opened(diffusers.StableDiffusionXLPipeline, folder)
    return their_pixels(pipe, **SIZE, **arguments)


@backends
def test_text_to_image_equals_diffusers(checkpoint: Path, backend_name: str) -> None:
    ours = our_pixels(checkpoint, backend_name, **TEXTS)
    check(ours, their_picture(checkpoint, **TEXTS))


def test_an_empty_negative_prompt_is_encoded_as_zeros(checkpoint: Path) -> None:
    ours = our_pixels(checkpoint, prompt=TEXTS["prompt"], negative_prompt="")
    expected = their_picture(checkpoint, prompt=TEXTS["prompt"])
    check(ours, expected)
    encoded = their_picture(checkpoint, prompt=TEXTS["prompt"], negative_prompt="")
    assert psnr(ours, encoded) < 45


def test_sizes_of_both_prompts_reach_the_denoiser(checkpoint: Path) -> None:
    # Theirs are heights before widths, tops before lefts.
    sizes = {
        "original_size": (48, 80),
        "crops_coords_top_left": (8, 16),
        "target_size": (64, 72),
        "negative_original_size": (16, 24),
        "negative_crops_coords_top_left": (1, 2),
        "negative_target_size": (32, 40),
    }
    options = SizeOptions(
        original=(80, 48),
        crop=(16, 8),
        target=(72, 64),
        negative_original=(24, 16),
        negative_crop=(2, 1),
        negative_target=(40, 32),
    )
    ours = our_pixels(checkpoint, **TEXTS, size_options=options)
    check(ours, their_picture(checkpoint, **TEXTS, **sizes))
    assert psnr(ours, their_picture(checkpoint, **TEXTS)) < 45


def test_v_prediction_with_zero_terminal_snr_equals_diffusers(tmp_path: Path) -> None:
    folder = write_pipeline(tmp_path, prediction_type="v_prediction", rescale_betas_zero_snr=True)
    check(our_pixels(folder, **TEXTS), their_picture(folder, **TEXTS))


def test_a_pruned_unet_equals_diffusers(tmp_path: Path) -> None:
    pruned = unet_module(
        mid_block_type="UNetMidBlock2D", reverse_transformer_layers_per_block=((1, 2, 3), 0)
    )
    folder = write_pipeline(tmp_path, pruned)
    check(our_pixels(folder, **TEXTS), their_picture(folder, **TEXTS))


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction"])
def test_sd2_equals_diffusers(prediction: str, tmp_path: Path) -> None:
    folder = write_sd2_pipeline(tmp_path, prediction_type=prediction)
    assert identify(folder).family == "sd2"
    pipe = opened(diffusers.StableDiffusionPipeline, folder)
    check(our_pixels(folder, **TEXTS), their_pixels(pipe, **SIZE, **TEXTS))


def test_image_to_image_equals_diffusers(checkpoint: Path, tmp_path: Path) -> None:
    pixels = write_init(tmp_path / "init.png")
    pipe = opened(diffusers.StableDiffusionXLImg2ImgPipeline, checkpoint)
    expected = their_pixels(pipe, image=pixels, strength=0.5, **TEXTS)
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png"))
    check(our_pixels(checkpoint, **TEXTS, inputs=(init,), strength=0.5), expected)


def test_embedded_guidance_equals_diffusers(tmp_path: Path) -> None:
    """Latent consistency models: the scale goes into the time embedding, no negative is run."""
    unet = unet_module(time_cond_proj_dim=16)
    unet.time_embedding.cond_proj.weight.data *= 20  # as initialised, it hardly shows
    folder = write_pipeline(tmp_path, unet)
    diffusers.LCMScheduler.from_pretrained(folder / "scheduler").save_pretrained(
        folder / "scheduler"
    )
    index = json.loads((folder / "model_index.json").read_text())
    index["scheduler"] = ["diffusers", "LCMScheduler"]
    (folder / "model_index.json").write_text(json.dumps(index))
    ours = our_pixels(folder, **TEXTS, sampler=SamplerName.LCM)
    check(ours, their_picture(folder, **TEXTS))
    without = our_pixels(folder, **TEXTS, sampler=SamplerName.LCM, guidance=2.0)
    assert psnr(ours, without) < 45
