"""InvokeAI's pictures: "invokeai_metadata" of version 3 and later, and the older notations.

After `invocations/metadata.py` (CoreMetadataInvocation) and, for "sd-metadata" and "Dream",
`backend/image_util/pngwriter.py` and `frontend/install/import_images.py` of InvokeAI 6.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.api import ConventionName, GenerateRequest, SamplerName, ScheduleName
from engine.api.conventions import CONVENTIONS, Convention, choice_of
from engine.api.fields import bounds_of
from engine.api.lora import LoraChoice
from engine.api.noise_rules import RandomSource
from engine.api.request import GuidanceOptions, RefinerChoice
from engine.metadata.json_text import as_list, as_object, parse_object
from engine.metadata.readers.controls import PICTURES_MISSING
from engine.metadata.readers.denoiser_settings import tiled
from engine.metadata.readers.guidance import with_stated
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    ImportedRequest,
    made_with_checkpoint,
    made_with_refiner,
    made_with_vae,
)
from engine.metadata.readers.invoke_controls import KEYS as CONTROL_KEYS
from engine.metadata.readers.invoke_controls import (
    invoke_control_remarks,
    invoke_controls,
    invoke_image_prompts,
    invoke_reference_remarks,
)
from engine.metadata.readers.invoke_upscales import with_high_resolution, with_upscaling
from engine.metadata.readers.loras import chosen, lora_choice
from engine.metadata.readers.names import INVOKE_SAMPLERS, sampler_of
from engine.metadata.readers.values import Values
from engine.metadata.texts import TextChunk

_DESCRIPTIVE = (
    "app_version", "generation_mode", "rand_device", "model", "loras", "vae", "board_id", "type",
    "imported_app_version", "init_image", "orig_hash",
    "postprocessing", "init_mask", "threshold", "sampler",
    "t5_encoder", "clip_embed_model", "qwen3_encoder", "qwen3_source", "mistral_encoder",
)  # fmt: skip
# Keys that count if the first of them has another value.
_SWITCHED: tuple[tuple[object, tuple[str, ...]], ...] = (
    ("off", ("dype_preset",)),
    ("auto", ("z_image_shift",)),
    (False, ("z_image_seed_variance_enabled", "z_image_seed_variance_strength",
             "z_image_seed_variance_randomize_percent")),
    (False, ("hidiffusion", "hidiffusion_raunet", "hidiffusion_window_attn",
             "hidiffusion_t1_ratio", "hidiffusion_t2_ratio")),
)  # fmt: skip
# Models of rectified flow, and those whose scale of strengths `getDenoisingStartAndEnd` bends, so
# that 0.75 is most of the run.
_FLOWS = frozenset({"flux", "flux2", "sd-3", "z-image"})
_BENT, _EXPONENT = frozenset({"flux", "flux2", "sd-3"}), 0.2
_KARRAS = "_k"
# The texts of SDXL's second encoder, and the prompts.
_STYLES = (
    ("positive_style_prompt", "positive_prompt"), ("negative_style_prompt", "negative_prompt"),
)  # fmt: skip
# Words in square brackets are the negative prompt of versions before 3.
_BRACKETED = re.compile(r"\[([^\[\]]++)\]")
_SWITCH = re.compile(r"(?:^|\s)-([A-Za-z])\s*(\S{1,64})")
_SWITCHES = {
    "s": "steps", "S": "seed", "W": "width", "H": "height", "C": "cfg_scale", "A": "scheduler",
    "f": "strength",
}  # fmt: skip


def from_invoke(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request in the newest of its notations; None if there is none."""
    by_keyword = {chunk.keyword: chunk.text for chunk in reversed(texts)}
    fields = parse_object(by_keyword.get("invokeai_metadata"))
    if fields:
        return _import(fields)
    legacy = parse_object(by_keyword.get("sd-metadata"))
    image = as_object(legacy.get("image"))
    if image:
        return _import(_legacy(legacy, image))
    if "Dream" in by_keyword:
        return _import(_dream(by_keyword["Dream"]))
    return None


def _import(fields: Mapping[str, object]) -> ImportedRequest:
    values = Values(fields)
    values.skip(*_DESCRIPTIVE, *CONTROL_KEYS, *_idle(fields))
    base = _base(fields.get("model"))
    sampler, schedule = _sampler(values, flows=base in _FLOWS)
    width, height = values.sides("width", "height")
    request = GenerateRequest(
        **values.read(
            GenerateRequest,
            prompt="positive_prompt",
            negative_prompt="negative_prompt",
            steps="steps",
            guidance="cfg_scale",
            seed="seed",
        ),
        strength=_strength(values, base),
        width=width,
        height=height,
        sampler=sampler,
        schedule=schedule,
        clip_skip=_clip_skip(values),
        convention=_convention(fields.get("rand_device")),
        guidance_options=GuidanceOptions(
            **values.read(GuidanceOptions, rescale="cfg_rescale_multiplier")
        ),
        denoiser_options=tiled(x=values.flag("seamless_x"), y=values.flag("seamless_y")),
        loras=_loras(fields),
        controls=invoke_controls(fields),
        image_prompts=invoke_image_prompts(fields),
        refiner=_refiner(values),
        expand_wildcards=False,
    )
    request = with_high_resolution(values, request, fields.get("model"))
    request = with_upscaling(values, request)
    # Flux' own; its pictures state no scale of CFG.
    request = with_stated(request, values, "guidance", _name(fields.get("model")))
    remarks = _remarks(fields, request)
    return values.imported(request, remarks, "InvokeAI")


def _idle(fields: Mapping[str, object]) -> Iterator[str]:
    """Yield the keys that say nothing: of what is off, and texts that the prompts say again."""
    for off, keys in _SWITCHED:
        if fields.get(keys[0]) == off:
            yield from keys
    for style, prompt in _STYLES:
        if fields.get(style) == fields.get(prompt):
            yield style


def _clip_skip(values: Values) -> int | None:
    """Return the clip skip; InvokeAI counts the skipped layers."""
    least, most = bounds_of(GenerateRequest, "clip_skip")
    skipped = values.integer("clip_skip", least - 1, most - 1)
    return None if skipped is None else skipped + 1


def _base(model: object) -> str:
    """Return the kind of a model, under "base" in version 4 and "base_model" in version 3."""
    fields = as_object(model)
    return str(fields.get("base") or fields.get("base_model"))


def _strength(values: Values, base: str) -> float | None:
    """Return the share of the run of a picture that was redrawn.

    The setting "optimized denoising", which is on unless a person turns it off, is not in the file.
    """
    stated = values.strength("strength")
    if stated is None or base not in _BENT:
        return stated
    if "fill" in (_name(values.get("model")) or "").casefold():
        return 1.0
    share = stated**_EXPONENT
    values.warnings.append(
        f"Its strength of {stated:g} is by InvokeAI's scale for this kind of model: {share:.3g} "
        "here."
    )
    return share


def _sampler(values: Values, *, flows: bool) -> tuple[SamplerName | None, ScheduleName | None]:
    """Return the sampler and schedule of a diffusers scheduler's name.

    Those of rectified flow have evenly spaced times. DDIM and PNDM visit every n-th timestep, the
    others evenly spaced ones or Karras' schedule.
    """
    name = values.text("scheduler")
    if name is None:
        return None, None
    sampler = sampler_of(INVOKE_SAMPLERS, name)
    schedule = ScheduleName.SIMPLE if flows else ScheduleName.NORMAL
    if name in ("ddim", "pndm", "plms"):
        schedule = ScheduleName.DDIM
    if sampler is None and name.endswith(_KARRAS):
        sampler, schedule = (
            sampler_of(INVOKE_SAMPLERS, name.removesuffix(_KARRAS)),
            ScheduleName.KARRAS,
        )
    if sampler is None:
        values.refuse("scheduler")
        return None, None
    return sampler, schedule


def _refiner(values: Values) -> RefinerChoice | None:
    """Return SDXL's refiner of versions 3 to 5, whose checkpoint is to be chosen."""
    if _name(values.get("refiner_model")) is None:
        values.skip("refiner_start")
        return None
    return RefinerChoice(**values.read(RefinerChoice, switch_at="refiner_start"))


def _convention(device: object) -> ConventionName | Convention:
    """Return InvokeAI's convention; the CPU draws the first noise unless the file says CUDA."""
    base = CONVENTIONS[ConventionName.INVOKE]
    if not isinstance(device, str) or not device.startswith("cuda"):
        return ConventionName.INVOKE
    return choice_of(msgspec.structs.replace(base, random_source=RandomSource.CUDA))


def _name(value: object) -> str | None:
    """Return a model's name, under "name" in version 4 and "model_name" in version 3."""
    fields = as_object(value)
    name = fields.get("name") or fields.get("model_name") or value
    return name if isinstance(name, str) else None


def _loras(fields: Mapping[str, object]) -> tuple[LoraChoice, ...]:
    """Return the LoRAs; the hash of version 4 counts if it is a SHA-256."""
    found: list[LoraChoice | None] = []
    for entry in map(as_object, as_list(fields.get("loras"))):
        model = entry.get("model") or entry.get("lora")
        digits = as_object(model).get("hash")
        found.append(lora_choice(_name(model), entry.get("weight"), digits=digits))
    return chosen(found)


def _remarks(fields: Mapping[str, object], request: GenerateRequest) -> tuple[str, ...]:
    remarks: list[str] = []
    checkpoint, vae = _name(fields.get("model")), _name(fields.get("vae"))
    device = fields.get("rand_device")
    if checkpoint is not None:
        remarks.append(made_with_checkpoint(checkpoint))
    if vae is not None:
        remarks.append(made_with_vae(vae))
    refiner = _name(fields.get("refiner_model"))
    if refiner is not None:
        remarks.append(made_with_refiner(refiner))
    if request.strength is not None:
        remarks.append(MADE_FROM_A_PICTURE)
    if request.controls or request.image_prompts:
        remarks.append(PICTURES_MISSING)
    remarks += (*invoke_control_remarks(fields), *invoke_reference_remarks(fields))
    if isinstance(device, str) and not device.startswith(("cpu", "cuda")):
        remarks.append("Its noise is that of a card of another kind; the picture will differ.")
    return tuple(remarks)


def _legacy(fields: Mapping[str, object], image: Mapping[str, object]) -> dict[str, object]:
    """Map "sd-metadata" of versions 1.15 to 2.3 to version 3's keys; the GPU drew the noise."""
    prompt = image.get("prompt")
    parts = [as_object(part).get("prompt") for part in as_list(prompt)]
    written = next((part for part in (*parts, prompt) if isinstance(part, str)), "")
    strength = image.get("strength")
    names: dict[str, Any] = {
        **image,
        **_prompts(written),
        "prompt": None,
        "scheduler": image.get("sampler"),
        "strength": image.get("strength_steps") if strength is None else strength,
        "model": fields.get("model_weights"),
        "rand_device": "cuda",
    }
    return names


def _dream(text: str) -> dict[str, object]:
    """Read "Dream": a prompt in quotes, and switches as on a command line."""
    prompt, _, switches = text.rpartition('"')
    if not prompt:
        prompt, _, switches = text.partition(" -")
        switches = "-" + switches
    names: dict[str, object] = {
        _SWITCHES[letter]: value
        for letter, value in _SWITCH.findall(switches)
        if letter in _SWITCHES
    }
    return {**names, **_prompts(prompt.strip().removeprefix('"')), "rand_device": "cuda"}


def _prompts(text: str) -> dict[str, object]:
    """Split a prompt into positive and negative prompt; the latter is in square brackets."""
    negative = ", ".join(part.strip(" ,") for part in _BRACKETED.findall(text))
    return {
        "positive_prompt": _BRACKETED.sub("", text).strip(),
        "negative_prompt": negative,
    }
