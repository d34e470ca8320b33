"""Fills a request's gaps and refuses what cannot be made, before anything heavy starts."""

import secrets
from pathlib import Path

import msgspec

from backends.base import Device, Precision
from engine.api.checkpoints import SuggestedSettings
from engine.api.conventions import convention_of
from engine.api.limits import (
    MAX_BATCH_INDEX,
    MAX_COUNT,
    MAX_GUIDANCE,
    MAX_PROMPT_CHARACTERS,
    MAX_SEED,
    MAX_SIDE,
    MAX_STEPS,
    MIN_SIDE,
)
from engine.api.record import ResolvedRequest
from engine.api.request import GenerateRequest, GuidanceOptions, SeedOptions
from engine.api.values import (
    ErrorCode,
    InputRole,
    PrecisionName,
    SamplerName,
)
from engine.errors import EngineError
from engine.families.base import IdentifiedCheckpoint
from engine.graphs.clip_text import ClipTextConfig
from engine.pipeline.networks import denoiser_channels, text_encoders
from engine.sampling.samplers import SAMPLERS, SamplerDefaults

_RANDOM_SEEDS = 2**32
_DEFAULT_SAMPLER = SamplerName.DPMPP_2M
_DEFAULT_STRENGTH = 0.75


def resolve(
    request: GenerateRequest, checkpoint: IdentifiedCheckpoint, device: Device
) -> ResolvedRequest:
    """The request without gaps. Raises EngineError(REQUEST_INVALID) naming what is wrong."""
    sampler = request.sampler or checkpoint.hints.sampler or _DEFAULT_SAMPLER
    defaults = _defaults(checkpoint, sampler, chosen=request.sampler is not None)
    resolved = ResolvedRequest(
        prompt=request.prompt,
        negative_prompt=request.negative_prompt,
        checkpoint=str(checkpoint.path),
        components=request.components,
        width=checkpoint.default_size if request.width is None else request.width,
        height=checkpoint.default_size if request.height is None else request.height,
        steps=defaults.steps if request.steps is None else request.steps,
        guidance=defaults.guidance if request.guidance is None else request.guidance,
        sampler=sampler,
        schedule=request.schedule or defaults.schedule,
        seed=secrets.randbelow(_RANDOM_SEEDS) if request.seed is None else request.seed,
        clip_skip=checkpoint.text.clip_skip if request.clip_skip is None else request.clip_skip,
        inputs=request.inputs,
        strength=_DEFAULT_STRENGTH if request.strength is None else request.strength,
        convention=convention_of(request.convention),
        backend=device.backend,
        precision=PrecisionName(precisions(request.precision, device)[0].value),
        sampler_options=request.sampler_options,
        schedule_options=request.schedule_options,
        seed_options=_seed_options(request.seed_options),
        guidance_options=request.guidance_options,
        size_options=request.size_options,
        zero_terminal_snr=checkpoint.zero_terminal_snr
        if request.zero_terminal_snr is None
        else request.zero_terminal_snr,
        override=request.override,
    )
    _check(resolved, request.count, checkpoint)
    _check_denoiser(checkpoint)
    return resolved


def suggested_settings(checkpoint: IdentifiedCheckpoint) -> tuple[SuggestedSettings, ...]:
    """What `resolve` would fill in with each sampler; first the one taken where none is chosen."""
    first = checkpoint.hints.sampler or _DEFAULT_SAMPLER
    others = (sampler for sampler in SAMPLERS if sampler is not first)
    suggested: list[SuggestedSettings] = []
    for sampler in (first, *others):
        defaults = _defaults(checkpoint, sampler, chosen=True)
        suggested.append(
            SuggestedSettings(
                sampler=sampler,
                schedule=defaults.schedule,
                steps=defaults.steps,
                guidance=defaults.guidance,
            )
        )
    return tuple(suggested)


def _defaults(
    checkpoint: IdentifiedCheckpoint, sampler: SamplerName, *, chosen: bool
) -> SamplerDefaults:
    """What open choices become: as the checkpoint likes it, else as the sampler does.

    A checkpoint's hints were given with its own sampler in mind: one that a person chose instead
    keeps its schedule and steps.
    """
    defaults, hints = SAMPLERS[sampler].defaults, checkpoint.hints
    keeps = chosen and sampler is not (hints.sampler or _DEFAULT_SAMPLER)
    return SamplerDefaults(
        schedule=defaults.schedule if keeps else hints.schedule or defaults.schedule,
        steps=defaults.steps if keeps else hints.steps or defaults.steps,
        guidance=defaults.guidance if hints.guidance is None else hints.guidance,
    )


def precisions(wanted: PrecisionName, device: Device) -> tuple[Precision, ...]:
    """What to compute in: the wanted precision, or the device's choice, and then safer ones.

    Raises EngineError(REQUEST_INVALID) where the device has not got it.
    """
    available = device.precisions
    first = available[0] if wanted is PrecisionName.AUTO else Precision(wanted.value)
    if first not in available:
        offered = ", ".join(precision.value for precision in available)
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            f"{device.backend} cannot compute in {first.value} on {device.name}.",
            f"It offers {offered}.",
        )
    safer = Precision.F32 in available and first is not Precision.F32
    return (first, Precision.F32) if safer else (first,)


def _check(request: ResolvedRequest, count: int, checkpoint: IdentifiedCheckpoint) -> None:
    _check_size(request, checkpoint)
    _check_range("number of steps", request.steps, 1, MAX_STEPS)
    _check_range("guidance", request.guidance, 0, MAX_GUIDANCE)
    _check_range("strength", request.strength, 0, 1)
    _check_range("count", count, 1, MAX_COUNT)
    _check_range("seed", request.seed, 0, MAX_SEED - count + 1)
    _check_range("clip skip", request.clip_skip, 1, _text_layers(checkpoint))
    _check_seed_options(request.seed_options, count)
    _check_guidance_options(request.guidance_options)
    for name, text in (("prompt", request.prompt), ("negative prompt", request.negative_prompt)):
        if len(text) > MAX_PROMPT_CHARACTERS:
            most = f"at most {MAX_PROMPT_CHARACTERS:,} are accepted"
            raise _invalid(f"The {name} has {len(text):,} characters; {most}.")
    if len(request.inputs) > 1:
        raise _invalid("Only one picture can be redrawn at a time.")
    for image in request.inputs:
        if image.role is not InputRole.INIT:
            raise _invalid(f"A {image.role.value} picture cannot be used yet.")
        if image.weight != 1 or image.range != (0, 1):
            hint = "Use the strength to say how much of it is redrawn."
            raise _invalid("A picture to be redrawn has no weight or range.", hint)
        if not Path(image.path).is_file():
            raise EngineError(
                ErrorCode.INPUT_IMAGE_UNREADABLE, f"There is no picture {image.path}."
            )


def _seed_options(options: SeedOptions) -> SeedOptions:
    """With a variation seed exactly where there is a variation."""
    seed = options.variation_seed
    if options.variation_strength == 0:
        seed = None
    elif seed is None:
        seed = secrets.randbelow(_RANDOM_SEEDS)
    return msgspec.structs.replace(options, variation_seed=seed)


def _check_seed_options(options: SeedOptions, count: int) -> None:
    _check_range("variation strength", options.variation_strength, 0, 1)
    if options.variation_seed is not None:
        _check_range("variation seed", options.variation_seed, 0, MAX_SEED - count + 1)
    for side in options.resize_from or ():
        _check_range("side of the seed's size", side, MIN_SIDE, MAX_SIDE)
    _check_range("eta seed delta", options.eta_seed_delta, -MAX_SEED, MAX_SEED)
    _check_range("batch index", options.batch_index, 0, MAX_BATCH_INDEX)


def _check_guidance_options(options: GuidanceOptions) -> None:
    _check_range("guidance rescale", options.rescale, 0, 1)
    start, end = options.range
    _check_range("end of guidance", end, 0, 1)
    _check_range("start of guidance", start, 0, end)


def _check_denoiser(checkpoint: IdentifiedCheckpoint) -> None:
    """Refuse a denoiser that wants inputs we cannot give."""
    latent, taken = checkpoint.latent.channels, denoiser_channels(checkpoint)
    # The latent alone, or with a mask and a masked picture beside it.
    if taken not in (latent, 2 * latent + 1):
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            f"{checkpoint.path.name} edits pictures by instruction ({taken} channels); "
            "that cannot be run yet.",
            "Choose a text-to-image or an inpainting checkpoint.",
        )


def _check_size(request: ResolvedRequest, checkpoint: IdentifiedCheckpoint) -> None:
    multiple = checkpoint.latent.downscale
    for name, value in (("width", request.width), ("height", request.height)):
        _check_range(name, value, MIN_SIDE, MAX_SIDE)
        if value % multiple:
            below = value - value % multiple
            raise _invalid(
                f"The {name} {value} is no multiple of {multiple}.",
                f"{max(below, MIN_SIDE)} and {below + multiple} are the nearest.",
            )


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:  # which is true of what is not a number, too
        raise _invalid(f"The {name} is {value:,}; it must be from {low:,} to {high:,}.")


def _text_layers(checkpoint: IdentifiedCheckpoint) -> int:
    configs = (checkpoint.components[one].config for one in text_encoders(checkpoint))
    return min((one.layers for one in configs if isinstance(one, ClipTextConfig)), default=1)


def _invalid(message: str, hint: str = "") -> EngineError:
    return EngineError(ErrorCode.REQUEST_INVALID, message, hint)
