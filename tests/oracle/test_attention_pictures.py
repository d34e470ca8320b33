"""Pictures with FreeU, PAG and SAG beside diffusers' pipelines, and seamless ones."""
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

from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling  # noqa: E402
from engine.api.request import GuidanceOptions  # noqa: E402
from engine.api.values import SamplerName, ScheduleName  # noqa: E402
from engine.families import Component  # noqa: E402
from engine.graphs.unet_changes import SEEN_LAYER  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    BETAS,
    SIZE,
    STEPS,
    TEXTS,
    check,
    euler,
    opened,
    our_pixels,
    their_pixels,
)
from tests.oracle.sdxl_folder import write_pipeline  # noqa: E402
from tests.oracle.test_changed_networks import wrapping  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402
from tests.thinned import each_with_one_in_turn  # noqa: E402
from tests.tiny_checkpoint import write_checkpoint  # noqa: E402

PREDICTIONS = ("epsilon", "v_prediction")


@pytest.fixture(scope="module", params=PREDICTIONS)
def checkpoint(request, tmp_path_factory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp(request.param)
    path = write_checkpoint(folder / "tiny", prediction=request.param, change=attend_more)
    return path, request.param


def attend_more(weights) -> None:
    """Make the middle attend to some cells more, as trained networks do.

    Random ones attend to all alike, so that rounding decides which cells get more than others.
    """
    weights[Component.DENOISER][f"{SEEN_LAYER}.to_q.weight"] *= 6


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("sdxl"))


def differs_from_plain(folder: Path, ours, **changes) -> None:
    """The feature acts: without it, the picture is another."""
    assert psnr(ours, our_pixels(folder, **TEXTS, **changes)) < 45


PAG: dict[str, Any] = {
    "plain": ({"pag_scale": 3.0}, {"pag_scale": 3.0}),
    "adaptive": (
        {"pag_scale": 3.0, "pag_adaptive": 0.005},
        {"pag_scale": 3.0, "pag_adaptive_scale": 0.005},
    ),
    "rescaled": (
        {"pag_scale": 2.0, "rescale": 0.7},
        {"pag_scale": 2.0, "guidance_rescale": 0.7},
    ),
}


@pytest.mark.parametrize(
    ("checkpoint", "case"),
    each_with_one_in_turn(PREDICTIONS, list(PAG), pytest.mark.slow),
    indirect=["checkpoint"],
)
@pytest.mark.parametrize("layers", [("mid",), ("down_blocks.1", "up_blocks.0.attentions.1")])
def test_perturbed_attention_guidance_equals_diffusers(checkpoint, case, layers) -> None:
    folder, prediction = checkpoint
    given, arguments = PAG[case]
    ours = our_pixels(folder, **TEXTS, guidance_options=GuidanceOptions(**given, pag_layers=layers))
    pipe = opened(
        diffusers.StableDiffusionPAGPipeline, folder, scheduler=euler(prediction_type=prediction)
    )
    pipe.set_pag_applied_layers(list(layers))
    check(ours, their_pixels(pipe, **SIZE, **TEXTS, **arguments))
    differs_from_plain(folder, ours)


def test_perturbed_attention_without_other_guidance_equals_diffusers(checkpoint) -> None:
    folder, prediction = checkpoint
    options = GuidanceOptions(pag_scale=4.0)
    ours = our_pixels(folder, prompt=TEXTS["prompt"], guidance=1.0, guidance_options=options)
    pipe = opened(
        diffusers.StableDiffusionPAGPipeline, folder, scheduler=euler(prediction_type=prediction)
    )
    pipe.set_pag_applied_layers(["mid"])
    theirs = their_pixels(pipe, **SIZE, prompt=TEXTS["prompt"], guidance_scale=1.0, pag_scale=4.0)
    check(ours, theirs)


@pytest.mark.parametrize("case", PAG)
def test_perturbed_attention_of_sdxl_equals_diffusers(sdxl: Path, case) -> None:
    given, arguments = PAG[case]
    ours = our_pixels(sdxl, **TEXTS, guidance_options=GuidanceOptions(**given))
    pipe = opened(diffusers.StableDiffusionXLPAGPipeline, sdxl)
    pipe.set_pag_applied_layers(["mid"])
    check(ours, their_pixels(pipe, **SIZE, **TEXTS, **arguments))


@pytest.mark.parametrize("guidance", [6.0, 1.0], ids=["guided", "unguided"])
def test_self_attention_guidance_equals_diffusers(checkpoint, guidance: float) -> None:
    folder, prediction = checkpoint
    made = {
        "guidance": guidance,
        "sampler": SamplerName.DDIM,
        "schedule": ScheduleName.SGM_UNIFORM,
    }
    options = GuidanceOptions(sag_scale=0.75, sag_blur=1.0)
    ours = our_pixels(folder, **TEXTS, **made, guidance_options=options)
    ddim = diffusers.DDIMScheduler(
        prediction_type=prediction,
        timestep_spacing="trailing",
        clip_sample=False,
        set_alpha_to_one=False,
        **BETAS,
    )
    pipe = opened(diffusers.StableDiffusionSAGPipeline, folder, scheduler=ddim)
    check(ours, their_pixels(pipe, **SIZE, **TEXTS, guidance_scale=guidance, sag_scale=0.75))
    differs_from_plain(folder, ours, **made)


def test_freeu_equals_diffusers(checkpoint) -> None:
    folder, prediction = checkpoint
    factors: dict[str, Any] = {"b1": 1.4, "b2": 1.6, "s1": 0.9, "s2": 0.2}
    given: dict[str, Any] = {f"freeu_{name}": value for name, value in factors.items()}
    options = DenoiserOptions(freeu=FreeUVersion.V1, **given)
    ours = our_pixels(folder, **TEXTS, denoiser_options=options)
    pipe = opened(
        diffusers.StableDiffusionPipeline, folder, scheduler=euler(prediction_type=prediction)
    )
    pipe.enable_freeu(**factors)
    check(ours, their_pixels(pipe, **SIZE, **TEXTS))
    differs_from_plain(folder, ours)


@pytest.mark.parametrize(
    ("checkpoint", "tiling"),
    each_with_one_in_turn(PREDICTIONS, [Tiling.BOTH, Tiling.X, Tiling.Y], pytest.mark.slow),
    indirect=["checkpoint"],
)
def test_a_seamless_picture_equals_diffusers_with_circular_padding(checkpoint, tiling) -> None:
    folder, prediction = checkpoint
    ours = our_pixels(folder, **TEXTS, denoiser_options=DenoiserOptions(tiling=tiling))
    pipe = opened(
        diffusers.StableDiffusionPipeline, folder, scheduler=euler(prediction_type=prediction)
    )
    wraps = (tiling is not Tiling.X, tiling is not Tiling.Y)
    for module in (pipe.unet, pipe.vae):
        wrapping(module, wraps)
    check(ours, their_pixels(pipe, **SIZE, **TEXTS))
    differs_from_plain(folder, ours)


def test_all_of_them_act_together_in_as_many_steps(checkpoint) -> None:
    folder, _ = checkpoint
    ours = our_pixels(
        folder,
        **TEXTS,
        guidance_options=GuidanceOptions(pag_scale=2.0, sag_scale=0.5),
        denoiser_options=DenoiserOptions(tiling=Tiling.BOTH, freeu=FreeUVersion.V2),
        steps=STEPS,
    )
    differs_from_plain(folder, ours)
