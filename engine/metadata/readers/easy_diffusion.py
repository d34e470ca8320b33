"""Easy Diffusion's pictures: its request by keys or labels, in the picture or next to it.

After `ui/easydiffusion/utils/save_utils.py` (TASK_TEXT_MAPPING), `ui/media/js/dnd.js`, and sdkit's
`save_dicts`: PNG texts, a JSON comment in JPEG and WebP, or a .txt or .json file next to them.
Texts are in Python's notation: `None`, `['a', 'b']`.
"""

import re
from collections.abc import Mapping
from itertools import starmap, zip_longest
from typing import Any

import msgspec

from engine.api import ConventionName, GenerateRequest, SamplerName
from engine.api.control import MAX_CONTROLS, ControlLayer
from engine.api.conventions import CONVENTIONS, choice_of
from engine.api.denoiser_options import DenoiserOptions
from engine.api.lora import LoraChoice
from engine.api.noise_rules import RandomSource
from engine.metadata.exif import USER_COMMENT
from engine.metadata.json_text import as_list, parse_object
from engine.metadata.readers.controlnet_modules import MODULES
from engine.metadata.readers.controls import PICTURES_MISSING, no_map_of, number_of, within_bounds
from engine.metadata.readers.denoiser_settings import tiled
from engine.metadata.readers.guidance import takes_guidance, with_stated
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    ImportedRequest,
    drawn_alike,
    enlarged_afterwards,
    made_with_checkpoint,
    made_with_vae,
)
from engine.metadata.readers.loras import chosen, lora_choice
from engine.metadata.readers.named_files import file_name
from engine.metadata.readers.names import (
    ANY_SCHEDULES,
    EASY_DIFFUSION_LIKE,
    EASY_DIFFUSION_SAMPLERS,
    sampler_of,
    schedule_of,
)
from engine.metadata.readers.values import Values
from engine.metadata.texts import TextChunk

# The request key for each label.
_LABELS = {
    "Prompt": "prompt", "Negative Prompt": "negative_prompt", "Seed": "seed", "Width": "width",
    "Height": "height", "Steps": "num_inference_steps", "Guidance Scale": "guidance_scale",
    "CFG Scale": "guidance_scale", "Sampler": "sampler_name", "Scheduler": "scheduler_name",
    "Stable Diffusion model": "use_stable_diffusion_model", "VAE model": "use_vae_model",
    "Clip Skip": "clip_skip", "Prompt Strength": "prompt_strength",
    "Denoising Strength": "prompt_strength", "LoRA model": "use_lora_model",
    "LoRA Strength": "lora_alpha", "Distilled Guidance": "distilled_guidance_scale",
    "ControlNet model": "use_controlnet_model", "ControlNet Filter": "control_filter_to_apply",
    "ControlNet Strength": "control_alpha", "Hypernetwork model": "use_hypernetwork_model",
    "Hypernetwork Strength": "hypernetwork_strength", "Embedding models": "use_embeddings_model",
    "Seamless Tiling": "tiling", "Use Face Correction": "use_face_correction",
    "Use Upscaling": "use_upscale", "Upscale By": "upscale_amount",
    "Latent Upscaler Steps": "latent_upscaler_steps",
    "Text Encoder model": "use_text_encoder_model",
}  # fmt: skip
_OWN = frozenset({"num_inference_steps", "use_stable_diffusion_model", "guidance_scale"})
# Keys that matter only with another feature, which is not taken over either.
_DEPENDENT = (
    "distilled_guidance_scale", "hypernetwork_strength", "upscale_amount",
    "latent_upscaler_steps", "num_outputs",
)  # fmt: skip
# The most characters of a list of LoRAs.
_MAX_LISTED = 10_000
_LISTED = re.compile(r"'([^']{0,300})'|\"([^\"]{0,300})\"|(-?\d{1,5}(?:\.\d{1,20})?)")


def from_easy_diffusion(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request in a picture's texts; None if it is not Easy Diffusion's."""
    written = _by_key({chunk.keyword: chunk.text for chunk in reversed(texts)})
    if written is not None:
        return _import(written)
    for chunk in texts:
        if chunk.keyword == USER_COMMENT and chunk.text.startswith("{"):
            written = _by_key(parse_object(chunk.text))
            if written is not None:
                return _import(written)
    return None


def from_sidecar(suffix: str, text: str) -> ImportedRequest | None:
    """Return the request in a .json or .txt file; None if another tool wrote it."""
    if suffix == ".json":
        written = _by_key(parse_object(text))
    else:
        pairs = (line.partition(":") for line in text.splitlines())
        written = _by_key({key.strip(): value.strip() for key, _, value in pairs})
    return _import(written) if written is not None else None


def _by_key(pairs: Mapping[str, object]) -> dict[str, object] | None:
    """Return the values by request keys; None if they are another tool's."""
    named = {_LABELS.get(key, key): value for key, value in pairs.items()}
    return named if len(named.keys() & _OWN) >= 2 else None


def _import(fields: dict[str, object]) -> ImportedRequest:
    known = frozenset(_LABELS.values())
    values = Values({key: value for key, value in fields.items() if key in known})
    sampler_name = values.text("sampler_name") or ""
    sampler, differences = _sampler(values, sampler_name)
    schedule_name = values.text("scheduler_name") or "automatic"
    schedule = schedule_of(ANY_SCHEDULES, schedule_name)
    if schedule is None and schedule_name != "automatic":
        values.refuse("scheduler_name")
    width, height = values.sides("width", "height")
    on_card: dict[str, Any] = dict.fromkeys(("random_source", "step_source"), RandomSource.CUDA)
    base = CONVENTIONS[ConventionName.A1111]
    request = GenerateRequest(
        **values.read(
            GenerateRequest,
            prompt="prompt",
            negative_prompt="negative_prompt",
            steps="num_inference_steps",
            guidance="guidance_scale",
            seed="seed",
            strength="prompt_strength",
        ),
        width=width,
        height=height,
        sampler=sampler,
        schedule=schedule,
        # A flag that leaves out the last layer.
        clip_skip=2 if values.flag("clip_skip") else None,
        convention=choice_of(msgspec.structs.replace(base, **on_card)),
        denoiser_options=_tiling(values),
        loras=_loras(values),
        controls=_controls(values),
        expand_wildcards=False,
    )
    model = next(iter(_names(values.get("use_stable_diffusion_model"))), "")
    # It is written for every model.
    if takes_guidance(model, request.guidance):
        request = with_stated(request, values, "distilled_guidance_scale", model)
    values.skip(*_DEPENDENT)
    return values.imported(request, (*_remarks(values, request), *differences), "Easy Diffusion")


def _sampler(values: Values, name: str) -> tuple[SamplerName | None, tuple[str, ...]]:
    """Return our sampler, and a warning if it only resembles the tool's."""
    like = sampler_of(EASY_DIFFUSION_LIKE, name)
    if like is not None:
        return like, (drawn_alike(name, like.label),)
    sampler = sampler_of(EASY_DIFFUSION_SAMPLERS, name)
    if name and sampler is None:
        values.refuse("sampler_name")
    return sampler, ()


def _tiling(values: Values) -> DenoiserOptions:
    """Return the axes along which the picture continues: none, x, y, or xy for both."""
    axes = values.text("tiling") or "none"
    if axes not in ("none", "x", "y", "xy"):
        values.refuse("tiling")
        axes = "none"
    return tiled(x="x" in axes, y="y" in axes)


def _loras(values: Values) -> tuple[LoraChoice, ...]:
    names, weights = _names(values.get("use_lora_model")), _names(values.get("lora_alpha"))
    return chosen(starmap(lora_choice, zip_longest(names, weights[: len(names)], fillvalue="1")))


def _controls(values: Values) -> tuple[ControlLayer, ...]:
    """Return the ControlNets with the filters that made their maps (sdkit's, as A1111's)."""
    names, weights = _names(values.get("use_controlnet_model")), _names(values.get("control_alpha"))
    filters = _names(values.get("control_filter_to_apply"))
    found: list[ControlLayer] = []
    for place, name in enumerate(map(file_name, names[:MAX_CONTROLS])):
        weight = weights[place] if place < len(weights) else "1"
        module = MODULES.get(filters[place]) if place < len(filters) else None
        if place < len(filters) and module is None:
            values.warnings.append(no_map_of(filters[place]))
        found.append(
            ControlLayer(
                image="",
                network=name or None,
                preprocessor=module.options if module else None,
                weight=within_bounds(ControlLayer, "weight", weight, 1.0),
            )
        )
    return tuple(found)


def _remarks(values: Values, request: GenerateRequest) -> tuple[str, ...]:
    remarks: list[str] = []
    checkpoint, vae = _names(values.get("use_stable_diffusion_model")), values.text("use_vae_model")
    if checkpoint:
        remarks.append(made_with_checkpoint(checkpoint[0]))
    if vae is not None:
        remarks.append(made_with_vae(vae))
    if request.strength is not None:
        remarks.append(MADE_FROM_A_PICTURE)
    if request.controls:
        remarks.append(PICTURES_MISSING)
    remarks += _enlarged(values)
    if any("#" in (values.text(key) or "") for key in ("prompt", "negative_prompt")):
        remarks.append(
            "What follows a # in its prompts is left out, as Easy Diffusion does from version 3.5."
        )
    return tuple(remarks)


def _enlarged(values: Values) -> list[str]:
    """Return the remark on what enlarged the finished picture (`use_upscale`)."""
    upscaler = values.text("use_upscale")
    factor = number_of(values.get("upscale_amount"))
    if upscaler is None:
        return []
    return [enlarged_afterwards(upscaler, "" if factor is None else f"{factor:g} times")]


def _names(value: object) -> list[str]:
    """Return names or numbers from a JSON list, Python's list as text, or text with commas."""
    if isinstance(value, str):
        value = value[:_MAX_LISTED]
        if value.startswith("["):
            return ["".join(groups) for groups in _LISTED.findall(value)]
        value = value.split(", ")
    entries = as_list(value) or [value]
    return [str(entry) for entry in entries if entry not in (None, "", "None")]
