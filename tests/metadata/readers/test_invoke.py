"""InvokeAI's metadata of all its ages."""

import json

import pytest

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.control import ControlLayer, ControlMode, ControlResize
from engine.api.conventions import convention_of
from engine.api.image_prompts import AdapterBlocks, ImagePrompt
from engine.api.lora import LoraChoice
from engine.api.noise_rules import RandomSource
from engine.api.preprocessors import ControlKind
from engine.api.request import GuidanceOptions, RefinerChoice
from engine.api.second_passes import SecondPass
from engine.api.values import ConventionName
from engine.metadata.readers.imported import ImportedRequest
from tests.metadata.frozen import frozen
from tests.metadata.readers.pictures import recognised
from tests.metadata.readers.samples import INVOKE


def test_invokeais_metadata_is_read() -> None:
    found = recognised(("invokeai_metadata", json.dumps(INVOKE)), ("invokeai_graph", "{}"))
    assert found.request == GenerateRequest(
        prompt="a red house++",
        negative_prompt="rain",
        width=512,
        height=640,
        steps=30,
        guidance=7.5,
        sampler=SamplerName.DPMPP_2M_SDE,
        schedule=ScheduleName.KARRAS,
        seed=2885716361,
        clip_skip=2,
        convention=ConventionName.INVOKE,
        guidance_options=GuidanceOptions(rescale=0.1),
        loras=(LoraChoice(file="ink", strength=0.75),),
        expand_wildcards=False,
    )
    assert found.warnings == (
        'It was made with the model "dream"; choose it to match.',
        'It was made with the VAE "soft"; choose it to match.',
    )


def test_the_refiner_takes_its_part_of_the_steps_and_its_other_settings_are_said() -> None:
    refiner = {"name": "xl refiner", "base": "sdxl-refiner"}
    fields = INVOKE | {
        "refiner_model": refiner,
        "refiner_start": 0.7,
        "refiner_cfg_scale": 5,
        "refiner_steps": 20,
    }
    found = recognised(("invokeai_metadata", json.dumps(fields)))
    assert found.request.refiner == RefinerChoice(switch_at=0.7)
    assert 'It was refined with the model "xl refiner"; choose it to match.' in found.warnings
    assert {pair.key for pair in found.unmapped} == {"refiner_cfg_scale", "refiner_steps"}
    assert recognised(("invokeai_metadata", json.dumps(INVOKE))).request.refiner is None


def test_invokeai_3_and_noise_of_a_card_are_read() -> None:
    fields = INVOKE | {
        "rand_device": "cuda",
        "scheduler": "ddim",
        "model": {"model_name": "dream", "base_model": "sd-1"},
        "loras": [{"lora": {"model_name": "ink", "base_model": "sd-1"}, "weight": 1}],
        "vae": None,
        "hrf_enabled": True,
        "hrf_strength": 2,
        "strength": 0.6,
        "init_image": "x.png",
    }
    found = recognised(("invokeai_metadata", json.dumps(fields)))
    assert convention_of(found.request.convention).random_source is RandomSource.CUDA
    assert (found.request.sampler, found.request.schedule) == ("ddim", "ddim")
    assert found.request.strength == 0.6
    assert found.request.second_passes == ()
    assert found.warnings == (
        '"hrf_strength: 2" was not taken over.',
        '"hrf_enabled: True" was not taken over.',
        'It was made with the model "dream"; choose it to match.',
        "It was made from another picture, which is not in the file.",
    )


def test_unknown_samplers_of_invokeai_give_a_warning() -> None:
    found = recognised(("invokeai_metadata", json.dumps(INVOKE | {"scheduler": "dpmpp_2s_k"})))
    assert (found.request.sampler, found.request.schedule) == (None, None)
    assert found.warnings[0] == '"scheduler: dpmpp_2s_k" was not taken over.'
    other = recognised(("invokeai_metadata", json.dumps(INVOKE | {"rand_device": "xpu"})))
    assert "card of another kind" in other.warnings[-1]


def test_invokeai_before_version_3_is_read() -> None:
    # `InvokeAIMetadataParser.parse_meta_tag_sd_metadata`.
    fields = {
        "model": "stable diffusion",
        "model_weights": "stable-diffusion-1.5",
        "app_version": "2.3.0",
        "image": {
            "prompt": [{"prompt": "a red house [rain] [snow, ]", "weight": 1}],
            "steps": 50, "cfg_scale": 7.5, "sampler": "k_euler_a", "seed": 5, "width": 512,
            "height": 640, "threshold": 0, "perlin": 0, "variations": [], "type": "txt2img",
        },
    }  # fmt: skip
    found = recognised(("Dream", "older"), ("sd-metadata", json.dumps(fields)))
    request = found.request
    assert (request.prompt, request.negative_prompt) == ("a red house", "rain, snow")
    assert (request.sampler, request.steps, request.seed) == ("euler_a", 50, 5)
    assert convention_of(request.convention).random_source is RandomSource.CUDA
    assert found.unmapped == ()


def test_invokeais_first_notation_is_read() -> None:
    dream = frozen("invoke")["written"]["dream"]
    # The seed was added by whoever called it: `-S`.
    request = recognised(("Dream", dream + " -S42")).request
    assert (request.prompt, request.negative_prompt) == ("a red house", "rain")
    assert (request.width, request.height, request.steps) == (512, 768, 50)
    assert (request.sampler, request.guidance, request.seed) == ("lms", 7.5, 42)


def invoke(**fields: object) -> ImportedRequest:
    """The request of InvokeAI's metadata with other fields."""
    return recognised(("invokeai_metadata", json.dumps(INVOKE | fields)))


def test_invokeais_guidance_of_flux_is_apart_from_cfg() -> None:
    def flux(name: str) -> ImportedRequest:
        fields = {key: value for key, value in INVOKE.items() if key != "cfg_scale"}
        model = {"name": name, "base": "flux"}
        text = json.dumps(fields | {"guidance": 4, "model": model})
        return recognised(("invokeai_metadata", text))

    dev = flux("FLUX Dev")
    assert (dev.request.guidance, dev.request.guidance_options.true_cfg) == (4, 1)
    assert "guidance" not in [pair.key for pair in dev.unmapped]
    assert flux("FLUX Schnell").request.guidance is None


@pytest.mark.parametrize(
    ("size", "base", "first", "upscaler"),
    [
        # `calculateHrfRes`: 512 x 512 pixels, in the picture's shape, in steps of 8.
        ((1024, 1024), "sd-1", (512, 512), "RealESRGAN_x4plus.pth"),
        ((640, 640), "sd-1", (512, 512), "RealESRGAN_x2plus.pth"),
        ((1024, 768), "sd-1", (592, 440), "RealESRGAN_x4plus.pth"),
        ((512, 2048), "sd-1", (256, 1024), "RealESRGAN_x4plus.pth"),
        ((1536, 1536), "sdxl", (1024, 1024), "RealESRGAN_x4plus.pth"),
        ((384, 384), "sd-1", (384, 384), "RealESRGAN_x2plus.pth"),
    ],
)
def test_invokeais_high_resolution_fix_is_a_second_pass(
    size: tuple[int, int], base: str, first: tuple[int, int], upscaler: str
) -> None:
    width, height = size
    found = invoke(
        width=width,
        height=height,
        model={"name": "dream", "base": base},
        hrf_enabled=True,
        hrf_method="ESRGAN",
        hrf_strength=0.45,
    )
    request = found.request
    assert (request.width, request.height) == first
    assert request.second_passes == (
        SecondPass(width=width, height=height, upscaler=upscaler, strength=0.45),
    )
    assert found.unmapped == ()
    resized = invoke(hrf_enabled=True, hrf_method="bilinear", hrf_strength=0.3)
    assert resized.request.second_passes[0].upscaler == "lanczos"
    assert 'It was enlarged by "bicubic", taken for Lanczos.' in resized.warnings
    assert invoke(hrf_enabled=False, hrf_strength=0.3).request.second_passes == ()


def test_the_layers_of_invokeais_canvas_are_read() -> None:
    model = {"key": "1", "hash": "sha256:" + "cd" * 32, "name": "canny", "base": "sd-1"}
    adapter = {
        "type": "controlnet",
        "model": model,
        "weight": 0.75,
        "beginEndStepPct": [0, 0.75],
        "controlMode": "more_control",
    }
    reference = {
        "type": "ip_adapter",
        "image": {"image_name": "x.png", "width": 64, "height": 64},
        "model": model | {"name": "ip_adapter_sd15"},
        "weight": 1.5,
        "beginEndStepPct": [0.1, 1],
        "method": "composition",
        "clipVisionModel": "ViT-H",
    }
    layers = [
        {"isEnabled": True, "type": "control_layer", "controlAdapter": adapter},
        {"isEnabled": False, "type": "control_layer", "controlAdapter": adapter},
        {
            "isEnabled": True,
            "controlAdapter": adapter | {"type": "t2i_adapter", "controlMode": None},
        },
        {"isEnabled": True, "controlAdapter": adapter | {"type": "control_lora"}},
    ]
    layer = ControlLayer(
        image="",
        network="canny",
        weight=0.75,
        range=(0.0, 0.75),
        mode=ControlMode.CONTROL,
        resize=ControlResize.STRETCH,
        hash="cd" * 32,
    )
    prompt = ImagePrompt(
        image="",
        adapter="ip_adapter_sd15",
        weight=1.5,
        range=(0.1, 1.0),
        blocks=AdapterBlocks.COMPOSITION,
        hash="cd" * 32,
    )
    canvas = {"controlLayers": layers, "rasterLayers": [], "inpaintMasks": []}
    newest = invoke(
        canvas_v2_metadata=canvas, ref_images=[{"isEnabled": True, "config": reference}]
    )
    older = invoke(canvas_v2_metadata=canvas | {"referenceImages": [{"ipAdapter": reference}]})
    for found in (newest, older):
        assert found.request.controls[0] == layer
        assert [control.mode for control in found.request.controls] == ["control", "balanced"]
        assert found.request.image_prompts == (prompt,)
        assert found.unmapped == ()
        assert any("pictures that are not in the file" in warning for warning in found.warnings)


def test_invokeais_page_of_upscaling_is_told() -> None:
    found = invoke(
        upscale_model={"name": "4x-UltraSharp", "base": "any", "type": "spandrel_image_to_image"},
        upscale_scale=2,
        upscale_initial_image={"image_name": "x.png", "width": 512, "height": 512},
        creativity=0,
        structure=0,
        tile_size=1024,
        tile_overlap=128,
    )
    request = found.request
    assert request.strength == pytest.approx(0.501)
    assert [(control.kind, control.range) for control in request.controls] == [
        (ControlKind.TILE, (0.0, pytest.approx(0.55))),
        (ControlKind.TILE, (pytest.approx(0.55), 0.85)),
    ]
    assert [control.weight for control in request.controls] == pytest.approx([0.625, 0.21375])
    assert any('enlarged 2 times with "4x-UltraSharp"' in warning for warning in found.warnings)
    assert any("a tile ControlNet" in warning for warning in found.warnings)
    assert found.unmapped == ()


def flow(base: str, **fields: object) -> ImportedRequest:
    """The request of metadata as `buildFLUXGraph.ts` and its kin write them."""
    model = {"key": "f", "name": "a model", "base": base, "type": "main"}
    return invoke(model=model, loras=[], vae=None, clip_skip=None, **fields)


@pytest.mark.parametrize("base", ["flux", "flux2", "sd-3", "z-image"])
@pytest.mark.parametrize("name", ["euler", "heun", "lcm"])
def test_invokeais_flows_have_evenly_spaced_times(base: str, name: str) -> None:
    request = flow(base, scheduler=name).request
    assert (request.sampler, request.schedule) == (name, "simple")
    assert flow("sdxl", scheduler=name).request.schedule == "normal"


@pytest.mark.parametrize(
    ("base", "share"), [("flux", 0.944), ("flux2", 0.944), ("sd-3", 0.944), ("z-image", 0.75)]
)
def test_invokeais_scale_of_strengths_is_bent_for_some_flows(base: str, share: float) -> None:
    """`getDenoisingStartAndEnd`: the fifth root."""
    found = flow(base, strength=0.75)
    assert found.request.strength == pytest.approx(share, abs=1e-3)
    is_told = any("InvokeAI's scale" in told for told in found.warnings)
    assert is_told == (base != "z-image")


def test_invokeais_fill_paints_anew() -> None:
    model = {"name": "FLUX.1 Fill dev", "base": "flux"}
    assert invoke(model=model, strength=0.3).request.strength == 1


def test_settings_that_are_off_and_parts_of_flows_are_not_told() -> None:
    part = {"name": "t5", "base": "any"}
    found = flow(
        "flux",
        t5_encoder=part,
        clip_embed_model=part,
        qwen3_encoder=part,
        dype_preset="off",
        z_image_shift="auto",
        z_image_seed_variance_enabled=False,
        z_image_seed_variance_strength=0.1,
        hidiffusion=False,
        hidiffusion_t1_ratio=0.4,
        positive_style_prompt=INVOKE["positive_prompt"],
    )
    assert found.unmapped == ()
    told = flow("flux", dype_preset="auto", z_image_shift=3, positive_style_prompt="ink").unmapped
    assert {name.key for name in told} == {"dype_preset", "z_image_shift", "positive_style_prompt"}


def test_reference_images_of_flows_are_told() -> None:
    def shown(kind: str, *, on: bool = True) -> tuple[str, ...]:
        config = {"type": kind, "image": {"image_name": "x.png"}, "model": None}
        return flow("flux", ref_images=[{"isEnabled": on, "config": config}]).warnings

    seen = "It was made with reference pictures, which are not in the file."
    assert seen in shown("flux_kontext_reference_image")
    assert seen in shown("flux2_reference_image")
    assert seen not in shown("flux2_reference_image", on=False)
    assert shown("flux_redux")[-1] == "It was led by pictures with Redux, which is not available."


def test_control_layers_of_other_kinds_are_told() -> None:
    layer = {"isEnabled": True, "controlAdapter": {"type": "control_lora", "weight": 0.75}}
    canvas = {"controlLayers": [layer, layer | {"isEnabled": False}]}
    found = flow("flux", canvas_v2_metadata=canvas)
    assert found.request.controls == ()
    assert 'A control layer of the kind "control_lora" is not taken over.' in found.warnings
