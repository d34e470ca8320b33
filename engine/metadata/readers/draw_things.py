"""Draw Things' pictures: JSON in the user comment of an XMP packet, or of EXIF data.

After the app's own reader in `draw-things-community` ("c" is the prompt, "uc" the negative one);
the object under "v2" says the same in the app's numbers.
"""

from collections.abc import Iterator, Mapping

import msgspec

from engine.api import ConventionName, GenerateRequest, SamplerName, ScheduleName
from engine.api.control import MAX_CONTROLS, ControlLayer
from engine.api.conventions import CONVENTIONS, Convention, choice_of
from engine.api.lora import LoraChoice
from engine.api.noise_rules import RandomSource
from engine.api.request import RefinerChoice
from engine.api.second_passes import LatentUpscaler, SecondPass
from engine.metadata.exif import USER_COMMENT
from engine.metadata.json_text import as_list, as_object, parse_object
from engine.metadata.readers.controls import PICTURES_MISSING, number_of, within_bounds
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    ImportedRequest,
    drawn_alike,
    enlarged_afterwards,
    made_with_checkpoint,
    made_with_refiner,
)
from engine.metadata.readers.loras import chosen, lora_choice
from engine.metadata.readers.named_files import file_name
from engine.metadata.readers.names import ANY_SAMPLERS, ANY_SCHEDULES, sampler_of, schedule_of
from engine.metadata.readers.values import Values
from engine.metadata.texts import TextChunk
from engine.metadata.xmp import PNG_PACKET, alternative

_COMMENT = "exif:UserComment"
_OWN = frozenset({"c", "uc", "sampler"})
_DESCRIPTIVE = ("v2", "model", "lora", "control", "seed_mode", "mask_blur", "mask_blur_outset")
# The ends of names of samplers by the schedules that they stand for.
_SCHEDULES = {
    " karras": "karras",
    " trailing": ScheduleName.SGM_UNIFORM.value,
    " ays": ScheduleName.ALIGN_YOUR_STEPS.value,
}
_SUBSTEP = " substep"
_NOISE = {
    "torch cpu compatible": RandomSource.CPU,
    "nvidia gpu compatible": RandomSource.CUDA,
}


def from_draw_things(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of Draw Things' JSON; None if there is none."""
    for chunk in texts:
        comment = chunk.text if chunk.keyword == USER_COMMENT else None
        if chunk.keyword == PNG_PACKET:
            comment = alternative(chunk.text, _COMMENT)
        if comment is not None and comment.lstrip().startswith("{"):
            fields = parse_object(comment)
            if fields.keys() >= _OWN:
                return _import(fields)
    return None


def _import(fields: Mapping[str, object]) -> ImportedRequest:
    values = Values(fields)
    values.skip(*_DESCRIPTIVE)
    sampler, schedule, remarks = _method(values)
    width, height = values.size("size") or (None, None)
    request = GenerateRequest(
        **values.read(
            GenerateRequest,
            prompt="c",
            negative_prompt="uc",
            steps="steps",
            guidance="scale",
            seed="seed",
            clip_skip="clip_skip",
            strength="strength",
        ),
        width=width,
        height=height,
        sampler=sampler,
        schedule=schedule,
        convention=_convention(fields.get("seed_mode")),
        loras=_loras(fields),
        controls=tuple(_controls(fields)),
        refiner=_refiner(values),
        expand_wildcards=False,
    )
    if request.strength == 1:
        # Of a picture that started from none.
        request = msgspec.structs.replace(request, strength=None)
    request = _with_second_pass(values, request)
    return values.imported(request, (*remarks, *_remarks(values, request)), "Draw Things")


def _method(values: Values) -> tuple[SamplerName | None, ScheduleName | None, tuple[str, ...]]:
    """Return sampler and schedule, and a remark on a sampler that only resembles its own."""
    told = values.text("sampler") or ""
    name, schedule = told.casefold(), ScheduleName.NORMAL
    for end, stands_for in _SCHEDULES.items():
        if name.endswith(end):
            name = name.removesuffix(end)
            schedule = schedule_of(ANY_SCHEDULES, stands_for) or ScheduleName(stands_for)
    sampler = sampler_of(ANY_SAMPLERS, name.removesuffix(_SUBSTEP))
    if sampler is None:
        if told:
            values.refuse("sampler")
        return None, None, ()
    alike = (drawn_alike(told, sampler.label),) if name.endswith(_SUBSTEP) else ()
    return sampler, schedule, alike


def _convention(seed_mode: object) -> ConventionName | Convention:
    source = _NOISE.get(str(seed_mode).casefold(), RandomSource.CPU)
    base = CONVENTIONS[ConventionName.A1111]
    return choice_of(msgspec.structs.replace(base, random_source=source, step_source=source))


def _loras(fields: Mapping[str, object]) -> tuple[LoraChoice, ...]:
    found = map(as_object, as_list(fields.get("lora")))
    return chosen(lora_choice(lora.get("model"), lora.get("weight", 1.0)) for lora in found)


def _controls(fields: Mapping[str, object]) -> Iterator[ControlLayer]:
    for control in map(as_object, as_list(fields.get("control"))[:MAX_CONTROLS]):
        start, end = (
            number_of(control.get("guidance_start")),
            number_of(control.get("guidance_end")),
        )
        span = 0.0 if start is None else start, 1.0 if end is None else end
        yield ControlLayer(
            image="",
            network=file_name(control.get("file")) or None,
            weight=within_bounds(ControlLayer, "weight", control.get("weight"), 1.0),
            range=span if 0 <= span[0] <= span[1] <= 1 else (0.0, 1.0),
        )


def _refiner(values: Values) -> RefinerChoice | None:
    if values.text("refiner") is None:
        values.skip("refiner_start")
        return None
    return RefinerChoice(**values.read(RefinerChoice, switch_at="refiner_start"))


def _with_second_pass(values: Values, request: GenerateRequest) -> GenerateRequest:
    """Return the request with its "hires fix": the size is the second pass's."""
    first = values.size("first_stage_size")
    found = values.read(SecondPass, strength="second_stage_strength")
    if not values.flag("hires_fix") or first is None or request.width is None:
        return request
    second = SecondPass(
        width=request.width,
        height=request.height,
        upscaler=LatentUpscaler.BILINEAR.value,
        **found,
    )
    return msgspec.structs.replace(
        request, width=first[0], height=first[1], second_passes=(second,)
    )


def _remarks(values: Values, request: GenerateRequest) -> Iterator[str]:
    model, refiner, upscaler = values.get("model"), values.text("refiner"), values.text("upscaler")
    if isinstance(model, str) and model:
        yield made_with_checkpoint(model)
    if refiner is not None:
        yield made_with_refiner(refiner)
    if upscaler is not None:
        yield enlarged_afterwards(upscaler)
    if request.strength is not None:
        yield MADE_FROM_A_PICTURE
    if request.controls:
        yield PICTURES_MISSING
    if str(values.get("seed_mode")).casefold() not in _NOISE:
        yield "Its noise is Draw Things' own; the picture will differ."
