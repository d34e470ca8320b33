"""Tools that write their settings as one JSON object in "parameters": RuinedFooocus, and spaces.

After `modules/async_worker.py` of RuinedFooocus, and pictures of Hugging Face spaces, which run
diffusers.
"""

from collections.abc import Mapping

from engine.api import ConventionName, GenerateRequest
from engine.api.limits import MAX_CLIP_SKIP, MAX_GUIDANCE, MAX_STEPS
from engine.metadata.json_text import as_list, as_object, parse_object
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    ImportedRequest,
    left_over,
    lora,
    made_with_checkpoint,
    made_with_loras,
)
from engine.metadata.readers.names import (
    COMFY_SAMPLERS,
    COMFY_SCHEDULES,
    EVERY_SAMPLER,
    EVERY_SCHEDULE,
    sampler_of,
    schedule_of,
    split_method,
)
from engine.metadata.readers.values import Values
from engine.metadata.texts import TextChunk

_KEYWORDS = frozenset({"parameters", "exif:UserComment"})
_RUINED = frozenset({"Prompt", "sampler_name", "cfg"})
_SPACE = frozenset({"prompt", "guidance_scale", "num_inference_steps", "sampler"})
_BRACKETS = frozenset("()[]{}")


def from_ruined_fooocus(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """The request of RuinedFooocus' object; None where there is none."""
    fields = _find(texts, _RUINED)
    return None if fields is None else _import_ruined(Values(fields))


def from_space(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """The request of a Hugging Face space's object; None where there is none."""
    fields = _find(texts, _SPACE)
    return None if fields is None else _import_space(Values(fields))


def _find(texts: tuple[TextChunk, ...], keys: frozenset[str]) -> Mapping[str, object] | None:
    """The first object that has all of these keys."""
    for chunk in texts:
        if chunk.keyword in _KEYWORDS and chunk.text.lstrip().startswith("{"):
            fields = parse_object(chunk.text)
            if fields.keys() >= keys:
                return fields
    return None


def _import_ruined(values: Values) -> ImportedRequest:
    values.skip("software", "base_model_hash", "start_step", "version", "loras")
    sampler = sampler_of(COMFY_SAMPLERS, values.text("sampler_name") or "")
    schedule = schedule_of(COMFY_SCHEDULES, values.text("scheduler") or "normal")
    for key, found in (("sampler_name", sampler), ("scheduler", schedule)):
        if found is None:
            values.refuse(key)
    width, height = values.sides("width", "height")
    strength = values.number("denoise", 0, 1)
    request = GenerateRequest(
        prompt=values.text("Prompt") or "",
        negative_prompt=values.text("Negative") or "",
        width=width,
        height=height,
        steps=values.integer("steps", 1, MAX_STEPS),
        guidance=values.number("cfg", 0, MAX_GUIDANCE),
        sampler=sampler,
        schedule=schedule,
        seed=values.seed("seed"),
        clip_skip=values.integer("clip_skip", 1, MAX_CLIP_SKIP),
        convention=ConventionName.COMFY,
        expand_wildcards=False,
    )
    remarks = list(_checkpoint(values, "base_model_name"))
    remarks += made_with_loras(_loras(values))
    if strength is not None and strength < 1:
        remarks.append(MADE_FROM_A_PICTURE)
    return _imported(values, request, remarks, "RuinedFooocus")


def _loras(values: Values) -> list[str]:
    """Objects with a name and a weight, or text such as "0.5 - name"."""
    found: list[str] = []
    for entry in as_list(values.get("loras")):
        fields = as_object(entry)
        if isinstance(fields.get("name"), str):
            found.append(lora(str(fields["name"]), fields.get("weight", 1)))
        elif isinstance(entry, str):
            found.append(entry)
    return found


def _import_space(values: Values) -> ImportedRequest:
    values.skip("Model hash", "use_upscaler", "model", "add_quality_tags", "quality_tags")
    name, fused = split_method(values.text("sampler") or "")
    sampler = sampler_of(EVERY_SAMPLER, name)
    if sampler is None:
        values.refuse("sampler")
    size = values.size("resolution")
    sides = size if size is not None else values.sides("width", "height")
    request = GenerateRequest(
        prompt=values.text("prompt") or "",
        negative_prompt=values.text("negative_prompt") or "",
        width=sides[0],
        height=sides[1],
        steps=values.integer("num_inference_steps", 1, MAX_STEPS),
        guidance=values.number("guidance_scale", 0, MAX_GUIDANCE),
        sampler=sampler,
        schedule=schedule_of(EVERY_SCHEDULE, fused or "normal"),
        seed=values.seed("seed"),
        convention=ConventionName.DIFFUSERS,
        expand_wildcards=False,
    )
    remarks = list(_checkpoint(values, "Model"))
    if _BRACKETS & set(request.prompt + request.negative_prompt):
        remarks.append(
            "Whether its space weighed words by brackets is not known; here they are text."
        )
    return _imported(values, request, remarks, "a Hugging Face space")


def _checkpoint(values: Values, key: str) -> tuple[str, ...]:
    name = values.text(key)
    return (made_with_checkpoint(name),) if name is not None else ()


def _imported(
    values: Values, request: GenerateRequest, remarks: list[str], tool: str
) -> ImportedRequest:
    left = values.unmapped()
    warnings = (*values.warnings, *remarks, *left_over(left))
    return ImportedRequest(request, warnings, tool=tool, unmapped=left)
