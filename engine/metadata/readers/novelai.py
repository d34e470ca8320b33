"""NovelAI's pictures: PNG texts, or texts hidden in the lowest bits of the alpha channel.

After `nai_meta.py` of NovelAI/novelai-image-metadata and its pictures. Its networks are not public;
the prompt and the settings can be taken over.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.api import ConventionName, GenerateRequest
from engine.api.conventions import CONVENTIONS
from engine.api.noise_rules import RandomSource
from engine.api.request import GuidanceOptions, SeedOptions
from engine.metadata.json_text import as_list, as_object, parse_object
from engine.metadata.readers.imported import MADE_FROM_A_PICTURE, ImportedRequest, plain
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
    "cfg_sched_eligibility", "uncond_per_vibe", "wonky_vibe_correlation", "stream", "legacy_uc",
    "image_format",
)  # fmt: skip
# The kind of request that starts from no picture; the first networks wrote none, and these numbers
# for "strength" and "noise".
_FROM_WORDS, _UNUSED = "PromptGenerateRequest", (0.69, 0.667)
_USUAL = {"uncond_scale": 1, "controlnet_strength": 1}
# Names of NovelAI's first networks, which were Stable Diffusion 1; AUTOMATIC1111 reads their
# pictures with these settings.
_FIRST_SOURCES = ("", "Stable Diffusion ")
_FIRST_CLIP_SKIP, _FIRST_SEED_DELTA = 2, 31337
_BRACKET, _MAX_DEPTH, _MAX_CHARACTERS = 1.05, 60, 64
_ESCAPED = {"(": "\\(", ")": "\\)", "\\": "\\\\"}
_STRONGER, _WEAKER = frozenset("{]"), frozenset("}[")
# The form `1.3::words::`, since the fourth network; a number inside a word does not count.
_MARK = re.compile(r"[{}\[\]]|(?<![\w.])-?(?:\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})::|::", re.ASCII)


def from_novelai(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of NovelAI's texts; None if another tool wrote them."""
    by_keyword = {chunk.keyword: chunk.text for chunk in reversed(texts)}
    if by_keyword.get("Software") != "NovelAI" or "Comment" not in by_keyword:
        return None
    fields = parse_object(by_keyword["Comment"])
    words = fields.get("prompt") or by_keyword.get("Description")
    prompt = _words(fields, "v4_prompt", words)
    negative = _words(fields, "v4_negative_prompt", fields.get("uc"))
    values = Values(fields)
    values.skip("prompt", "uc", *_DESCRIPTIVE)
    values.skip(*(key for key, usual in _USUAL.items() if fields.get(key) == usual))
    return _import(values, prompt, negative, by_keyword.get("Source", ""))


class _Words(msgspec.Struct, frozen=True):
    """A prompt in AUTOMATIC1111's grammar; it ends with prompts of `characters` characters."""

    text: str
    characters: int = 0


def _words(fields: Mapping[str, object], key: str, otherwise: object) -> _Words:
    """Return the prompt from the fourth network's caption, else from earlier networks' text."""
    numbers = key in fields
    caption = as_object(as_object(fields.get(key)).get("caption"))
    base = caption.get("base_caption") or otherwise
    characters = [
        words
        for character in as_list(caption.get("char_captions"))[:_MAX_CHARACTERS]
        if isinstance(words := as_object(character).get("char_caption"), str) and words.strip()
    ]
    texts = (base if isinstance(base, str) else "", *characters)
    written = (as_weights(text, numbers=numbers) for text in texts if text)
    return _Words(", ".join(written), len(characters))


def _import(values: Values, prompt: _Words, negative: _Words, source: str) -> ImportedRequest:
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
    base = CONVENTIONS[ConventionName.A1111]
    on_card: dict[str, Any] = dict.fromkeys(("random_source", "step_source"), RandomSource.CUDA)
    # Its prompts know only weights: comments, changes over the steps and LoRAs are text.
    on_card["prompt_features"] = ()
    request = GenerateRequest(
        prompt=prompt.text,
        negative_prompt=negative.text,
        **values.read(GenerateRequest, steps="steps", guidance="scale", seed="seed"),
        strength=_strength(values),
        width=width,
        height=height,
        sampler=sampler,
        schedule=schedule,
        clip_skip=_FIRST_CLIP_SKIP if is_first else None,
        convention=msgspec.structs.replace(base, **on_card),
        seed_options=SeedOptions(eta_seed_delta=_FIRST_SEED_DELTA if is_first else 0),
        guidance_options=GuidanceOptions(**values.read(GuidanceOptions, rescale="cfg_rescale")),
        expand_wildcards=False,
    )
    remarks = _remarks(source, (prompt, negative), has_init=request.strength is not None)
    return values.imported(request, remarks, "NovelAI")


def _strength(values: Values) -> float | None:
    """Return the strength of a picture that began with another one."""
    written = values.get("strength"), values.get("noise")
    if values.get("request_type") == _FROM_WORDS or written == _UNUSED:
        return None
    return values.strength("strength")


def _remarks(source: str, words: tuple[_Words, _Words], *, has_init: bool) -> tuple[str, ...]:
    remarks = ["It was made with a network of NovelAI's own, which there is no file of."]
    if source:
        remarks[0] = f'It was made with NovelAI\'s "{plain(source)}", which there is no file of.'
    if any(text.characters for text in words):
        remarks.append(
            "It describes characters apart from the scene, each at a place of its own; "
            "here their words follow the prompt's."
        )
    if has_init:
        remarks.append(MADE_FROM_A_PICTURE)
    return tuple(remarks)


def as_weights(text: str, *, numbers: bool = False) -> str:
    """Convert a prompt to AUTOMATIC1111's grammar; `{words}` are 1.05 times as strong.

    `[words]` are weaker by the same factor. With `numbers`, `1.3::words::` are 1.3 times as strong.
    Brackets nest and multiply; unpaired ones count, too. Parentheses are plain characters.
    """
    return "".join(_weighted(text, numbers=numbers))


def _weighted(text: str, *, numbers: bool) -> Iterator[str]:
    """Yield the pieces of the prompt, each written with its weight."""
    words: list[str] = []
    depth = position = 0
    number: float | None = None

    def end() -> str:
        run = "".join(_ESCAPED.get(character, character) for piece in words for character in piece)
        words.clear()
        strength = _BRACKET ** max(-_MAX_DEPTH, min(depth, _MAX_DEPTH))
        weight = _written(strength * (1.0 if number is None else number))
        return f"({run}:{weight})" if run.strip() and weight != "1" else run

    for match in _MARK.finditer(text):
        words.append(text[position : match.start()])
        position, mark = match.end(), match[0]
        is_number = len(mark) > 1
        if is_number and (not numbers or (mark == "::" and number is None)):
            words.append(mark)
            continue
        yield end()
        if is_number:
            number = None if mark == "::" else float(mark[:-2])
        else:
            depth += (mark in _STRONGER) - (mark in _WEAKER)
    words.append(text[position:])
    yield end()


def _written(weight: float) -> str:
    """Format a number without an exponent, as AUTOMATIC1111 reads it."""
    text = f"{weight:.6g}"
    return text if "e" not in text else f"{weight:.9f}".rstrip("0").rstrip(".")
