"""A record as AUTOMATIC1111's text, which its own reader accepts.

Keys and their order are those of `modules/processing.py:create_infotext` of version 1.10.1, and of
the code that fills `extra_generation_params`.
"""

import math
from collections.abc import Iterable, Iterator
from pathlib import PureWindowsPath

from engine.api import ConventionName, GenerationRecord, InputRole, ResolvedRequest, SamplerName
from engine.api.control import ControlReport
from engine.api.conventions import CONVENTIONS, RefinerHandover
from engine.api.image_prompts import ImagePromptReport
from engine.api.lora import LoraChoice, LoraReport
from engine.api.masks import MaskedContent
from engine.api.noise_rules import InitialNoise, RandomSource
from engine.api.prompt_rules import Emphasis, PromptGrammar
from engine.api.second_passes import Resampling, SecondPass
from engine.api.weight_suffixes import SAFETENSORS_SUFFIXES, weights_name
from engine.metadata.control_text import control_units
from engine.metadata.infotext import Infotext, Parameter, number_text
from engine.metadata.option_text import option_pairs

# AUTOMATIC1111 omits its default, the card's generator; "NV" gives the same on any machine.
_RANDOM_SOURCES = {RandomSource.CPU: "CPU", RandomSource.CUDA: "NV"}
# AUTOMATIC1111's samplers that visit timesteps have their own eta.
_TIMESTEP_SAMPLERS = frozenset({"ddim", "ddim_cfg_pp", "plms", "unipc", "unipc_bh2"})
# Digits of the SHA-256; `sd_models.CheckpointInfo.calculate_shorthash`.
_MODEL_HASH_DIGITS = 10
# Of the SHA-256 of the tensors; `extensions-builtin/Lora/network.py`.
_LORA_HASH_DIGITS = 12
_FLUX_1 = "flux1"
# Words in the names of models like Flux.1 that take no guidance as an input.
_WITHOUT_GUIDANCE = ("schnell", "klein", "chroma")
# The methods without a file by AUTOMATIC1111's names.
_UPSCALE_METHODS = {Resampling.LANCZOS.value: "Lanczos", Resampling.NEAREST.value: "Nearest"}
_NOT_IN_TAGS = str.maketrans("", "", ":<>")
# `Embedding.set_hash`.
_EMBEDDING_HASH_DIGITS = 12


def record_infotext(record: GenerationRecord) -> Infotext:
    """Return the record as prompts and pairs; some values are only in the record itself."""
    request = record.request
    pairs = (
        *_main(request, record),
        *_seeds(request),
        ("Denoising strength", _strength(request)),
        ("Clip skip", str(request.clip_skip) if request.clip_skip > 1 else None),
        ("ENSD", str(request.seed_options.eta_seed_delta or "")),
        ("RNG", _RANDOM_SOURCES[request.convention.random_source]),
        *_refiner(request, record.refiner_sha256),
        *_hires(request, record),
        *_options(request),
        *_mask(request),
        *control_units(request.controls, request.image_prompts, _reports(record)),
        ("TI hashes", _embedding_hashes(record)),
        *_habits(request),
        ("Lora hashes", ", ".join(_lora_hashes(record.loras))),
        ("Version", f"Safelight {record.safelight}"),
    )
    parameters = tuple(Parameter(key, value) for key, value in pairs if value)
    prompt = "\n".join(filter(None, (request.prompt, _lora_tags(request.loras))))
    return Infotext(prompt, request.negative_prompt, parameters)


def _reports(record: GenerationRecord) -> dict[str, ControlReport | ImagePromptReport]:
    """Return what the record tells of the files of layers and image prompts, by their paths."""
    reports = (*(record.controls or ()), *(record.image_prompts or ()))
    return {report.path: report for report in reports if report.path}


def _embedding_hashes(record: GenerationRecord) -> str:
    """Return the embeddings with 12 digits of their hashes, as A1111's `sd_hijack_clip.py`."""
    return ", ".join(
        f"{_without_marks(embedding.name)}: {embedding.sha256[:_EMBEDDING_HASH_DIGITS]}"
        for embedding in record.embeddings
        if embedding.sha256
    )


def _without_marks(name: str) -> str:
    return name.replace(":", "").replace(",", "")


def has_init(request: ResolvedRequest) -> bool:
    """True if the picture started from another one."""
    return any(image.role is InputRole.INIT for image in request.inputs)


def _lora_tags(loras: Iterable[LoraChoice]) -> str:
    """Return the LoRAs of the request's list as tags: AUTOMATIC1111 has no other place for them."""
    return "".join(map(_lora_tag, loras))


def _lora_tag(lora: LoraChoice) -> str:
    text = lora.strength if lora.text_strength is None else lora.text_strength
    strengths = (text,) if text == lora.strength else (text, lora.strength)
    return f"<lora:{':'.join((_lora_name(lora.file), *map(number_text, strengths)))}>"


def _lora_name(file: str) -> str:
    """Return a file's name without suffix, and without the signs that end a tag's name."""
    return weights_name(file).translate(_NOT_IN_TAGS)


def _lora_hashes(loras: Iterable[LoraReport]) -> Iterator[str]:
    """Yield names and hashes as `extra_networks_lora.py` writes them.

    The hash is that of the tensors, or of the file where it has no header. While that of the
    tensors is not known, the beginning of the file's is one by which Civitai finds it.
    """
    for lora in loras:
        is_safetensors = lora.path is not None and lora.path.lower().endswith(SAFETENSORS_SUFFIXES)
        whole = lora.sha256 and lora.sha256[: _MODEL_HASH_DIGITS if is_safetensors else None]
        digits = lora.tensors_hash or whole
        if digits and lora.path:
            # Of the request's list the path, else the name in the prompt.
            is_path = PureWindowsPath(lora.name.replace("/", "\\")).anchor
            name = _lora_name(lora.name) if is_path else lora.name.translate(_NOT_IN_TAGS)
            yield f"{name.replace(',', '')}: {digits[:_LORA_HASH_DIGITS]}"


Pairs = Iterator[tuple[str, str | None]]


def _takes_guidance(record: GenerationRecord) -> bool:
    """Tell whether the guidance is an input of the denoiser, as it is of all Flux.1 but schnell.

    A record of another tool's picture has no family; there the model's name tells.
    """
    files = record.request.components.denoiser, record.request.checkpoint
    name = weights_name(next(filter(None, files), "")).casefold()
    is_flux = record.family == _FLUX_1 if record.family else "flux" in name
    return is_flux and not any(word in name for word in _WITHOUT_GUIDANCE)


def _names_two_scales(record: GenerationRecord) -> bool:
    return record.request.guidance_options.true_cfg != 1 or _takes_guidance(record)


def _main(request: ResolvedRequest, record: GenerationRecord) -> Pairs:
    sha256 = record.checkpoint_sha256
    yield "Steps", str(request.steps)
    # AUTOMATIC1111 has a separate setting for UniPC's B(h).
    is_bh2 = request.sampler is SamplerName.UNIPC_BH2
    yield "Sampler", (SamplerName.UNIPC if is_bh2 else request.sampler).label
    yield "Schedule type", request.schedule.label
    if _names_two_scales(record):
        # Forge's names.
        yield "CFG scale", number_text(request.guidance_options.true_cfg)
        yield "Distilled CFG Scale", number_text(request.guidance)
    else:
        yield "CFG scale", number_text(request.guidance)
    image_guidance = request.guidance_options.image_guidance
    yield "Image CFG scale", None if image_guidance is None else number_text(image_guidance)
    yield "Seed", str(request.seed)
    yield "Size", f"{request.width}x{request.height}"
    yield "Model hash", sha256 and sha256[:_MODEL_HASH_DIGITS]
    yield "Model", weights_name(request.checkpoint)
    yield "VAE", request.components.vae and PureWindowsPath(request.components.vae).name


def _seeds(request: ResolvedRequest) -> Pairs:
    options = request.seed_options
    if options.variation_seed is not None and options.variation_strength:
        yield "Variation seed", str(options.variation_seed)
        yield "Variation seed strength", number_text(options.variation_strength)
    if options.resize_from is not None:
        yield "Seed resize from", "x".join(map(str, options.resize_from))


def _refiner(request: ResolvedRequest, sha256: str | None) -> Pairs:
    """Yield the refiner as `sd_samplers_common.apply_refiner` writes it, by its short title."""
    choice = request.refiner
    if choice is None or choice.checkpoint is None or choice.switch_at >= 1:
        return
    yield "Refiner", _short_title(choice.checkpoint, sha256)
    yield "Refiner switch at", number_text(choice.switch_at)
    if request.convention.refiner_handover is RefinerHandover.EVALUATION:
        yield "Refiner switch by sampling steps", "True"


def _strength(request: ResolvedRequest) -> str | None:
    """Return the strength of a redrawn picture, or of a second pass."""
    hires = _second_pass(request)
    if hires is not None:
        return number_text(hires.strength)
    return number_text(request.strength) if has_init(request) else None


def _second_pass(request: ResolvedRequest) -> SecondPass | None:
    """Return the second pass of a request; None for several, which AUTOMATIC1111 does not have."""
    return request.second_passes[0] if len(request.second_passes) == 1 else None


def _hires(request: ResolvedRequest, record: GenerationRecord) -> Pairs:
    """Yield the second pass as `StableDiffusionProcessingTxt2Img.init` writes it."""
    hires = _second_pass(request)
    if hires is None:
        return
    reports = record.second_passes or ()
    if hires.checkpoint is not None:
        sha256 = reports[0].checkpoint_sha256 if reports else None
        yield "Hires checkpoint", _short_title(hires.checkpoint, sha256)
    if hires.sampler not in (None, request.sampler):
        yield "Hires sampler", hires.sampler.label
    if hires.schedule not in (None, request.schedule):
        yield "Hires schedule type", hires.schedule.label
    yield "Hires prompt", hires.prompt
    yield "Hires negative prompt", hires.negative_prompt
    if hires.width is None and hires.height is None:
        yield "Hires upscale", number_text(hires.scale)
    else:
        yield "Hires resize", f"{hires.width or 0}x{hires.height or 0}"
    yield "Hires steps", None if hires.steps is None else str(hires.steps)
    method = _UPSCALE_METHODS.get(hires.upscaler)
    yield "Hires upscaler", method or weights_name(hires.upscaler)
    # Forge's keys, as for the first pass.
    scale = "Hires Distilled CFG Scale" if _names_two_scales(record) else "Hires CFG Scale"
    yield scale, None if hires.guidance is None else number_text(hires.guidance)


def _short_title(checkpoint: str, sha256: str | None) -> str:
    name = weights_name(checkpoint)
    return f"{name} [{sha256[:_MODEL_HASH_DIGITS]}]" if sha256 else name


def _options(request: ResolvedRequest) -> Pairs:
    sampler, schedule = request.sampler_options, request.schedule_options
    eta = "Eta DDIM" if request.sampler.value in _TIMESTEP_SAMPLERS else "Eta"
    options = (
        (eta, sampler.eta),
        ("Sigma churn", sampler.churn),
        ("Sigma tmin", sampler.churn_from),
        ("Sigma tmax", sampler.churn_to),
        ("Sigma noise", sampler.noise_scale),
        ("Schedule min sigma", schedule.sigma_min),
        ("Schedule max sigma", schedule.sigma_max),
        ("Schedule rho", schedule.rho),
        ("CFG Rescale", request.guidance_options.rescale or None),
    )
    yield from ((key, None if value is None else number_text(value)) for key, value in options)
    for key, value in option_pairs(request.denoiser_options, request.guidance_options):
        yield key, value if value is None or isinstance(value, str) else number_text(value)
    start = request.guidance_options.range[0]
    if start:
        # AUTOMATIC1111 skips guidance up to and including this fraction of the run.
        yield "Skip Early CFG", number_text(math.nextafter(start, 0))


def _mask(request: ResolvedRequest) -> Pairs:
    """Yield the mask's settings; AUTOMATIC1111 has none for a canvas that grows."""
    options = request.mask_options
    if not any(image.role is InputRole.MASK for image in request.inputs):
        return
    yield "Mask mode", "Inpaint not masked" if options.inverted else None
    yield "Mask blur", str(options.blur or "")
    if options.content not in (None, MaskedContent.ORIGINAL):
        yield "Masked content", options.content.label
    if options.only_masked:
        yield "Inpaint area", "Only masked"
        yield "Masked area padding", str(options.padding)


def _habits(request: ResolvedRequest) -> Pairs:
    convention = request.convention
    if request.sampler is SamplerName.UNIPC_BH2:
        yield "UniPC variant", "bh2"
    usual = CONVENTIONS[ConventionName.A1111].discards_next_to_last
    if request.sampler in convention.discards_next_to_last and request.sampler not in usual:
        yield "Discard penultimate sigma", "True"
    if convention.initial_noise is InitialNoise.VARIANCE:
        yield "SGM noise multiplier", "True"
    if convention.emphasis is Emphasis.NO_NORM:
        yield "Emphasis", "No norm"
    if convention.emphasis is Emphasis.LITERAL or convention.grammar is PromptGrammar.LITERAL:
        yield "Emphasis", "None"
    elif convention.emphasis is Emphasis.NONE:
        yield "Emphasis", "Ignore"
    if request.zero_terminal_snr:
        yield "Noise Schedule", "Zero Terminal SNR"
