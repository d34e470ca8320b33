"""Led pictures whose networks or guidance change as well, beside pipelines composed of diffusers'.

diffusers has no pipeline of a ControlNet with self-attention guidance or seamless edges: its UNet's
evaluations get a ControlNet's residuals here, each for the latent that it sees.
"""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from engine.api.denoiser_options import DenoiserOptions, Tiling  # noqa: E402
from engine.api.request import GuidanceOptions  # noqa: E402
from engine.api.values import SamplerName, ScheduleName  # noqa: E402
from engine.graphs.unet_changes import SEEN_LAYER  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    BETAS,
    SIZE,
    TEXTS,
    check,
    euler,
    opened,
    our_pixels,
    their_pixels,
)
from tests.oracle.test_changed_networks import wrapping  # noqa: E402
from tests.oracle.test_control_pictures import Made  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

WEIGHT = 0.8


@pytest.fixture(scope="module")
def sd1(tmp_path_factory) -> Made:
    made = Made("sd1", tmp_path_factory.mktemp("sd1"))
    attend_more(made.folder / "unet")
    return made


def attend_more(folder: Path) -> None:
    """Make the middle attend to some cells more, as trained networks do.

    Random ones attend to all alike, so that rounding decides what self-attention guidance blurs.
    """
    unet = diffusers.UNet2DConditionModel.from_pretrained(folder)
    with torch.no_grad():
        unet.get_submodule(f"{SEEN_LAYER}.to_q").weight *= 6
    unet.save_pretrained(folder)


def lead(pipe: Any, made: Made) -> None:
    """Add the residuals of a ControlNet at each evaluation of a pipeline's UNet."""
    forward, prepared = (
        pipe.unet.forward,
        diffusers.image_processor.VaeImageProcessor(do_convert_rgb=True, do_normalize=False),
    )
    image = prepared.preprocess(made.picture())

    def led(sample: Any, timestep: Any, encoder_hidden_states: Any, **others: Any) -> Any:
        down, mid = made.modules[0](
            sample,
            timestep,
            encoder_hidden_states,
            image.repeat(len(sample), 1, 1, 1),
            conditioning_scale=WEIGHT,
            return_dict=False,
        )
        residuals = {
            "down_block_additional_residuals": down,
            "mid_block_additional_residual": mid,
        }
        return forward(sample, timestep, encoder_hidden_states, **residuals, **others)

    pipe.unet.forward = led


def test_a_led_picture_with_self_attention_guidance_is_the_composed_one(sd1: Made) -> None:
    ways = {"sampler": SamplerName.DDIM, "schedule": ScheduleName.SGM_UNIFORM}
    guided = {**ways, "guidance_options": GuidanceOptions(sag_scale=0.75, sag_blur=1.0)}
    layers = (sd1.layer(weight=WEIGHT),)
    ours = our_pixels(sd1.folder, **TEXTS, **guided, controls=layers)
    ddim = diffusers.DDIMScheduler(
        timestep_spacing="trailing", clip_sample=False, set_alpha_to_one=False, **BETAS
    )
    pipe = opened(
        diffusers.StableDiffusionSAGPipeline, sd1.folder, scheduler=ddim, safety_checker=None
    )
    lead(pipe, sd1)
    check(ours, their_pixels(pipe, **SIZE, **TEXTS, sag_scale=0.75))
    assert psnr(ours, our_pixels(sd1.folder, **TEXTS, **ways, controls=layers)) < 50
    assert psnr(ours, our_pixels(sd1.folder, **TEXTS, **guided)) < 45


@pytest.mark.parametrize("tiling", [Tiling.BOTH, Tiling.X])
def test_a_led_seamless_picture_is_the_composed_one(sd1: Made, tiling: Tiling) -> None:
    """A ControlNet's own edges stay as they are: A1111 wraps the layers of the checkpoint."""
    layers, options = (sd1.layer(weight=WEIGHT),), DenoiserOptions(tiling=tiling)
    ours = our_pixels(sd1.folder, **TEXTS, controls=layers, denoiser_options=options)
    parts = {"scheduler": euler(), "safety_checker": None}
    pipe = opened(diffusers.StableDiffusionPipeline, sd1.folder, **parts)
    for module in (pipe.unet, pipe.vae):
        wrapping(module, (tiling is not Tiling.X, tiling is not Tiling.Y))
    lead(pipe, sd1)
    check(ours, their_pixels(pipe, **SIZE, **TEXTS))
    assert psnr(ours, our_pixels(sd1.folder, **TEXTS, controls=layers)) < 45
