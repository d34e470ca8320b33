"""Fooocus' pictures: its own JSON, or AUTOMATIC1111's text with other keys.

After `modules/meta_parser.py` of Fooocus 2.5: "fooocus_scheme" names the notation, in EXIF data the
tag MakerNote.
"""

import re

from engine.api import ConventionName, GenerateRequest
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion
from engine.api.fields import bounds_of
from engine.api.lora import LoraChoice
from engine.api.request import RefinerChoice
from engine.metadata.infotext import Infotext, parse_infotext
from engine.metadata.json_text import as_list, parse_object
from engine.metadata.readers.controls import number_of
from engine.metadata.readers.imported import (
    ImportedRequest,
    made_with_checkpoint,
    made_with_refiner,
    made_with_vae,
)
from engine.metadata.readers.loras import chosen, lora_choice, lora_hashes
from engine.metadata.readers.names import (
    ANY_SAMPLERS,
    COMFY_SAMPLERS,
    COMFY_SCHEDULES,
    sampler_of,
    schedule_of,
)
from engine.metadata.readers.values import Values
from engine.metadata.texts import TextChunk

_SCHEMES = {"fooocus_scheme": "parameters", "exif:MakerNote": "exif:UserComment"}
_DESCRIPTIVE = (
    "version", "created_by", "base_model_hash", "refiner_model_hash", "metadata_scheme", "prompt",
    "negative_prompt", "performance", "styles", "full_prompt", "full_negative_prompt",
)  # fmt: skip
# Keys of the other notation, mapped to the names above.
_A1111_KEYS = {
    "Steps": "steps", "Sampler": "sampler", "Scheduler": "scheduler", "Seed": "seed",
    "Size": "size", "CFG scale": "guidance_scale", "Sharpness": "sharpness",
    "ADM Guidance": "adm_guidance", "Model": "base_model", "Model hash": "base_model_hash",
    "Performance": "performance", "VAE": "vae", "Raw prompt": "prompt",
    "Raw negative prompt": "negative_prompt", "Refiner": "refiner_model",
    "Refiner hash": "refiner_model_hash", "Clip skip": "clip_skip", "Lora weights": "lora_weights",
    "Lora hashes": "lora_hashes", "Version": "version", "User": "created_by",
    "Styles": "styles", "FreeU": "freeu", "Refiner Swap Method": "refiner_swap_method",
    "Adaptive CFG": "adaptive_cfg", "Overwrite Switch": "overwrite_switch",
}  # fmt: skip
# What only its own changes of the sampler do (`modules/patch.py`), in words.
_OWN_METHODS = {
    "sharpness": "sharpness",
    "adm_guidance": "guidance of sizes",
    "adaptive_cfg": "adaptive guidance",
}
# Its usual way to change to the refiner: within the run.
_JOINT = "joint"
# "Default (model)": the checkpoint's (`modules/flags.py`).
_OWN_VAE = "Default"
# The most characters of a list of LoRAs.
_MAX_LISTED = 10_000
_RESOLUTION = re.compile(r"\((\d{1,6}), (\d{1,6})\)", re.ASCII)


def from_fooocus(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request in either notation; None if no scheme is named."""
    by_keyword = {chunk.keyword: chunk.text for chunk in reversed(texts)}
    for scheme_key, key in _SCHEMES.items():
        text, scheme = by_keyword.get(key, ""), by_keyword.get(scheme_key)
        if scheme == "fooocus":
            fields = dict(parse_object(text))
            return _import(fields, _joined(fields, ""), _joined(fields, "negative_"))
        if scheme == "a1111":
            info = parse_infotext(text)
            return _import(_fields(info), info.prompt, info.negative_prompt)
    return None


def _joined(fields: dict[str, object], kind: str) -> str:
    """Return the prompts with the styles' words, joined as in the other notation."""
    parts = [str(part) for part in as_list(fields.get(f"full_{kind}prompt"))]
    written = fields.get(f"{kind}prompt")
    return ", ".join(parts) or (written if isinstance(written, str) else "")


def _fields(info: Infotext) -> dict[str, object]:
    return {_A1111_KEYS.get(pair.key, pair.key): pair.value for pair in info.parameters}


def _import(fields: dict[str, object], prompt: str, negative: str) -> ImportedRequest:
    values = Values(fields)
    values.skip(*_DESCRIPTIVE)
    sampler_name = values.text("sampler") or ""
    # "DPM++ 2M SDE Karras": the schedule has its own key as well.
    sampler_name = sampler_name.removesuffix(" Karras")
    sampler = sampler_of(COMFY_SAMPLERS, sampler_name) or sampler_of(ANY_SAMPLERS, sampler_name)
    schedule_name = values.text("scheduler") or ""
    schedule = schedule_of(COMFY_SCHEDULES, schedule_name)
    if sampler_name and sampler is None:
        values.refuse("sampler")
    if schedule_name and schedule is None:
        values.refuse("scheduler")
    width, height = values.size("size") or _resolution(values)
    request = GenerateRequest(
        prompt=prompt,
        negative_prompt=negative,
        width=width,
        height=height,
        **values.read(
            GenerateRequest,
            steps="steps",
            guidance="guidance_scale",
            seed="seed",
            clip_skip="clip_skip",
        ),
        sampler=sampler,
        schedule=schedule,
        convention=ConventionName.COMFY,
        loras=_loras(values),
        denoiser_options=_freeu(values),
        refiner=_refiner(values),
        expand_wildcards=False,
    )
    remarks = _remarks(values)
    return values.imported(request, remarks, "Fooocus")


def _freeu(values: Values) -> DenoiserOptions:
    """Return FreeU by a text such as `(1.01, 1.02, 0.99, 0.95)`: its second version."""
    text = values.text("freeu")
    if text is None:
        return DenoiserOptions()
    numbers = [number_of(part) for part in text.strip("()")[:_MAX_LISTED].split(",")]
    low, high = bounds_of(DenoiserOptions, "freeu_b1")
    known = [number for number in numbers if number is not None and low <= number <= high]
    if len(known) != 4 or len(numbers) != 4:
        values.refuse("freeu")
        return DenoiserOptions()
    b1, b2, s1, s2 = known
    return DenoiserOptions(
        freeu=FreeUVersion.V2, freeu_b1=b1, freeu_b2=b2, freeu_s1=s1, freeu_s2=s2
    )


def _refiner(values: Values) -> RefinerChoice | None:
    """Return the point where a refiner took over within the run; the user chooses its file."""
    name, method = values.text("refiner_model"), values.text("refiner_swap_method")
    switch = values.number("refiner_switch", *bounds_of(RefinerChoice, "switch_at"))
    if name is None or switch is None:
        return None
    if method not in (None, _JOINT):
        values.refuse("refiner_swap_method")
        return None
    values.warnings.append(made_with_refiner(name))
    return RefinerChoice(switch_at=switch)


def _remarks(values: Values) -> tuple[str, ...]:
    checkpoint, vae = values.text("base_model"), values.text("vae")
    remarks = [made_with_checkpoint(checkpoint)] if checkpoint else []
    if vae is not None and not vae.startswith(_OWN_VAE):
        remarks.append(made_with_vae(vae))
    own = [name for key, name in _OWN_METHODS.items() if values.get(key) not in (None, "", "0", 0)]
    if own:
        remarks.append(
            f"Fooocus' own {' and '.join(own)} changed its picture; there is none of it here, so "
            "the picture will differ."
        )
    return tuple(remarks)


def _resolution(values: Values) -> tuple[int | None, int | None]:
    """Return width and height of a text such as `(1024, 768)`."""
    text = values.text("resolution")
    match = _RESOLUTION.fullmatch(text or "")
    if match:
        width, height = int(match[1]), int(match[2])
        least, most = bounds_of(GenerateRequest, "width")
        if least <= min(width, height) and max(width, height) <= most:
            return width, height
    if text is not None:
        values.refuse("resolution")
    return None, None


def _loras(values: Values) -> tuple[LoraChoice, ...]:
    """Return LoRAs from JSON lists, or from texts such as "name: weight"."""
    found: list[LoraChoice | None] = []
    for entry in as_list(values.get("loras")):
        parts = as_list(entry)
        if len(parts) >= 2:
            digits = parts[2] if len(parts) > 2 else None
            found.append(lora_choice(parts[0], parts[1], digits=digits))
    values.skip(*(f"lora_combined_{number}" for number in range(1, 33)))
    hashes = {lora.name: lora.hash for lora in lora_hashes(values.text("lora_hashes"))}
    for entry in (values.text("lora_weights") or "")[:_MAX_LISTED].split(", "):
        name, colon, weight = entry.rpartition(": ")
        if colon:
            found.append(lora_choice(name, weight, digits=hashes.get(name)))
    return chosen(found)
