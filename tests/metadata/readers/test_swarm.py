"""SwarmUI's parameters, in its own JSON."""

import json

import msgspec
import pytest

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.control import ControlLayer
from engine.api.conventions import CONVENTIONS, RedrawSteps, convention_of
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.image_prompts import AdapterBlocks, ImagePrompt
from engine.api.noise_rules import BatchSeeds, RandomSource
from engine.api.preprocessors import CannyOptions, ControlKind, DepthOptions
from engine.api.request import GuidanceOptions, ScheduleOptions, SeedOptions
from engine.api.second_passes import SecondPass
from engine.api.values import ConventionName
from engine.metadata.readers.imported import ImportedRequest
from tests.metadata.readers.pictures import recognised
from tests.metadata.readers.samples import SWARM


def test_swarmuis_parameters_are_read() -> None:
    found = recognised(("parameters", json.dumps(SWARM, indent=2)))
    convention = msgspec.structs.replace(
        CONVENTIONS[ConventionName.COMFY],
        batch_seeds=BatchSeeds.SUCCESSIVE,
        redraw_steps=RedrawSteps.DIFFUSERS,
    )
    assert found.request == GenerateRequest(
        prompt="a photo of a cat",
        width=1024,
        height=768,
        steps=20,
        guidance=7.0,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.NORMAL,
        seed=1,
        convention=convention,
        expand_wildcards=False,
    )
    assert found.tool == "SwarmUI"
    assert found.unmapped == ()
    assert len(found.warnings) == 1


def test_swarmuis_options_as_text_are_read() -> None:
    parameters = SWARM["sui_image_params"] | {
        "steps": "25",
        "sampler": "dpmpp_2m_sde_gpu",
        "scheduler": "karras",
        "clipstopatlayer": -2,
        "variationseed": 9,
        "variationseedstrength": "0.5",
        "samplersigmamin": 0.05,
        "samplerrho": 5,
        "rescalecfgmultiplier": 0.6,
        "loras": "ink,line",
        "loraweights": ["0.8"],
        "vae": "soft",
        "refinermodel": "other",
    }
    found = recognised(("exif:UserComment", json.dumps({"sui_image_params": parameters})))
    request = found.request
    assert (request.steps, request.clip_skip) == (25, 2)
    assert (request.sampler, request.schedule) == ("dpmpp_2m_sde", "karras")
    assert convention_of(request.convention).step_source is RandomSource.CUDA
    assert request.seed_options == SeedOptions(variation_seed=9, variation_strength=0.5)
    assert request.schedule_options == ScheduleOptions(sigma_min=0.05, rho=5.0)
    assert request.guidance_options == GuidanceOptions(rescale=0.6)
    assert found.warnings[1:] == (
        'It was made with the VAE "soft"; choose it to match.',
        "Not taken over: refinermodel.",
    )


def swarm(**parameters: object) -> ImportedRequest:
    """The request of SwarmUI's example with other parameters."""
    fields = SWARM["sui_image_params"] | parameters
    return recognised(("parameters", json.dumps(SWARM | {"sui_image_params": fields})))


def test_swarmuis_guidance_of_flux_is_apart_from_cfg() -> None:
    flux = {"model": "Flux/flux1-dev-fp8", "cfgscale": 1.0, "fluxguidancescale": 2.5}
    request = swarm(**flux).request
    assert (request.guidance, request.guidance_options.true_cfg) == (2.5, 1.0)
    assert swarm(**flux | {"model": "flux1-schnell"}).request.guidance == 1.0


REFINING = {
    "refinermethod": "PostApply",
    "refinercontrolpercentage": 0.35,
    "refinerupscale": 1.5,
    "refinerupscalemethod": "model-4x-UltraSharp.pth",
}


def test_swarmuis_usual_guidance_of_flux_is_not_written() -> None:
    """Then it leaves ComfyUI's to the denoiser, which is 3.5 (`EncodePromptNode`)."""
    request = swarm(model="Flux/flux1-dev-fp8", cfgscale=1.0).request
    assert (request.guidance, request.guidance_options.true_cfg) == (3.5, 1)
    assert swarm(model="dream", cfgscale=1.0).request.guidance == 1.0


@pytest.mark.parametrize(
    ("model", "schedule"),
    [
        ("Flux/flux1-dev-fp8", "simple"),
        ("flux/Chroma1-HD", "beta"),
        ("z_image_turbo_bf16", "simple"),
        ("flux-2-klein-4b", "simple"),
        ("OfficialStableDiffusion/sd_xl_base_1.0", "normal"),
    ],
)
def test_swarmuis_usual_schedule_is_the_models(model: str, schedule: str) -> None:
    assert swarm(model=model).request.schedule == schedule
    assert swarm(model=model, scheduler="karras").request.schedule == "karras"


def test_swarmuis_refining_is_a_second_pass() -> None:
    found = swarm(
        **REFINING,
        refinersteps="40",
        refinercfgscale=5,
        refinersampler="dpmpp_2m",
        refinerscheduler="karras",
        refinermodel="soft/painter",
    )
    assert found.request.second_passes == (
        SecondPass(
            width=1536,
            height=1152,
            scale=1.5,
            upscaler="4x-UltraSharp.pth",
            strength=0.35,
            steps=40,
            guidance=5.0,
            sampler=SamplerName.DPMPP_2M,
            schedule=ScheduleName.KARRAS,
            seed=2,
        ),
    )
    assert found.unmapped == ()
    assert set(found.warnings[:-1]) == {
        'It was enlarged with the upscaler "4x-UltraSharp.pth", '
        "which is looked for in your folders.",
        'Its second pass was drawn with the model "soft/painter"; choose it to match.',
    }


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        (
            {"refinerupscalemethod": "latent-bislerp"},
            {"scale": 1.5, "upscaler": "Latent (bislerp)"},
        ),
        ({"refinerupscalemethod": "pixel-lanczos"}, {"width": 1536, "upscaler": "lanczos"}),
        ({"refinerupscalemethod": "pixel-area"}, {"height": 1152, "upscaler": "area"}),
        ({"refinerupscalemethod": "pixel-bicubic"}, {"height": 1152, "upscaler": "bicubic"}),
        ({"refinerupscale": 1}, {"scale": 1.0, "upscaler": "Latent"}),
        ({"refinerupscalemethod": None}, {"scale": 1.0, "upscaler": "Latent"}),
        # 20 steps: the last 7 of them.
        ({}, {"strength": 0.35, "steps": None, "seed": 2}),
        # 29 of 100, of which int() of the product would make 28.
        ({"refinersteps": 100, "refinercontrolpercentage": 0.29}, {"steps": 100}),
    ],
)
def test_swarmuis_ways_to_enlarge_are_ours(
    parameters: dict[str, object], wanted: dict[str, object]
) -> None:
    (second,) = swarm(**REFINING | parameters).request.second_passes
    assert {name: getattr(second, name) for name in wanted} == wanted
    assert int(second.strength * (second.steps or 20)) == (29 if second.steps else 7)


def test_swarmuis_refining_beyond_ours_is_told() -> None:
    swapped = swarm(**REFINING | {"refinermethod": "StepSwap"})
    assert swapped.request.second_passes == ()
    assert any("StepSwap" in warning for warning in swapped.warnings)
    assert swapped.unmapped == ()
    other = swarm(**REFINING | {"refinerupscalemethod": "pixel-hamming"})
    assert 'It was enlarged by "hamming", taken for Lanczos.' in other.warnings
    assert swarm(**REFINING, refinerdotiling=True).warnings[-1] == (
        "Not taken over: refinerdotiling."
    )


def test_swarmui_redraws_in_the_last_of_all_steps() -> None:
    found = swarm(initimagecreativity=0.29, steps=100).request
    assert found.strength is not None
    assert int(found.strength * 100) == 29
    assert convention_of(found.convention).redraw_steps is RedrawSteps.DIFFUSERS


def test_swarmuis_controlnets_and_image_prompts_are_layers() -> None:
    hashes = [{"name": "b.safetensors", "param": "controlnettwomodel", "hash": "0x" + "ab" * 32}]
    parameters = {
        "controlnetmodel": "SDXL/canny-xl",
        "controlnetstrength": "0.8",
        "controlnetend": 0.5,
        "controlnettwomodel": "b",
        "controlnettwostrength": 1.2,
        "controlnettwopreprocessor": "DepthAnythingV2Preprocessor",
        "controlnettwouniontype": "depth",
        "controlnetthreemodel": "pose",
        "controlnetthreestrength": 1,
        "controlnetthreepreprocessor": "None",
        "useipadapter": "file:ip-adapter_sdxl.safetensors",
        "ipadapterweight": 0.6,
        "ipadapterstart": 0.25,
        "ipadapterweighttype": "style transfer",
    }
    fields = {"sui_image_params": SWARM["sui_image_params"] | parameters, "sui_models": hashes}
    found = recognised(("parameters", json.dumps(fields)))
    # The square root of 1024 * 768 is about 14 * 64.
    assert found.request.controls == (
        ControlLayer(
            image="",
            network="SDXL/canny-xl",
            preprocessor=CannyOptions(resolution=896),
            weight=0.8,
            range=(0.0, 0.5),
        ),
        ControlLayer(
            image="",
            network="b",
            preprocessor=DepthOptions(resolution=896),
            weight=1.2,
            kind=ControlKind.DEPTH,
            hash="ab" * 32,
        ),
        ControlLayer(image="", network="pose"),
    )
    assert found.request.image_prompts == (
        ImagePrompt(
            image="",
            adapter="ip-adapter_sdxl.safetensors",
            weight=0.6,
            range=(0.25, 1.0),
            blocks=AdapterBlocks.STYLE,
        ),
    )
    assert found.unmapped == ()


def test_gaps_in_swarmuis_layers_are_told() -> None:
    found = swarm(
        controlnetmodel="depth-xl",
        controlnetstrength=1,
        useipadapter="PLUS (high strength)",
        ipadapterweighttype="prompt is more important",
    )
    assert found.request.controls[0].preprocessor is None
    assert found.request.image_prompts == (ImagePrompt(image="", blocks=AdapterBlocks.EASE_OUT),)
    for words in ('map of "depth-xl"', '"PLUS (high strength)"'):
        assert any(words in warning for warning in found.warnings), words


def test_swarmuis_changes_of_the_denoiser_are_read() -> None:
    found = swarm(
        seamlesstileable="X-Only",
        freeuapplyto="Both",
        freeuversion="2",
        freeublockone=1.2,
        freeublocktwo=1.3,
        freeuskipone=0.8,
        freeuskiptwo=0.3,
        perturbedattentionguidancescale="2.5",
        selfattentionguidancescale=0.5,
        selfattentionguidancesigmablur=3,
    )
    assert found.request.denoiser_options == DenoiserOptions(
        tiling=Tiling.X,
        freeu=FreeUVersion.V2,
        freeu_b1=1.2,
        freeu_b2=1.3,
        freeu_s1=0.8,
        freeu_s2=0.3,
    )
    assert found.request.guidance_options == GuidanceOptions(
        pag_scale=2.5, sag_scale=0.5, sag_blur=3.0
    )
    assert found.unmapped == ()
    alone = swarm(freeuapplyto="Refiner", freeuversion="1", freeublockone=1.2)
    assert alone.request.denoiser_options == DenoiserOptions()
    assert "FreeU acted on its second pass alone, and is left out." in alone.warnings
