"""Tools that write one JSON object under "parameters": RuinedFooocus, and Hugging Face spaces.

After `modules/async_worker.py` of RuinedFooocus, and pictures of spaces that run diffusers.
"""

from collections.abc import Mapping

from engine.api import ConventionName, GenerateRequest
from engine.api.lora import LoraChoice
from engine.metadata.json_text import as_list, as_object, parse_object
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    ImportedRequest,
    made_with_checkpoint,
)
from engine.metadata.readers.loras import chosen, lora_choice
from engine.metadata.readers.names import (
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
    """Return the request of RuinedFooocus' object; None if there is none."""
    fields = _find(texts, _RUINED)
    return None if fields is None else _import_ruined(Values(fields))


def from_space(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of a Hugging Face space's object; None if there is none."""
    fields = _find(texts, _SPACE)
    return None if fields is None else _import_space(Values(fields))


def _find(texts: tuple[TextChunk, ...], keys: frozenset[str]) -> Mapping[str, object] | None:
    """Return the first object that has all of these keys."""
    for chunk in texts:
        if chunk.keyword in _KEYWORDS and chunk.text.lstrip().startswith("{"):
            fields = parse_object(chunk.text)
            if fields.keys() >= keys:
                return fields
    return None


def _import_ruined(values: Values) -> ImportedRequest:
    values.skip("software", "base_model_hash", "start_step", "version", "loras")
    sampler, schedule = values.comfy_method("sampler_name")
    width, height = values.sides("width", "height")
    strength = values.strength("denoise")
    request = GenerateRequest(
        **values.read(
            GenerateRequest,
            prompt="Prompt",
            negative_prompt="Negative",
            steps="steps",
            guidance="cfg",
            seed="seed",
            clip_skip="clip_skip",
        ),
        width=width,
        height=height,
        sampler=sampler,
        schedule=schedule,
        convention=ConventionName.COMFY,
        loras=_loras(values),
        expand_wildcards=False,
    )
    remarks = list(_checkpoint(values, "base_model_name"))
    if strength is not None and strength < 1:
        remarks.append(MADE_FROM_A_PICTURE)
    return values.imported(request, remarks, "RuinedFooocus")


def _loras(values: Values) -> tuple[LoraChoice, ...]:
    """Return the LoRAs: objects, texts such as "0.5 - name", or pairs of a hash and such a text."""
    found: list[LoraChoice | None] = []
    for entry in as_list(values.get("loras")):
        fields, pair = as_object(entry), as_list(entry)
        if fields:
            found.append(lora_choice(fields.get("name"), fields.get("weight", 1)))
            continue
        digits, text = pair if len(pair) == 2 else (None, entry)
        if isinstance(text, str):
            weight, dash, name = text.partition(" - ")
            found.append(lora_choice(name if dash else text, weight, digits=digits))
    return chosen(found)


def _import_space(values: Values) -> ImportedRequest:
    values.skip("Model hash", "use_upscaler", "model", "add_quality_tags", "quality_tags")
    name, fused = split_method(values.text("sampler") or "")
    sampler = sampler_of(EVERY_SAMPLER, name)
    if sampler is None:
        values.refuse("sampler")
    size = values.size("resolution")
    sides = size if size is not None else values.sides("width", "height")
    request = GenerateRequest(
        **values.read(
            GenerateRequest,
            prompt="prompt",
            negative_prompt="negative_prompt",
            steps="num_inference_steps",
            guidance="guidance_scale",
            seed="seed",
        ),
        width=sides[0],
        height=sides[1],
        sampler=sampler,
        schedule=schedule_of(EVERY_SCHEDULE, fused or "normal"),
        convention=ConventionName.DIFFUSERS,
        expand_wildcards=False,
    )
    remarks = list(_checkpoint(values, "Model"))
    if _BRACKETS & set(request.prompt + request.negative_prompt):
        remarks.append(
            "Whether its space weighed words by brackets is not known; here they are text."
        )
    return values.imported(request, remarks, "a Hugging Face space")


def _checkpoint(values: Values, key: str) -> tuple[str, ...]:
    name = values.text(key)
    return (made_with_checkpoint(name),) if name is not None else ()
