"""Pictures that are painted over: redrawn, masked, grown, edited, in tiles."""

from collections.abc import Iterator

from engine.api.masks import MaskedContent, MaskOptions
from engine.api.request import GuidanceOptions, InputImage
from engine.api.values import ConventionName, InputRole, SamplerName
from tests.guard.cases import A1111, COMFY, DIFFUSERS, FOLDER, SD1, SDXL, Case, case, habits

S = SamplerName


def init(name: str) -> InputImage:
    """A picture to start from."""
    return InputImage(role=InputRole.INIT, path=name)


def mask(name: str) -> InputImage:
    """The painted part of the picture."""
    return InputImage(role=InputRole.MASK, path=name)


PICTURE = (init("init.png"),)
MASKED = (init("init.png"), mask("mask.png"))
_HALF = {"inputs": PICTURE, "strength": 0.5, "steps": 5}
_PAINTED = {"inputs": MASKED, "steps": 4}


def redrawing() -> Iterator[Case]:
    """A picture as the beginning, with each tool's steps."""
    for tool in ConventionName:
        yield case(f"redraw {tool}", FOLDER, convention=tool, sampler=S.EULER, **_HALF)
    yield case("redraw ancestral", sampler=S.EULER_ANCESTRAL, **_HALF)
    yield case("redraw ddim", sampler=S.DDIM, **_HALF)
    yield case("redraw dpm_fast", sampler=S.DPM_FAST, **_HALF)
    yield case("redraw all", **{**_HALF, "strength": 1.0})
    yield case("redraw nothing", **{**_HALF, "strength": 0.0})
    yield case("redraw another shape", **{**_HALF, "inputs": (init("wide.png"),)})
    yield case("redraw with alpha", **{**_HALF, "inputs": (init("clear.png"),)})
    yield case("redraw batch", count=2, **_HALF)
    yield case("redraw sdxl", SDXL, **_HALF)
    drawn = habits(A1111, samples_encoded=True)
    yield case("redraw sampled", convention=drawn, **_HALF)
    yield case("redraw by the default strength", inputs=PICTURE, steps=5)


def masking() -> Iterator[Case]:
    """Masks: each tool's, each content, each option, each number of channels."""
    for tool in ConventionName:
        yield case(f"mask {tool}", FOLDER, convention=tool, strength=0.7, **_PAINTED)
        yield case(f"mask {tool} 9", "folder-inpainting", convention=tool, **_PAINTED)
    for content in MaskedContent:
        options = MaskOptions(content=content, blur=2)
        yield case(f"mask filled with {content}", mask_options=options, strength=0.8, **_PAINTED)
    yield case("mask inverted", mask_options=MaskOptions(inverted=True, blur=0), **_PAINTED)
    yield case("mask blurred", mask_options=MaskOptions(blur=9), **_PAINTED)
    only = MaskOptions(only_masked=True, padding=6)
    yield case("mask only", mask_options=only, **_PAINTED)
    yield case("mask only comfy", mask_options=only, convention=COMFY, **_PAINTED)
    large = (init("wide.png"), mask("wide-mask.png"))
    yield case("mask only of a large one", mask_options=only, inputs=large, steps=4)
    yield case("mask only 9", "sd1-inpainting.safetensors", mask_options=only, **_PAINTED)
    other = (init("init.png"), mask("wide-mask.png"))
    yield case("mask of another size", inputs=other, steps=4)
    for sampler in (S.EULER_ANCESTRAL, S.DDIM, S.HEUN, S.DPMPP_2M_SDE):
        yield case(f"mask {sampler}", sampler=sampler, **_PAINTED)
    yield case("mask ddim comfy", sampler=S.DDIM, convention=COMFY, **_PAINTED)
    kept = habits(A1111, pastes_kept=False)
    yield case("mask without pasting", convention=kept, **_PAINTED)
    yield case("mask batch", count=2, **_PAINTED)
    yield case("no mask 9", "sd1-inpainting.safetensors", **_HALF)
    yield case("from nothing 9", "sd1-inpainting.safetensors")


def growing() -> Iterator[Case]:
    """A canvas that grows."""
    grown = MaskOptions(expand=(16, 8, 0, 8), feather=6)
    asked = {"inputs": PICTURE, "mask_options": grown, "steps": 4, "width": None, "height": None}
    for tool in (A1111, COMFY, DIFFUSERS):
        yield case(f"grow {tool}", convention=tool, **asked)
    yield case("grow 9", "sd1-inpainting.safetensors", **asked)
    noise = MaskOptions(expand=(0, 0, 17, 0), content=MaskedContent.LATENT_NOISE)
    yield case("grow with noise", **{**asked, "mask_options": noise})
    yield case("grow masked", **{**asked, "inputs": MASKED})
    yield case("grow smaller", **{**asked, "width": 64, "height": 64})


def editing() -> Iterator[Case]:
    """Instructions, for denoisers that see the picture."""
    asked = {"inputs": PICTURE, "steps": 4, "prompt": "make the horse blue"}
    for checkpoint in ("sd1-edit", "sd2-edit", "sdxl-edit", "cosxl-edit"):
        yield case(f"edit {checkpoint}", f"{checkpoint}.safetensors", **asked)
    edit = "sd1-edit.safetensors"
    for tool in (COMFY, DIFFUSERS):
        yield case(f"edit {tool}", edit, convention=tool, **asked)
    strict = GuidanceOptions(image_guidance=3.0, rescale=0.5)
    yield case("edit strictly", edit, guidance_options=strict, **asked)
    loose = GuidanceOptions(image_guidance=1.0)
    yield case("edit loosely", edit, guidance_options=loose, **asked)
    yield case("edit masked", edit, **{**asked, "inputs": MASKED})
    yield case("edit half", edit, strength=0.5, **asked)


def tiles() -> Iterator[Case]:
    """Pictures that the VAE sees in parts."""
    wide = {"width": 320, "height": 64, "steps": 1, "vae_tile": 256}
    yield case("tiles", SD1, **wide)
    yield case("tiles redraw", SD1, inputs=(init("wide.png"),), strength=0.6, **wide)
    yield case("tiles sdxl", SDXL, **wide)
