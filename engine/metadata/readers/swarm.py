"""SwarmUI's pictures: JSON with the parameters of its page.

After `docs/Image Metadata Format.md`, `Text2Image/T2IParamTypes.cs` and the nodes it gives ComfyUI,
`SwarmKSampler.py`: one picture at a time, its noise from the processor.
"""

from typing import Any

import msgspec

from engine.api import ConventionName, GenerateRequest
from engine.api.conventions import CONVENTIONS, BatchSeeds, Convention, RandomSource, choice_of
from engine.api.limits import MAX_CLIP_SKIP, MAX_GUIDANCE, MAX_STEPS
from engine.api.request import GuidanceOptions, ScheduleOptions, SeedOptions
from engine.metadata.json_text import as_list, as_object, parse_object
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    ImportedRequest,
    left_over,
    lora,
    made_with_checkpoint,
    made_with_loras,
    made_with_vae,
)
from engine.metadata.readers.names import COMFY_SAMPLERS, COMFY_SCHEDULES, sampler_of, schedule_of
from engine.metadata.readers.values import Values
from engine.metadata.texts import TextChunk

_KEYWORDS = frozenset({"parameters", "exif:UserComment", "exif:Model"})
_DESCRIPTIVE = (
    "swarm_version", "aspectratio", "automaticvae", "images", "batchsize", "personalnote",
    "donotsave", "nopreviews", "imageformat", "modelspecificenhancements", "sidelength",
    "wildcardseed", "noseedincrement", "date", "originalprompt",
)  # fmt: skip
_MAX_OPTION = 10_000.0
# Characters of a list of LoRAs.
_MAX_LISTED = 10_000


def from_swarm(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """The request of its parameters; None where there are none."""
    for chunk in texts:
        if chunk.keyword in _KEYWORDS and '"sui_image_params"' in chunk.text:
            parameters = as_object(parse_object(chunk.text).get("sui_image_params"))
            if parameters:
                return _import(Values(parameters))
    return None


def _import(values: Values) -> ImportedRequest:
    values.skip(*_DESCRIPTIVE)
    sampler_name = values.text("sampler") or "euler"
    sampler = sampler_of(COMFY_SAMPLERS, sampler_name)
    schedule = schedule_of(COMFY_SCHEDULES, values.text("scheduler") or "normal")
    for key, found in (("sampler", sampler), ("scheduler", schedule)):
        if found is None:
            values.refuse(key)
    width, height = values.sides("width", "height")
    last_layer = values.integer("clipstopatlayer", -MAX_CLIP_SKIP, -1)
    variation = values.number("variationseedstrength", 0, 1) or 0.0
    strength = values.number("initimagecreativity", 0, 1)
    request = GenerateRequest(
        prompt=values.text("prompt") or "",
        negative_prompt=values.text("negativeprompt") or "",
        width=width,
        height=height,
        steps=values.integer("steps", 1, MAX_STEPS),
        guidance=values.number("cfgscale", 0, MAX_GUIDANCE),
        sampler=sampler,
        schedule=schedule,
        seed=values.seed("seed"),
        clip_skip=None if last_layer is None else -last_layer,
        strength=strength,
        convention=_convention(sampler_name),
        schedule_options=ScheduleOptions(
            sigma_min=values.number("samplersigmamin", 0, _MAX_OPTION) or None,
            sigma_max=values.number("samplersigmamax", 0, _MAX_OPTION) or None,
            rho=values.number("samplerrho", 0, _MAX_OPTION) or None,
        ),
        seed_options=SeedOptions(
            variation_seed=values.seed("variationseed") if variation else None,
            variation_strength=variation,
        ),
        guidance_options=_guidance(values),
        expand_wildcards=False,
    )
    warnings = (*values.warnings, *_remarks(values, has_init=strength is not None))
    return ImportedRequest(request, warnings, tool="SwarmUI", unmapped=values.unmapped())


def _guidance(values: Values) -> GuidanceOptions:
    return GuidanceOptions(rescale=values.number("rescalecfgmultiplier", 0, 1) or 0.0)


def _convention(sampler: str) -> ConventionName | Convention:
    base = CONVENTIONS[ConventionName.COMFY]
    changes: dict[str, Any] = {"batch_seeds": BatchSeeds.SUCCESSIVE}
    if "sde" in sampler:
        on_card = sampler.endswith("_gpu")
        changes["step_source"] = RandomSource.CUDA if on_card else RandomSource.CPU
    return choice_of(msgspec.structs.replace(base, **changes))


def _remarks(values: Values, *, has_init: bool) -> tuple[str, ...]:
    remarks: list[str] = []
    checkpoint, vae = values.text("model"), values.text("vae")
    if checkpoint is not None:
        remarks.append(made_with_checkpoint(checkpoint))
    if vae is not None:
        remarks.append(made_with_vae(vae))
    names, weights = _listed(values.get("loras")), _listed(values.get("loraweights"))
    weights += ["1"] * (len(names) - len(weights))
    remarks += made_with_loras(
        lora(name, weight) for name, weight in zip(names, weights, strict=False)
    )
    if has_init:
        remarks.append(MADE_FROM_A_PICTURE)
    return (*remarks, *left_over(values.unmapped()))


def _listed(value: object) -> list[str]:
    """A list: JSON's, or text with commas."""
    if isinstance(value, str):
        return [part.strip() for part in value[:_MAX_LISTED].split(",")]
    return [str(part) for part in as_list(value) if isinstance(part, str | int | float)]
