"""NovelAI's pictures: PNG texts, or the same hidden in the lowest bits of the alpha channel.

After `nai_meta.py` of NovelAI/novelai-image-metadata and what its pictures hold. Its networks are
its own; what can be taken over are the words and the settings.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.api import ConventionName, GenerateRequest
from engine.api.conventions import CONVENTIONS, RandomSource
from engine.api.limits import MAX_GUIDANCE, MAX_STEPS
from engine.api.request import GuidanceOptions, SeedOptions
from engine.metadata.json_text import as_object, parse_object
from engine.metadata.readers.imported import MADE_FROM_A_PICTURE, ImportedRequest, left_over, plain
from engine.metadata.readers.names import (
    NOVELAI_SAMPLERS,
    NOVELAI_SCHEDULES,
    sampler_of,
    schedule_of,
)
from engine.metadata.readers.values import Values
from engine.metadata.texts import TextChunk

_DESCRIPTIVE = (
    "n_samples", "hide_debug_overlay", "request_type", "signed_hash", "version", "v4_prompt",
    "v4_negative_prompt", "dynamic_thresholding_percentile", "dynamic_thresholding_mimic_scale",
    "ucPreset", "qualityToggle", "params_version", "noise", "extra_noise_seed", "legacy",
    "legacy_v3_extend", "add_original_image", "prefer_brownian", "use_coords",
)  # fmt: skip
_USUAL = {"uncond_scale": 1, "controlnet_strength": 1}
# Of its first networks, which were Stable Diffusion 1: AUTOMATIC1111 reads them like that.
_FIRST_SOURCES = ("", "Stable Diffusion ")
_FIRST_CLIP_SKIP, _FIRST_SEED_DELTA = 2, 31337
_BRACKET, _MAX_DEPTH = 1.05, 60
_ESCAPED = {"(": "\\(", ")": "\\)", "\\": "\\\\"}
_STRONGER, _WEAKER = frozenset("{]"), frozenset("}[")


def from_novelai(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """The request of its texts; None where it did not write them."""
    by_keyword = {chunk.keyword: chunk.text for chunk in reversed(texts)}
    if by_keyword.get("Software") != "NovelAI" or "Comment" not in by_keyword:
        return None
    fields = parse_object(by_keyword["Comment"])
    prompt = _caption(fields, "v4_prompt") or fields.get("prompt") or by_keyword.get("Description")
    negative = _caption(fields, "v4_negative_prompt") or fields.get("uc")
    values = Values(fields)
    values.skip("prompt", "uc", *_DESCRIPTIVE)
    values.skip(*(key for key, usual in _USUAL.items() if fields.get(key) == usual))
    return _import(values, str(prompt or ""), str(negative or ""), by_keyword.get("Source", ""))


def _caption(fields: Mapping[str, object], key: str) -> str:
    caption = as_object(as_object(fields.get(key)).get("caption")).get("base_caption")
    return caption if isinstance(caption, str) else ""


def _import(values: Values, prompt: str, negative: str, source: str) -> ImportedRequest:
    sampler_name = values.text("sampler") or ""
    schedule_name = values.text("noise_schedule") or "native"
    sampler = sampler_of(NOVELAI_SAMPLERS, sampler_name)
    schedule = schedule_of(NOVELAI_SCHEDULES, schedule_name)
    if sampler_name and sampler is None:
        values.refuse("sampler")
    if schedule is None:
        values.refuse("noise_schedule")
    is_first = not source or (source.startswith(_FIRST_SOURCES[1]) and "XL" not in source)
    width, height = values.sides("width", "height")
    strength = values.number("strength", 0, 1)
    base = CONVENTIONS[ConventionName.A1111]
    on_card: dict[str, Any] = dict.fromkeys(("random_source", "step_source"), RandomSource.CUDA)
    request = GenerateRequest(
        prompt=as_weights(prompt),
        negative_prompt=as_weights(negative),
        width=width,
        height=height,
        steps=values.integer("steps", 1, MAX_STEPS),
        guidance=values.number("scale", 0, MAX_GUIDANCE),
        sampler=sampler,
        schedule=schedule,
        seed=values.seed("seed"),
        clip_skip=_FIRST_CLIP_SKIP if is_first else None,
        strength=strength,
        convention=msgspec.structs.replace(base, **on_card),
        seed_options=SeedOptions(eta_seed_delta=_FIRST_SEED_DELTA if is_first else 0),
        guidance_options=GuidanceOptions(rescale=values.number("cfg_rescale", 0, 1) or 0.0),
        expand_wildcards=False,
    )
    remarks = ["It was made with a network of NovelAI's own, which there is no file of."]
    if source:
        remarks[0] = f'It was made with NovelAI\'s "{plain(source)}", which there is no file of.'
    if strength is not None:
        remarks.append(MADE_FROM_A_PICTURE)
    left = values.unmapped()
    return ImportedRequest(
        request, (*values.warnings, *remarks, *left_over(left)), tool="NovelAI", unmapped=left
    )


def as_weights(text: str) -> str:
    """Its prompt in AUTOMATIC1111's grammar: `{words}` is 1.05 times as strong, `[words]` weaker.

    Brackets nest and multiply; those that lack their other half count all the same. Parentheses are
    plain characters to it.
    """
    written: list[str] = []
    words: list[str] = []
    depth = 0

    def end() -> None:
        run = "".join(words)
        words.clear()
        weight = f"{_BRACKET ** max(-_MAX_DEPTH, min(depth, _MAX_DEPTH)):.6g}"
        written.append(f"({run}:{weight})" if run.strip() and weight != "1" else run)

    for character in text:
        step = (character in _STRONGER) - (character in _WEAKER)
        if not step:
            words.append(_ESCAPED.get(character, character))
            continue
        end()
        depth += step
    end()
    return "".join(written)
