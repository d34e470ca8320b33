"""Pictures that others lead, second passes, and changes of the denoiser's attention and edges."""

from collections.abc import Iterator
from typing import Any

from engine.api.control import ControlLayer, ControlMode
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.image_prompts import ImagePrompt
from engine.api.preprocessors import CannyOptions
from engine.api.request import GuidanceOptions
from engine.api.second_passes import SecondPass
from tests.guard.cases import A1111, COMFY, DIFFUSERS, INVOKE, SDXL, Case, case


def _layer(**changes: Any) -> ControlLayer:
    given: dict[str, Any] = {"image": "wide.png", "network": "control.safetensors"}
    return ControlLayer(**given | changes)


def _prompt(**changes: Any) -> ImagePrompt:
    given: dict[str, Any] = {
        "image": "wide.png",
        "adapter": "adapter.safetensors",
        "encoder": "vision",
    }
    return ImagePrompt(**given | changes)


def controls() -> Iterator[Case]:
    """Control layers."""
    half = _layer(range=(0.2, 0.6), weight=0.8)
    for tool in (A1111, COMFY, DIFFUSERS, INVOKE):
        yield case(f"control {tool}", convention=tool, controls=(half,), steps=6)
    yield case("control prompt", controls=(_layer(mode=ControlMode.PROMPT, weight=1.3),))
    yield case("control control", controls=(_layer(mode=ControlMode.CONTROL),))
    yield case("control masked", controls=(_layer(mask="mask.png"),))
    edges = _layer(preprocessor=CannyOptions(resolution=64))
    yield case("control canny", controls=(edges,))
    yield case("control two", controls=(_layer(weight=0.5), edges))
    larger = SecondPass(scale=1.5, steps=3, strength=0.6)
    yield case("control enlarged", controls=(edges,), second_passes=(larger,))


def image_prompts() -> Iterator[Case]:
    """Image prompts."""
    for tool in (A1111, COMFY, DIFFUSERS):
        prompts = (_prompt(weight=0.8, range=(0.0, 0.6)),)
        yield case(f"image prompt {tool}", convention=tool, image_prompts=prompts, steps=5)
    yield case("image prompt masked", image_prompts=(_prompt(mask="mask.png"),))
    both = (_prompt(weight=0.5), _prompt(image="init.png", weight=-0.4))
    yield case("image prompt two", image_prompts=both)
    led = {"controls": (_layer(),), "image_prompts": (_prompt(),)}
    yield case("image prompt and control", **led)


def second_passes() -> Iterator[Case]:
    """Pictures that are enlarged and redrawn."""
    for name in ("Latent", "Latent (bicubic antialiased)", "lanczos", "area"):
        larger = SecondPass(scale=1.5, upscaler=name, steps=2, strength=0.6)
        yield case(f"enlarged {name}", second_passes=(larger,))
    twice = (SecondPass(scale=1.25, steps=2), SecondPass(scale=1.2, steps=2, prompt="a blue boat"))
    yield case("enlarged twice", second_passes=twice)
    yield case("enlarged sdxl", SDXL, second_passes=(SecondPass(scale=1.5, steps=2),))
    comfy = SecondPass(scale=1.5, upscaler="Latent (bislerp)", steps=2)
    yield case("enlarged comfy", convention=COMFY, second_passes=(comfy,))


def attention() -> Iterator[Case]:
    """Guidance by the denoiser's own attention."""
    for tool in (A1111, COMFY, DIFFUSERS):
        pag = GuidanceOptions(pag_scale=3.0, pag_range=(0.0, 0.7))
        yield case(f"perturbed {tool}", convention=tool, guidance_options=pag)
        sag = GuidanceOptions(sag_scale=0.8, sag_blur=1.5)
        yield case(f"self-attention {tool}", convention=tool, guidance_options=sag)
    layers = GuidanceOptions(pag_scale=2.0, pag_layers=("down", "mid"), rescale=0.4)
    yield case("perturbed layers", guidance_options=layers)


def edges() -> Iterator[Case]:
    """FreeU, and edges that meet."""
    for version in (FreeUVersion.V1, FreeUVersion.V2):
        yield case(f"freeu {version}", denoiser_options=DenoiserOptions(freeu=version))
    part = DenoiserOptions(freeu=FreeUVersion.V2, freeu_b1=1.5, freeu_range=(0.0, 0.5))
    yield case("freeu early", steps=4, denoiser_options=part)
    for tiling in Tiling:
        if tiling is not Tiling.NONE:
            options = DenoiserOptions(tiling=tiling)
            yield case(f"seamless {tiling}", denoiser_options=options)
