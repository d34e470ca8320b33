"""AUTOMATIC1111's text, which Forge, SD.Next and many other tools write as well.

After `modules/infotext_utils.py:parse_generation_parameters`, `modules/processing.py:
create_infotext` and the code that fills `extra_generation_params`, version 1.10.1; Forge 2.0.1.
"""

import math
import re
from functools import partial
from typing import Any

import msgspec

from engine.api import ConventionName, GenerateRequest, SamplerName, ScheduleName
from engine.api.control_rules import FORGE_CONTROL
from engine.api.conventions import CONVENTIONS, Convention, RefinerHandover, choice_of
from engine.api.fields import bounds_of
from engine.api.lora import LoraChoice
from engine.api.masks import MaskedContent, MaskOptions
from engine.api.noise_rules import InitialNoise, RandomSource
from engine.api.prompt_rules import Emphasis, PromptFeature
from engine.api.request import (
    GuidanceOptions,
    RefinerChoice,
    SamplerOptions,
    SeedOptions,
)
from engine.metadata.exif import USER_COMMENT
from engine.metadata.infotext import Infotext, parse_infotext, without_templates
from engine.metadata.jpeg import COMMENT
from engine.metadata.json_text import parse_object
from engine.metadata.readers.a1111_hires import first_size, hires_remarks, read_hires
from engine.metadata.readers.a1111_keys import (
    DESCRIPTIVE,
    HABITS,
    REFINED_BY_LEVEL,
    SCHEDULE_APART,
    USUAL,
    forges_modules,
    is_distilled,
    is_forges,
    keeps_comments,
    old_habits,
    stated_convention,
    version_of,
    with_usual_keys,
)
from engine.metadata.readers.controlnet_units import controlnet_units
from engine.metadata.readers.denoiser_settings import infotext_attention, infotext_denoiser
from engine.metadata.readers.embeddings import embedding_hashes, embedding_remarks
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    ImportedRequest,
    enlarged_afterwards,
    left_over,
    made_with_checkpoint,
    made_with_refiner,
    made_with_vae,
    plain,
)
from engine.metadata.readers.loras import (
    additional_networks,
    civitai_loras,
    lora_hashes,
)
from engine.metadata.readers.names import (
    A1111_AUTOMATIC,
    A1111_OWN_TIMESTEPS,
    ANY_SAMPLERS,
    ANY_SCHEDULES,
    sampler_of,
    schedule_of,
    split_method,
)
from engine.metadata.readers.options import read_schedule_options
from engine.metadata.readers.values import Values
from engine.metadata.texts import PARAMETERS_KEYWORD, TextChunk

_SCHEDULE_KEYS = {
    "sigma_min": "Schedule min sigma",
    "sigma_max": "Schedule max sigma",
    "rho": "Schedule rho",
}
_LORA = re.compile(r"<lora:([^:<>]{1,200})(?::([^<>]{0,100}))?>")
# The beginning of the keys of sd-webui-additional-networks.
_ADDNET = "AddNet "
_EMPHASIS = {
    "original": Emphasis.ORIGINAL,
    "no norm": Emphasis.NO_NORM,
    "ignore": Emphasis.NONE,
    "none": Emphasis.LITERAL,
}
_RESCALE = ("CFG Rescale", "CFG rescale", "CFG Rescale φ", "CFG Rescale phi", "CFG Rescale fi")


def from_a1111(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of the first text in this notation; None if there is none."""
    for chunk in texts:
        # A JSON object belongs to another tool; a prompt may begin like one.
        if chunk.text.lstrip().startswith("{") and parse_object(chunk.text):
            continue
        info = parse_infotext(without_templates(chunk.text))
        # A comment may be any text; a text under its own keyword may be a prompt alone.
        own = chunk.keyword == PARAMETERS_KEYWORD
        if own or (chunk.keyword in (USER_COMMENT, COMMENT) and info.parameters):
            return import_infotext(info)
    return None


def import_infotext(info: Infotext) -> ImportedRequest:
    """Return the request that a parsed text describes."""
    info = with_usual_keys(info)
    values = Values({pair.key: pair.value for pair in info.parameters})
    values.skip(*DESCRIPTIVE)
    values.skip(*(key for key, usual in USUAL.items() if info.get(key) == usual))
    sampler, schedule = read_sampler(values, info)
    size = first_size(values)
    width, height = size or (None, None)
    hires = read_hires(values, info, size, partial(_automatic, info=info))
    strength = None if hires else values.strength("Denoising strength")
    request = GenerateRequest(
        prompt=info.prompt,
        negative_prompt=info.negative_prompt,
        width=width,
        height=height,
        **values.read(
            GenerateRequest,
            steps="Steps",
            guidance="Distilled CFG Scale" if is_distilled(values) else "CFG scale",
            seed="Seed",
            clip_skip="Clip skip",
        ),
        sampler=sampler,
        schedule=schedule,
        strength=strength,
        convention=_convention(values, info, sampler),
        **_option_groups(values),
        loras=_loras(values, info),
        second_passes=hires,
        **_hashes(info),
        **_layers(values, info),
        expand_wildcards=False,
    )
    remarks = _remarks(values, info, request)
    return ImportedRequest(
        request, (*values.warnings, *remarks), tool="AUTOMATIC1111", unmapped=values.unmapped()
    )


def _option_groups(values: Values) -> dict[str, Any]:
    """Return the request's groups of options."""
    return {
        "sampler_options": _sampler_options(values),
        "schedule_options": read_schedule_options(values, **_SCHEDULE_KEYS),
        "seed_options": _seed_options(values),
        "guidance_options": _guidance_options(values),
        "refiner": _refiner(values),
        "mask_options": _mask_options(values),
        "zero_terminal_snr": _zero_terminal_snr(values),
        "denoiser_options": infotext_denoiser(values),
    }


def _layers(values: Values, info: Infotext) -> dict[str, Any]:
    """Return the request's control layers and image prompts."""
    units, keys = controlnet_units(info.parameters)
    values.skip(*keys)
    values.warnings += units.remarks
    return {"controls": units.controls, "image_prompts": units.image_prompts}


def _hashes(info: Infotext) -> dict[str, Any]:
    """Return the request's hashes of files that the prompts name."""
    every = info.get("Hashes")
    return {
        "lora_hashes": lora_hashes(info.get("Lora hashes"), every),
        "embedding_hashes": embedding_hashes(info.get("TI hashes"), every),
    }


def read_sampler(values: Values, info: Infotext) -> tuple[SamplerName | None, ScheduleName | None]:
    """Return sampler and schedule; files before version 1.9 name both in one key.

    Other tools that write this text use their own names, and some write "Scheduler" for the
    schedule.
    """
    name = values.text("Sampler")
    if name is None:
        return None, None
    sampler_name, fused = split_method(name)
    sampler = _variant(values, sampler_of(ANY_SAMPLERS, sampler_name))
    if sampler is None:
        values.refuse("Sampler")
    elif sampler.value in A1111_OWN_TIMESTEPS:
        # "Schedule type" has no effect on these.
        return sampler, None
    apart = info.get("Schedule type") or values.text("Scheduler")
    wanted = (fused or apart or "automatic").casefold()
    if wanted == "automatic":
        wanted = _automatic(sampler, info)
    schedule = schedule_of(ANY_SCHEDULES, wanted)
    if schedule is None:
        values.warnings.append(f'The schedule "{plain(wanted)}" was not taken over.')
    return sampler, schedule


def _variant(values: Values, sampler: SamplerName | None) -> SamplerName | None:
    """Return the UniPC variant that the text's settings select; return other samplers unchanged."""
    if sampler is not SamplerName.UNIPC:
        return sampler
    variant = values.text("UniPC variant")
    if variant not in (None, "bh1", "bh2"):
        values.refuse("UniPC variant")
    return SamplerName.UNIPC_BH2 if variant == "bh2" else sampler


def _automatic(sampler: SamplerName | None, info: Infotext) -> str:
    """Return the schedule that "Automatic", or a missing schedule, stands for.

    Before version 1.9 it was the plain one, except for Restart.
    """
    text = info.get("Version")
    version = version_of(text)
    is_old = text is None or (version is not None and version < SCHEDULE_APART)
    if sampler is None or (is_old and sampler.value != "restart"):
        return "normal"
    return A1111_AUTOMATIC.get(sampler.value, "normal")


def _convention(
    values: Values, info: Infotext, sampler: SamplerName | None
) -> ConventionName | Convention:
    """Return the convention with the settings in the text; others keep the tool's defaults.

    "NV" draws the numbers of an NVIDIA card ("GPU") on the processor.
    """
    if named := stated_convention(info):
        values.skip(*HABITS)
        return named
    base = CONVENTIONS[ConventionName.A1111]
    changes: dict[str, Any] = {"prompt_features": _prompt_features(info)}
    if not info.parameters:
        return choice_of(msgspec.structs.replace(base, **changes))
    if (values.text("RNG") or "GPU").upper() != "CPU":
        changes["random_source"] = changes["step_source"] = RandomSource.CUDA
    # "None" is a value of this key.
    values.skip("Emphasis")
    emphasis = (info.get("Emphasis") or "Original").casefold()
    if emphasis not in _EMPHASIS:
        values.refuse("Emphasis")
    changes["emphasis"] = _EMPHASIS.get(emphasis, base.emphasis)
    if values.flag("SGM noise multiplier"):
        changes["initial_noise"] = InitialNoise.VARIANCE
    version = version_of(info.get("Version"))
    by_steps = values.flag("Refiner switch by sampling steps")
    is_old = version is not None and version < REFINED_BY_LEVEL
    if info.get("Refiner") is not None and (by_steps or is_old):
        changes["refiner_handover"] = RefinerHandover.EVALUATION
    if values.flag("Discard penultimate sigma") and sampler is not None:
        discarding = dict.fromkeys((*base.discards_next_to_last, sampler))
        changes["discards_next_to_last"] = tuple(discarding)
    led = any(pair.key.startswith("ControlNet ") for pair in info.parameters)
    if led and is_forges(info.get("Version")):
        changes["control"] = FORGE_CONTROL
    return choice_of(msgspec.structs.replace(base, **changes))


def _prompt_features(info: Infotext) -> tuple[PromptFeature, ...]:
    """Return the prompt features that apply.

    Comments do not if a # in the text is an ordinary character.
    """
    everything = tuple(PromptFeature)
    if "#" not in info.prompt + info.negative_prompt or keeps_comments(info.get("Version")):
        return everything
    return tuple(feature for feature in everything if feature is not PromptFeature.COMMENTS)


def _sampler_options(values: Values) -> SamplerOptions:
    found = values.read(
        SamplerOptions,
        eta="Eta",
        noise_scale="Sigma noise",
        churn="Sigma churn",
        churn_from="Sigma tmin",
        churn_to="Sigma tmax",
    )
    eta_ddim = values.read(SamplerOptions, eta="Eta DDIM")["eta"]
    if eta_ddim is not None:
        found["eta"] = eta_ddim
    # 0 and no value both mean infinity.
    found["churn_to"] = found["churn_to"] or None
    return SamplerOptions(**found)


def _seed_options(values: Values) -> SeedOptions:
    found = values.read(
        SeedOptions,
        variation_strength="Variation seed strength",
        variation_seed="Variation seed",
        eta_seed_delta="ENSD",
    )
    if not found["variation_strength"] or found["variation_seed"] is None:
        del found["variation_strength"], found["variation_seed"]
    return SeedOptions(**found, resize_from=values.size("Seed resize from"))


def _guidance_options(values: Values) -> GuidanceOptions:
    bounds = bounds_of(GuidanceOptions, "rescale")
    rescale = next((found for key in _RESCALE if (found := values.number(key, *bounds))), 0.0)
    # Guidance starts after the step that reaches this fraction of the run.
    skipped = values.number("Skip Early CFG", 0, 1)
    start = min(math.nextafter(skipped, math.inf), 1.0) if skipped else 0.0
    image_guidance = values.read(GuidanceOptions, image_guidance="Image CFG scale")
    if is_distilled(values):
        image_guidance |= values.read(GuidanceOptions, true_cfg="CFG scale")
    by_attention = infotext_attention(values)
    return GuidanceOptions(rescale=rescale, range=(start, 1.0), **image_guidance, **by_attention)


def _mask_options(values: Values) -> MaskOptions:
    """Return the mask's settings; the mask itself is not in the file."""
    mode, area = values.text("Mask mode"), values.text("Inpaint area")
    content = values.text("Masked content")
    contents = {content.label: content for content in MaskedContent}
    for key, known in (
        ("Mask mode", (None, "Inpaint masked", "Inpaint not masked")),
        ("Inpaint area", (None, "Whole picture", "Only masked")),
        ("Masked content", (None, *contents)),
    ):
        if values.text(key) not in known:
            values.refuse(key)
    found = values.read(MaskOptions, blur="Mask blur", padding="Masked area padding")
    if found["blur"] is None and (mode or area or content):
        found["blur"] = 0  # of which it says nothing
    return MaskOptions(
        **found,
        inverted=mode == "Inpaint not masked",
        content=contents.get(content or ""),
        only_masked=area == "Only masked",
    )


def _refiner(values: Values) -> RefinerChoice | None:
    """Return the point where a refiner took over; the user chooses its checkpoint."""
    switch_at = values.number("Refiner switch at", *bounds_of(RefinerChoice, "switch_at"))
    return None if switch_at is None else RefinerChoice(switch_at=switch_at)


def _zero_terminal_snr(values: Values) -> bool | None:
    if values.flag("Zero SNR"):
        return True
    name = values.text("Noise Schedule")
    if name is None or name == USUAL["Noise Schedule"]:
        return None
    if name.casefold() == "zero terminal snr":
        return True
    values.refuse("Noise Schedule")
    return None


def _loras(values: Values, info: Infotext) -> tuple[LoraChoice, ...]:
    """Return the LoRAs that the prompt does not name by tags."""
    pairs = {pair.key: pair.value for pair in info.parameters if pair.key.startswith(_ADDNET)}
    values.skip(*pairs)
    is_named = _LORA.search(info.prompt) is not None
    resources = () if is_named else civitai_loras(info.get("Civitai resources"))
    return (*additional_networks(pairs), *resources)


def _remarks(values: Values, info: Infotext, request: GenerateRequest) -> tuple[str, ...]:
    """Return sentences on files and settings that the user needs for the same picture."""
    checkpoint, vae = values.text("Model"), values.text("VAE")
    refiner = values.text("Refiner")
    remarks = list(old_habits(version_of(info.get("Version")), info.prompt))
    if checkpoint is not None:
        remarks.append(made_with_checkpoint(checkpoint))
    if refiner is not None:
        remarks.append(made_with_refiner(refiner))
    if vae not in (None, "Automatic"):
        remarks.append(made_with_vae(vae))
    remarks += forges_modules(values, info)
    remarks += embedding_remarks(request.embedding_hashes)
    if request.strength is not None:
        remarks.append(MADE_FROM_A_PICTURE)
    remarks += hires_remarks(values, request.second_passes)
    upscaler = values.text("Postprocess upscaler")
    if upscaler is not None:
        by, to = values.text("Postprocess upscale by"), values.text("Postprocess upscale to")
        growth = f"{by} times" if by else f"to {to}" if to else ""
        remarks.append(enlarged_afterwards(upscaler, growth))
    return (*remarks, *left_over(values.unmapped()))
