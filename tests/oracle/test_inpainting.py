"""Masked and edited pictures beside diffusers' pipelines: the same weights, prompts and noise."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

import json
import logging
from dataclasses import dataclass
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
from backends.cpu import CpuBackend  # noqa: E402
from engine.api.masks import MaskOptions  # noqa: E402
from engine.api.request import GuidanceOptions, InputImage  # noqa: E402
from engine.api.values import (  # noqa: E402
    InputRole,
    PredictionType,
    SamplerName,
    ScheduleName,
)
from engine.families import identify  # noqa: E402
from tests.oracle.sdxl_folder import (  # noqa: E402
    unet_module,
    write_pipeline,
    write_sd2_pipeline,
)
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run  # noqa: E402
from tests.tiny_checkpoint import write_checkpoint  # noqa: E402

LOG = logging.getLogger(__name__)
STEPS, SEED, GUIDANCE, SIDE = 8, 7, 6.0, 64
TEXTS = {"prompt": "red horse, blue house", "negative_prompt": "blur"}
BETAS = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
INPAINT = {
    "sd1": diffusers.StableDiffusionInpaintPipeline,
    "sd2": diffusers.StableDiffusionInpaintPipeline,
    "sdxl": diffusers.StableDiffusionXLInpaintPipeline,
}


def euler(**options):
    return diffusers.EulerDiscreteScheduler(
        timestep_spacing="linspace", steps_offset=1, **BETAS, **options
    )


# Ours, and the scheduler that does the same.
SAMPLERS = {
    "euler": (SamplerName.EULER, ScheduleName.NORMAL, euler),
    "dpmpp_2m": (
        SamplerName.DPMPP_2M,
        ScheduleName.KARRAS,
        lambda: diffusers.DPMSolverMultistepScheduler(
            use_karras_sigmas=True, steps_offset=1, **BETAS
        ),
    ),
    "heun": (
        SamplerName.HEUN,
        ScheduleName.NORMAL,
        lambda: diffusers.HeunDiscreteScheduler(
            timestep_spacing="linspace", steps_offset=1, **BETAS
        ),
    ),
    "ddim": (
        SamplerName.DDIM,
        ScheduleName.DDIM,
        lambda: diffusers.DDIMScheduler(
            clip_sample=False, set_alpha_to_one=False, steps_offset=1, **BETAS
        ),
    ),
    # The noise of its steps comes after what the VAE's sample took of the generator.
    "euler_a": (
        SamplerName.EULER_ANCESTRAL,
        ScheduleName.NORMAL,
        lambda: diffusers.EulerAncestralDiscreteScheduler(
            timestep_spacing="linspace", steps_offset=1, **BETAS
        ),
    ),
}


@dataclass(frozen=True)
class Pictures:
    init: InputImage
    mask: InputImage

    @property
    def opened(self):
        return {"image": Image.open(self.init.path), "mask_image": Image.open(self.mask.path)}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> Pictures:
    """A picture of soft colours, and a mask with a hole whose edges lie anywhere."""
    folder = tmp_path_factory.mktemp("pictures")
    small = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(small).resize((SIDE, SIDE), Image.Resampling.BICUBIC).save(folder / "init.png")
    levels = np.zeros((SIDE, SIDE), np.uint8)
    levels[13:41, 21:55] = 255
    levels[20:24, 30:33] = 90
    Image.fromarray(levels).save(folder / "mask.png")
    return Pictures(
        InputImage(role=InputRole.INIT, path=str(folder / "init.png")),
        InputImage(role=InputRole.MASK, path=str(folder / "mask.png")),
    )


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """Each family with each number of channels, written where it is first wanted."""
    written: dict[tuple[str, int], Path] = {}

    def get(family: str, channels: int) -> Path:
        if (family, channels) not in written:
            folder = tmp_path_factory.mktemp(f"{family}-{channels}")
            written[family, channels] = write(folder, family, channels)
        return written[family, channels]

    return get


def write(folder: Path, family: str, channels: int) -> Path:
    if family == "sd1":
        return write_checkpoint(folder / "tiny", in_channels=channels)
    if family == "sd2":
        return write_sd2_pipeline(folder, in_channels=channels)
    return write_pipeline(folder, unet_module(in_channels=channels))


def theirs(kind, folder: Path, scheduler=None, **arguments) -> np.ndarray:
    unused = {} if "XL" not in kind.__name__ else {"add_watermarker": False}
    pipe = kind.from_pretrained(folder, scheduler=scheduler or euler(), **unused)
    pipe.set_progress_bar_config(disable=True)
    asked = {
        **TEXTS,
        "num_inference_steps": STEPS,
        "guidance_scale": GUIDANCE,
        "generator": torch.Generator("cpu").manual_seed(SEED),
        "output_type": "pil",
    }
    return np.asarray(pipe(**{**asked, **arguments}).images[0])


def ours(folder: Path, *inputs: InputImage, sampler: str = "euler", **changes) -> np.ndarray:
    name, schedule, _ = SAMPLERS[sampler]
    asked = {
        **TEXTS,
        "width": SIDE,
        "height": SIDE,
        "steps": STEPS,
        "seed": SEED,
        "guidance": GUIDANCE,
        "sampler": name,
        "schedule": schedule,
        "inputs": inputs,
    }
    request = a_request(folder, **{**asked, **changes})
    return run(request, CpuBackend(), (Precision.F32,), residency=RESIDENCY).pixels[0]


def check(made: np.ndarray, expected: np.ndarray) -> None:
    measured = psnr(made, expected)
    LOG.info("PSNR %.1f dB", measured)
    assert made.std() > 10
    assert measured >= 50


# At 1 it starts from noise alone, and the picture is not encoded where nothing else wants it.
@pytest.mark.parametrize(
    ("family", "strength"), [("sd1", 1.0), ("sd1", 0.6), ("sd2", 0.6), ("sdxl", 0.6)]
)
@pytest.mark.parametrize("channels", [4, 9])
def test_inpainting_equals_diffusers(
    checkpoints, pictures: Pictures, family: str, channels: int, strength: float
) -> None:
    folder = checkpoints(family, channels)
    assert identify(folder).family == family
    size = {"width": SIDE, "height": SIDE}
    expected = theirs(INPAINT[family], folder, **pictures.opened, strength=strength, **size)
    made = ours(folder, pictures.init, pictures.mask, strength=strength)
    check(made, expected)
    assert psnr(made, ours(folder, pictures.init, strength=strength)) < 30


@pytest.mark.parametrize(
    ("sampler", "channels"),
    [("dpmpp_2m", 4), ("heun", 4), ("ddim", 4), ("euler_a", 4), ("euler_a", 9)],
)
def test_inpainting_with_other_samplers_equals_diffusers(
    checkpoints, pictures: Pictures, sampler: str, channels: int
) -> None:
    folder, made = checkpoints("sd1", channels), SAMPLERS[sampler][2]()
    size = {"width": SIDE, "height": SIDE, "strength": 0.8}
    expected = theirs(INPAINT["sd1"], folder, made, **pictures.opened, **size)
    check(ours(folder, pictures.init, pictures.mask, sampler=sampler, strength=0.8), expected)


@pytest.mark.parametrize("channels", [4, 9])
def test_inpainting_only_the_masked_part_equals_diffusers(
    checkpoints, pictures: Pictures, channels: int
) -> None:
    folder = checkpoints("sd1", channels)
    size = {"width": SIDE, "height": SIDE, "strength": 1.0}
    expected = theirs(INPAINT["sd1"], folder, **pictures.opened, **size, padding_mask_crop=6)
    options = MaskOptions(only_masked=True, padding=6)
    made = ours(folder, pictures.init, pictures.mask, mask_options=options, strength=1.0)
    check(made, expected)
    assert psnr(made, ours(folder, pictures.init, pictures.mask, strength=1.0)) < 30


def test_a_mask_of_another_size_is_scaled(checkpoints, pictures: Pictures, tmp_path: Path) -> None:
    folder, opened = checkpoints("sd1", 9), dict[str, Image.Image](pictures.opened)
    opened["mask_image"] = opened["mask_image"].resize((150, 90))
    opened["mask_image"].save(tmp_path / "mask.png")
    mask = InputImage(role=InputRole.MASK, path=str(tmp_path / "mask.png"))
    size = {"width": SIDE, "height": SIDE, "strength": 1.0}
    check(
        ours(folder, pictures.init, mask, strength=1.0),
        theirs(INPAINT["sd1"], folder, **opened, **size),
    )


EDIT = {
    "sd1": diffusers.StableDiffusionInstructPix2PixPipeline,
    "sd2": diffusers.StableDiffusionInstructPix2PixPipeline,
    "sdxl": diffusers.StableDiffusionXLInstructPix2PixPipeline,
}


def edited(checkpoints, pictures: Pictures, family: str, guidance: float, **changes):
    folder = checkpoints(family, 8)
    size = {"width": SIDE, "height": SIDE} if family == "sdxl" else {}
    image = Image.open(pictures.init.path)
    rescale = {"guidance_rescale": changes["rescale"]} if changes else {}
    expected = theirs(
        EDIT[family], folder, image=image, image_guidance_scale=guidance, **size, **rescale
    )
    options = GuidanceOptions(image_guidance=guidance, **changes)
    return ours(folder, pictures.init, guidance_options=options), expected


# Below 1 these pipelines have no guidance at all.
@pytest.mark.parametrize(
    ("family", "guidance"), [("sd1", 1.5), ("sd1", 1.0), ("sd1", 0.5), ("sd2", 1.5), ("sdxl", 1.5)]
)
def test_editing_by_instruction_equals_diffusers(
    checkpoints, pictures: Pictures, family: str, guidance: float
) -> None:
    assert identify(checkpoints(family, 8)).variant == "instruct-pix2pix"
    made, expected = edited(checkpoints, pictures, family, guidance)
    check(made, expected)


def test_rescaled_guidance_of_an_edit_equals_diffusers(checkpoints, pictures: Pictures) -> None:
    made, expected = edited(checkpoints, pictures, "sdxl", 3.0, rescale=0.7)
    check(made, expected)
    assert psnr(made, edited(checkpoints, pictures, "sdxl", 3.0)[0]) < 45


def test_cosxls_edit_gets_its_picture_scaled(pictures: Pictures, tmp_path: Path) -> None:
    folder = write_pipeline(tmp_path, unet_module(in_channels=8))
    scheduler = diffusers.EDMEulerScheduler(
        sigma_min=0.002,
        sigma_max=120.0,
        sigma_data=1.0,
        prediction_type="v_prediction",
        sigma_schedule="exponential",
    )
    scheduler.save_pretrained(folder / "scheduler")
    index = json.loads((folder / "model_index.json").read_text())
    index["scheduler"] = ["diffusers", "EDMEulerScheduler"]
    (folder / "model_index.json").write_text(json.dumps(index))
    assert identify(folder).prediction is PredictionType.EDM_V
    kind = diffusers.StableDiffusionXLInstructPix2PixPipeline
    pipe = kind.from_pretrained(folder, add_watermarker=False, is_cosxl_edit=True)
    pipe.set_progress_bar_config(disable=True)
    expected = pipe(
        **TEXTS,
        image=Image.open(pictures.init.path),
        width=SIDE,
        height=SIDE,
        num_inference_steps=STEPS,
        guidance_scale=GUIDANCE,
        image_guidance_scale=1.5,
        generator=torch.Generator("cpu").manual_seed(SEED),
    ).images[0]
    made = ours(folder, pictures.init, schedule=ScheduleName.EXPONENTIAL)
    check(made, np.asarray(expected))
