"""Pictures that attend to a reference beside sd-webui-controlnet's rule on diffusers' UNets."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

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

from backends.base import Array  # noqa: E402
from engine.api.control import ControlLayer, ControlMode  # noqa: E402
from engine.api.preprocessors import ReferenceOptions  # noqa: E402
from engine.api.request import InputImage  # noqa: E402
from engine.api.values import InputRole  # noqa: E402
from engine.pipeline.denoise.reference_run import reference_noise  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    SEED,
    SIZE,
    STEPS,
    TEXTS,
    check,
    euler,
    opened,
    our_pixels,
    their_pixels,
    write_init,
)
from tests.oracle.reference_unet import ReferenceOnly  # noqa: E402
from tests.oracle.sdxl_folder import write_pipeline, write_sd2_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402
from tests.thinned import each_with_one_in_turn  # noqa: E402
from tests.tiny_checkpoint import SIDE, write_checkpoint  # noqa: E402

WRITERS = {
    "sd1": lambda folder: write_checkpoint(folder / "tiny"),
    "sd2": write_sd2_pipeline,
    "sdxl": write_pipeline,
}
PIPELINES = {
    "sd1": diffusers.StableDiffusionPipeline,
    "sd2": diffusers.StableDiffusionPipeline,
    "sdxl": diffusers.StableDiffusionXLPipeline,
}


def _with_more_self_attention(folder: Path) -> None:
    """Make the self-attentions of random weights count for more, as those of trained ones do."""
    unet = diffusers.UNet2DConditionModel.from_pretrained(folder)
    with torch.no_grad():
        for name, weight in unet.named_parameters():
            if ".attn1.to_v" in name or ".attn1.to_out" in name:
                weight *= 3
    unet.save_pretrained(folder)


class Made:
    """A checkpoint of a family, and a reference picture of its pictures' size."""

    def __init__(self, family: str, folder: Path) -> None:
        self.family, self.folder = family, WRITERS[family](folder)
        if family != "sd1":
            _with_more_self_attention(self.folder / "unet")
        self.path = folder / "reference.png"
        write_init(self.path)

    def layer(self, fidelity: float = 0.5, **changes) -> ControlLayer:
        options = ReferenceOptions(style_fidelity=fidelity)
        return ControlLayer(image=str(self.path), preprocessor=options, **changes)

    def pipe(self, kind=None):
        parts = {} if self.family == "sdxl" else {"safety_checker": None, "scheduler": euler()}
        return opened(kind or PIPELINES[self.family], self.folder, **parts)

    def theirs(self, fidelity: float = 0.5, pipe=None, arguments=None, **changes) -> Array:
        pipe = pipe or self.pipe()
        picture = np.array(Image.open(self.path))
        given = ReferenceOnly(pipe, picture, self.noise(pipe), fidelity, **changes)
        pixels = their_pixels(pipe, **{**SIZE, **TEXTS, **(arguments or {})})
        assert given.evaluations > 0
        return pixels

    def noise(self, pipe):
        cells = SIDE // pipe.vae_scale_factor
        shape = 1, pipe.unet.config.in_channels, cells, cells
        return lambda evaluation: reference_noise(shape, SEED, 0, evaluation)


@pytest.fixture(scope="module")
def every(request, tmp_path_factory) -> Made:
    return Made(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def sd1(tmp_path_factory) -> Made:
    return Made("sd1", tmp_path_factory.mktemp("sd1"))


@pytest.mark.parametrize(
    ("every", "fidelity"),
    each_with_one_in_turn(list(WRITERS), [0.5, 0.0, 1.0], pytest.mark.slow),
    indirect=["every"],
)
def test_a_reference_is_attended_to_as_in_sd_webui_controlnet(every: Made, fidelity: float) -> None:
    ours = our_pixels(every.folder, **TEXTS, controls=(every.layer(fidelity),))
    expected = every.theirs(fidelity)
    check(ours, expected)
    assert psnr(our_pixels(every.folder, **TEXTS), expected) < psnr(ours, expected) - 20


@pytest.mark.parametrize(
    ("every", "weight"),
    each_with_one_in_turn(list(WRITERS), [0.2, 0.6], pytest.mark.slow),
    indirect=["every"],
)
def test_the_weight_chooses_the_widest_layers(every: Made, weight: float) -> None:
    ours = our_pixels(every.folder, **TEXTS, controls=(every.layer(weight=weight),))
    check(ours, every.theirs(weight=weight))


@pytest.mark.parametrize("ends", [(0.0, 0.5), (0.4, 1.0)])
def test_outside_its_range_a_reference_does_not_act(sd1: Made, ends: tuple[float, float]) -> None:
    ours = our_pixels(sd1.folder, **TEXTS, controls=(sd1.layer(range=ends),))

    def acts(evaluation: int) -> bool:
        return ends[0] <= evaluation / STEPS and (evaluation + 1) / STEPS <= ends[1]

    check(ours, sd1.theirs(acts=acts))
    assert psnr(ours, sd1.theirs()) < 60


@pytest.mark.parametrize(
    ("mode", "fidelity"), [(ControlMode.PROMPT, 0.0), (ControlMode.CONTROL, 1.0)]
)
def test_a_mode_takes_the_place_of_the_style_fidelity(
    sd1: Made, mode: ControlMode, fidelity: float
) -> None:
    ours = our_pixels(sd1.folder, **TEXTS, controls=(sd1.layer(0.3, mode=mode),))
    check(ours, sd1.theirs(fidelity))


def test_without_guidance_all_rows_attend(sd1: Made) -> None:
    ours = our_pixels(sd1.folder, **TEXTS, guidance=1.0, controls=(sd1.layer(),))
    check(ours, sd1.theirs(arguments={"guidance_scale": 1.0}))


def test_a_redrawn_picture_attends_to_a_reference(sd1: Made, tmp_path: Path) -> None:
    init = write_init(tmp_path / "init.png").flip(3)
    levels = (init[0].permute(1, 2, 0).numpy() * 255).round().astype(np.uint8)
    Image.fromarray(levels).save(tmp_path / "init.png")
    inputs = (InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png")),)
    ours = our_pixels(sd1.folder, **TEXTS, inputs=inputs, strength=0.7, controls=(sd1.layer(),))
    pipe = sd1.pipe(diffusers.StableDiffusionImg2ImgPipeline)
    # Its size is that of the picture.
    arguments = {"image": init, "strength": 0.7, "width": None, "height": None}
    check(ours, sd1.theirs(pipe=pipe, arguments=arguments))
