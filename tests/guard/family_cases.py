"""Each family and variant, in each layout and type; refiners; what a person says of a file."""

from collections.abc import Iterator

from engine.api.conventions import RefinerHandover
from engine.api.request import CheckpointOverride, ComponentFiles, RefinerChoice, SizeOptions
from engine.api.values import ConventionName, PredictionType, SamplerName, ScheduleName
from tests.guard.canvas_cases import MASKED, PICTURE
from tests.guard.cases import (
    A1111,
    COMFY,
    DIFFUSERS,
    FOLDER,
    SD1,
    SDXL,
    Case,
    case,
    habits,
)
from tests.guard.checkpoints import STARTER

S = SamplerName
_REFINER = "refiner.safetensors"
# With what is chosen for them where a person chooses nothing.
_BY_THEMSELVES = (
    "folder-lcm",
    "told-guidance.safetensors",
    "playground.safetensors",
    "cosxl.safetensors",
    "sd_xl_turbo_1.0.safetensors",
    "sdxl_lightning_1step_x0.safetensors",
)
_MANY_STEPS = ("playground.safetensors", "cosxl.safetensors")
_PLAIN = (
    "sd1-f16.safetensors",
    "sd1-bf16.safetensors",
    "sd1-e4m3.safetensors",
    "sd1-e5m2.safetensors",
    "sd1-scaled.safetensors",
    "sd1-quant.safetensors",
    "sd1.ckpt",
    "sd1-v.safetensors",
    "sd2.safetensors",
    "sd2-v.safetensors",
    "sd2-unstated.safetensors",
    "sdxl.safetensors",
    "sdxl-f16.safetensors",
    "sdxl-v-ztsnr.safetensors",
    "sdxl-folder",
    "ssd-1b.safetensors",
    "vega.safetensors",
    "koala-700m.safetensors",
    "koala-1b.safetensors",
    "told-guidance.safetensors",
    "playground.safetensors",
    "cosxl.safetensors",
    _REFINER,
    "folder-v-ztsnr",
    STARTER,
)


def families() -> Iterator[Case]:
    """Text to picture with each checkpoint."""
    for checkpoint in _PLAIN:
        yield case(f"text {checkpoint}", checkpoint)
    for checkpoint in _BY_THEMSELVES:
        steps = 5 if checkpoint in _MANY_STEPS else None
        yield case(f"text by itself {checkpoint}", checkpoint, guidance=None, steps=steps)
    yield case("text by itself starter", STARTER, guidance=None, steps=6)
    for checkpoint in ("sdxl-v-ztsnr.safetensors", "folder-v-ztsnr"):
        for tool in (COMFY, DIFFUSERS):
            asked = {"convention": tool, "sampler": S.EULER, "steps": 4}
            yield case(f"text {checkpoint} {tool}", checkpoint, **asked)
    for checkpoint in ("playground.safetensors", "cosxl.safetensors"):
        for sampler in (S.EULER_ANCESTRAL, S.DDIM):
            asked = {"sampler": sampler, "schedule": ScheduleName.KARRAS, "steps": 4}
            yield case(f"text {checkpoint} {sampler} comfy", checkpoint, convention=COMFY, **asked)
        yield case(f"redraw {checkpoint}", checkpoint, inputs=PICTURE, strength=0.5, steps=5)
    for family in ("sd2", "sdxl"):
        asked = {"inputs": MASKED, "steps": 4}
        yield case(f"mask {family} 9", f"{family}-inpainting.safetensors", **asked)
        yield case(f"mask {family} 4", f"{family}.safetensors", **asked)
    for tool in ConventionName:
        yield case(f"text sdxl {tool}", SDXL, convention=tool, sampler=S.EULER_ANCESTRAL)


def sizes() -> Iterator[Case]:
    """Sizes that SDXL and its refiner get as time ids, and pictures of another shape."""
    options = SizeOptions(
        original=(80, 48),
        crop=(16, 8),
        target=(72, 64),
        negative_original=(24, 16),
        negative_crop=(2, 1),
        negative_target=(40, 32),
    )
    yield case("sizes told", SDXL, size_options=options)
    scores = SizeOptions(aesthetic_score=7.5, negative_aesthetic_score=1.5)
    yield case("scores told", _REFINER, size_options=scores)
    yield case("wide sdxl", SDXL, width=96, height=64)
    yield case("high starter", STARTER, width=64, height=96)


def refiners() -> Iterator[Case]:
    """Each way of handing over."""
    refined = {"refiner": RefinerChoice(checkpoint=_REFINER, switch_at=0.5), "steps": 4}
    for tool in ConventionName:
        yield case(f"refiner {tool}", SDXL, convention=tool, **refined)
    for handover in RefinerHandover:
        # Which is another step by levels than by steps.
        at = RefinerChoice(checkpoint=_REFINER, switch_at=0.3)
        # Heun's steps have two evaluations.
        sampler = S.HEUN if handover is RefinerHandover.EVALUATION else None
        asked = {"convention": habits(A1111, refiner_handover=handover), "refiner": at}
        yield case(f"refiner by {handover}", SDXL, sampler=sampler, steps=8, **asked)
    ancestral = {"sampler": S.EULER_ANCESTRAL, "convention": COMFY}
    yield case("refiner ancestral", SDXL, **ancestral, **refined)
    yield case("refiner redraw", SDXL, inputs=PICTURE, strength=0.8, **refined)
    late = {"refiner": RefinerChoice(checkpoint=_REFINER, switch_at=0.8), "steps": 5}
    scores = SizeOptions(aesthetic_score=8.0)
    yield case("refiner late with a score", SDXL, size_options=scores, **late)
    other = {"refiner": RefinerChoice(checkpoint="sd1-other.safetensors", switch_at=0.4)}
    yield case("refiner of another kind", SD1, steps=5, **other)
    yield case("refiner batch", SDXL, count=2, seed=8, convention=DIFFUSERS, **refined)


def parts() -> Iterator[Case]:
    """Parts of other files, and what a person says a file is."""
    vae, text = "vae.safetensors", "clip.safetensors"
    yield case("another vae", components=ComponentFiles(vae=vae))
    yield case("another text encoder", components=ComponentFiles(text_encoder=text))
    yield case("another denoiser", components=ComponentFiles(denoiser="unet.safetensors"))
    every = ComponentFiles(text_encoder=text, vae="vae-8.safetensors")
    yield case("every part by itself", "unet.safetensors", components=every)
    yield case("tiny vae", components=ComponentFiles(vae="taesd.safetensors"))
    tiny = {"components": ComponentFiles(vae="taesd.safetensors"), "inputs": PICTURE}
    yield case("tiny vae redraw", strength=0.5, steps=5, **tiny)
    # Flow is of families of its own, and cannot be said of others.
    for prediction in PredictionType:
        if prediction is PredictionType.FLOW:
            continue
        said = CheckpointOverride(prediction=prediction)
        asked = {"override": said, "sampler": S.EULER}
        yield case(f"said to predict {prediction}", "sdxl-f16.safetensors", **asked)
    yield case("said to be SD 1", FOLDER, override=CheckpointOverride(family="sd1"))
