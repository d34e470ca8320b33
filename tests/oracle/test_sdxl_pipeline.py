"""Whole SDXL pictures beside diffusers' pipelines: the same weights, prompts and noise."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

import json
import logging
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from backends.base import Precision  # noqa: E402
from backends.registry import find  # noqa: E402
from engine.api.request import InputImage, SizeOptions  # noqa: E402
from engine.api.values import InputRole, SamplerName, ScheduleName  # noqa: E402
from engine.families import identify  # noqa: E402
from tests.oracle.sdxl_folder import (  # noqa: E402
    unet_module,
    write_pipeline,
    write_sd2_pipeline,
)
from tests.pipeline.jobs import a_request, psnr, run  # noqa: E402

LOG = logging.getLogger(__name__)
STEPS, SEED, GUIDANCE, SIDE = 8, 7, 6.0, 64
OURS = {
    "width": SIDE,
    "height": SIDE,
    "steps": STEPS,
    "seed": SEED,
    "guidance": GUIDANCE,
    "sampler": SamplerName.EULER,
    "schedule": ScheduleName.NORMAL,
}
THEIRS = {
    "num_inference_steps": STEPS,
    "guidance_scale": GUIDANCE,
    "output_type": "np",
}
# With an "a", with which the second tokenizer fills up: to it that is padding, to the first a word.
TEXTS = {"prompt": "a red horse, blue house", "negative_prompt": "a blur"}

backends = pytest.mark.parametrize("backend_name", ["cpu", "intel_openvino"])


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("sdxl"))


def theirs(kind, folder: Path, **arguments) -> np.ndarray:
    unused = {} if kind is diffusers.StableDiffusionPipeline else {"add_watermarker": False}
    pipe = kind.from_pretrained(folder, **unused)
    pipe.set_progress_bar_config(disable=True)
    generator = torch.Generator("cpu").manual_seed(SEED)
    images = pipe(**THEIRS, generator=generator, **arguments).images
    return np.rint(images[0] * 255).astype(np.uint8)


def check(ours: np.ndarray, expected: np.ndarray) -> None:
    measured = psnr(ours, expected)
    LOG.info("PSNR %.1f dB", measured)
    assert ours.std() > 10
    assert measured >= 50


def our_picture(folder: Path, backend_name: str, **changes) -> np.ndarray:
    found = find(backend_name)
    assert found
    request = a_request(folder, **{**OURS, **changes})
    return run(request, found.create(), (Precision.F32,)).pixels[0]


def their_picture(folder: Path, **arguments) -> np.ndarray:
    size = {"width": SIDE, "height": SIDE}
    return theirs(diffusers.StableDiffusionXLPipeline, folder, **size, **arguments)


@backends
def test_text_to_image_equals_diffusers(checkpoint: Path, backend_name: str) -> None:
    ours = our_picture(checkpoint, backend_name, **TEXTS)
    check(ours, their_picture(checkpoint, **TEXTS))


def test_an_empty_negative_prompt_is_encoded_as_zeros(checkpoint: Path) -> None:
    ours = our_picture(checkpoint, "cpu", prompt=TEXTS["prompt"], negative_prompt="")
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
    ours = our_picture(checkpoint, "cpu", **TEXTS, size_options=options)
    check(ours, their_picture(checkpoint, **TEXTS, **sizes))
    assert psnr(ours, their_picture(checkpoint, **TEXTS)) < 45


def test_v_prediction_with_zero_terminal_snr_equals_diffusers(tmp_path: Path) -> None:
    folder = write_pipeline(tmp_path, prediction_type="v_prediction", rescale_betas_zero_snr=True)
    check(our_picture(folder, "cpu", **TEXTS), their_picture(folder, **TEXTS))


def test_a_pruned_unet_equals_diffusers(tmp_path: Path) -> None:
    pruned = unet_module(
        mid_block_type="UNetMidBlock2D", reverse_transformer_layers_per_block=((1, 2, 3), 0)
    )
    folder = write_pipeline(tmp_path, pruned)
    check(our_picture(folder, "cpu", **TEXTS), their_picture(folder, **TEXTS))


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction"])
def test_sd2_equals_diffusers(prediction: str, tmp_path: Path) -> None:
    folder = write_sd2_pipeline(tmp_path, prediction_type=prediction)
    assert identify(folder).family == "sd2"
    size = {"width": SIDE, "height": SIDE}
    expected = theirs(diffusers.StableDiffusionPipeline, folder, **size, **TEXTS)
    check(our_picture(folder, "cpu", **TEXTS), expected)


def test_image_to_image_equals_diffusers(checkpoint: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    small = random.integers(0, 256, (SIDE // 8, SIDE // 8, 3), dtype=np.uint8)
    picture = Image.fromarray(small).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    picture.save(tmp_path / "init.png")
    pixels = torch.from_numpy(np.asarray(picture, np.float32) / 255).permute(2, 0, 1)[None]
    kind = diffusers.StableDiffusionXLImg2ImgPipeline
    expected = theirs(kind, checkpoint, image=pixels, strength=0.5, **TEXTS)
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png"))
    check(our_picture(checkpoint, "cpu", **TEXTS, inputs=(init,), strength=0.5), expected)


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
    ours = our_picture(folder, "cpu", **TEXTS, sampler=SamplerName.LCM)
    check(ours, their_picture(folder, **TEXTS))
    without = our_picture(folder, "cpu", **TEXTS, sampler=SamplerName.LCM, guidance=2.0)
    assert psnr(ours, without) < 45
