"""Fills a request's gaps and refuses invalid requests, before anything is loaded.

No device is known yet: backend and precision stay as requested until `place`.
"""

import secrets
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from engine.api.bounds import bounded
from engine.api.checkpoints import SuggestedSettings
from engine.api.conventions import convention_of
from engine.api.features import Features
from engine.api.limits import (
    MAX_BATCH_INDEX,
    MAX_COUNT,
    MAX_PROMPT_CHARACTERS,
    MAX_SEED,
    MIN_SIDE,
)
from engine.api.noise_rules import BatchSeeds
from engine.api.record import ResolvedRequest
from engine.api.request import BaseRequest, GenerateRequest, RefinerChoice, SeedOptions
from engine.api.sentences import sentence
from engine.api.values import ErrorInfo, SamplerName
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.files import read_index
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.network_changes import changes_of
from engine.lora.folder import LoraLookup
from engine.pipeline.batch import ResolvedJob
from engine.pipeline.enlarge.second_runs import second_runs
from engine.pipeline.found_loras import shared_names, with_paths
from engine.pipeline.found_upscalers import with_upscalers
from engine.pipeline.image_prompts import (
    WITHOUT_IMAGE_PROMPTS,
    ImagePromptFiles,
    read_image_prompts,
)
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.loras import JobLoras, PrefersSide, merges, with_inputs_for_all
from engine.pipeline.picture_loras import ReadLoras, no_loras
from engine.pipeline.possible_changes import check_changes
from engine.pipeline.ranges import check_range, invalid
from engine.pipeline.resolve_inputs import fill_inputs
from engine.preprocessors.map_maker import MakeMaps, plain_maps
from engine.sampling.samplers import SAMPLERS, SamplerDefaults
from engine.text import expand_wildcards
from engine.upscalers.reading import read_upscaler

_RANDOM_SEEDS = 2**32
_DEFAULT_SAMPLER = SamplerName.DPMPP_2M


class NamedFiles(msgspec.Struct, frozen=True, eq=False):
    """The files that requests and prompts may name.

    `wildcards` is the folder of word lists; `loras` finds LoRAs, whose headers `read_lora_index`
    reads; without it no LoRA acts. `make_maps` makes the maps of control layers. `models` are
    folders of models, with upscalers and vision encoders among them.
    """

    wildcards: Path | None = None
    loras: LoraLookup | None = None
    embeddings: Embeddings = NO_EMBEDDINGS
    read_lora_index: ReadIndex = read_index
    make_maps: MakeMaps = plain_maps
    models: tuple[Path, ...] = ()

    @property
    def for_image_prompts(self) -> ImagePromptFiles:
        """The files that image prompts may name."""
        return ImagePromptFiles(self.read_lora_index, self.models)


NO_FILES = NamedFiles()


def resolve_job(
    request: GenerateRequest,
    checkpoints: JobCheckpoints,
    files: NamedFiles = NO_FILES,
    prefers_side: PrefersSide = merges,
) -> ResolvedJob:
    """Resolve a request for all its pictures, whose prompts may name some of the `files`.

    `prefers_side` chooses the mode of LoRAs where the request leaves it open. Raises EngineError as
    `resolve` does.
    """
    resolved, loras = resolve(request, checkpoints), files.loras
    if loras is not None:
        led = with_inputs_for_all(resolved.loras, checkpoints.first, loras, files.read_lora_index)
        if led is not checkpoints.first:
            checkpoints = msgspec.structs.replace(checkpoints, first=led)
            resolved = resolve(request, checkpoints)
    if resolved.second_passes:
        resolved = with_upscalers(resolved, files.models)
    read_loras, second_loras = _lora_readers(resolved, checkpoints, files, prefers_side)
    resolved = with_paths(resolved, loras) if loras else resolved
    image_prompts = WITHOUT_IMAGE_PROMPTS
    if resolved.image_prompts:
        image_prompts = read_image_prompts(resolved, checkpoints.first, files.for_image_prompts)
    return ResolvedJob(
        request=msgspec.structs.replace(resolved, image_prompts=image_prompts.listed),
        checkpoints=checkpoints,
        count=request.count,
        replace_wildcards=partial(expand_wildcards, folder=files.wildcards)
        if request.expand_wildcards
        else None,
        read_loras=read_loras,
        embeddings=files.embeddings,
        second_loras=second_loras,
        read_upscaler=partial(read_upscaler, read=files.read_lora_index),
        make_maps=files.make_maps,
        image_prompts=image_prompts,
    )


def _lora_readers(
    request: ResolvedRequest,
    checkpoints: JobCheckpoints,
    files: NamedFiles,
    prefers_side: PrefersSide,
) -> tuple[ReadLoras, tuple[ReadLoras | None, ...]]:
    """Return what reads LoRAs for the first checkpoint, and for the own ones of second passes."""
    loras, first = files.loras, checkpoints.first
    if loras is None:
        return no_loras, ()

    def reader(own: IdentifiedCheckpoint, remarks: tuple[ErrorInfo, ...] = ()) -> JobLoras:
        return JobLoras(
            own,
            loras,
            files.read_lora_index,
            prefers_side,
            remarks,
            refiner=checkpoints.refiner_of(own),
            requires_fit=own is first,
        )

    readers = {id(own): reader(own) for own in checkpoints.seconds if own}
    seconds = tuple(own and readers[id(own)] for own in checkpoints.seconds)
    return reader(first, shared_names(request, loras)), seconds


def resolve(request: GenerateRequest, checkpoints: JobCheckpoints) -> ResolvedRequest:
    """Return the request with its gaps filled, and a random seed where it has none.

    Raises EngineError: REQUEST_INVALID, INPUT_IMAGE_UNREADABLE.
    """
    resolved = _filled(request, checkpoints)
    _check(resolved, request.count, checkpoints)
    return resolved


def _filled(request: GenerateRequest, checkpoints: JobCheckpoints) -> ResolvedRequest:
    checkpoint = checkpoints.first
    sampler = request.sampler or _default_sampler(checkpoint)
    defaults = _defaults(checkpoint, sampler, chosen=request.sampler is not None)
    filled, features = fill_inputs(request, checkpoint), checkpoint.architecture.features
    # All other fields are as they were asked for.
    asked = {name: getattr(request, name) for name in BaseRequest.__struct_fields__}
    gaps: dict[str, Any] = {
        "checkpoint": str(checkpoint.path),
        "width": filled.width,
        "height": filled.height,
        "steps": defaults.steps if request.steps is None else request.steps,
        "guidance": defaults.guidance if request.guidance is None else request.guidance,
        "sampler": sampler,
        "schedule": request.schedule or defaults.schedule,
        "seed": secrets.randbelow(_RANDOM_SEEDS) if request.seed is None else request.seed,
        "clip_skip": features.clip_skip if request.clip_skip is None else request.clip_skip,
        "strength": filled.strength,
        "convention": convention_of(request.convention),
        "seed_options": _seed_options(request.seed_options),
        "guidance_options": filled.guidance_options,
        "mask_options": filled.mask_options,
        "zero_terminal_snr": _zero_terminal_snr(request, checkpoint),
        "refiner": _refiner(request.refiner, checkpoints.refiner),
        "loras": tuple(lora for lora in request.loras if lora.enabled),
        "controls": tuple(layer for layer in request.controls if layer.enabled),
        "image_prompts": tuple(prompt for prompt in request.image_prompts if prompt.enabled),
    }
    return ResolvedRequest(**asked | gaps)


def _zero_terminal_snr(request: GenerateRequest, checkpoint: IdentifiedCheckpoint) -> bool:
    chosen = request.zero_terminal_snr
    return checkpoint.zero_terminal_snr if chosen is None else chosen


def _refiner(
    choice: RefinerChoice | None, refiner: IdentifiedCheckpoint | None
) -> RefinerChoice | None:
    if choice is None or choice.checkpoint is None:
        return None
    path = refiner.path if refiner else choice.checkpoint
    return msgspec.structs.replace(choice, checkpoint=str(path))


def _default_sampler(checkpoint: IdentifiedCheckpoint) -> SamplerName:
    """Return the sampler for a request that chooses none."""
    wanted = checkpoint.hints.sampler or _DEFAULT_SAMPLER
    offered = checkpoint.architecture.features.samplers
    return wanted if offered is None or wanted in offered else offered[0]


def suggested_settings(checkpoint: IdentifiedCheckpoint) -> tuple[SuggestedSettings, ...]:
    """Return the settings that `resolve` fills in for each sampler, the default sampler's first."""
    first = _default_sampler(checkpoint)
    offered = checkpoint.architecture.features.samplers or SAMPLERS
    others = (sampler for sampler in offered if sampler is not first)
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
    """Return the defaults of open choices: the checkpoint's hints, else the sampler's.

    A checkpoint's hints are meant for its own sampler. Another sampler that the user chose keeps
    its own schedule and steps, unless the hints hold for any sampler, as for a denoiser that was
    distilled to few steps.
    """
    defaults, hints = SAMPLERS[sampler].defaults, checkpoint.hints
    others = chosen and sampler is not _default_sampler(checkpoint)
    keeps = others and not hints.any_sampler
    schedule = defaults.schedule if keeps else hints.schedule or defaults.schedule
    offered = checkpoint.architecture.features.schedules
    return SamplerDefaults(
        schedule=schedule if offered is None or schedule in offered else offered[0],
        steps=defaults.steps if keeps else hints.steps or defaults.steps,
        guidance=defaults.guidance if hints.guidance is None else hints.guidance,
    )


def _check(request: ResolvedRequest, count: int, checkpoints: JobCheckpoints) -> None:
    for name, text in (
        (sentence("prompt"), request.prompt),
        (sentence("negative prompt"), request.negative_prompt),
    ):
        if len(text) > MAX_PROMPT_CHARACTERS:
            raise invalid(
                sentence(
                    "The {name} has {count:,} characters; at most {most:,} are accepted.",
                    name=name,
                    count=len(text),
                    most=MAX_PROMPT_CHARACTERS,
                )
            )
    for number in bounded(request):
        check_range(*number)
    features = checkpoints.first.architecture.features
    _check_multiples(request, features.size_multiple)
    _check_method(request, features)
    options, guidance = request.denoiser_options, request.guidance_options
    changes = changes_of(options, guidance, request.convention.name)
    for checkpoint in checkpoints.runs:
        check_changes(changes, checkpoint)
    check_range("count", count, 1, _most_pictures(request))
    check_range("seed", request.seed, 0, MAX_SEED - count + 1)
    for second in second_runs(request, checkpoints) if request.second_passes else ():
        _check_method(second.request, second.checkpoint.architecture.features)
    check_range("clip skip", request.clip_skip, 1, max(features.deepest_clip_skip, 1))
    variation = request.seed_options.variation_seed
    if variation is not None:
        check_range("variation seed", variation, 0, MAX_SEED - count + 1)


def _check_method(request: ResolvedRequest, features: Features) -> None:
    for name, chosen, offered in (
        (sentence("sampler"), request.sampler, features.samplers),
        (sentence("schedule"), request.schedule, features.schedules),
    ):
        if offered is not None and chosen not in offered:
            names = ", ".join(choice.label for choice in offered)
            raise invalid(
                sentence(
                    "The {name} {label} does not work with this model.",
                    name=name,
                    label=chosen.label,
                ),
                sentence("It takes {names}.", names=names),
            )


def _most_pictures(request: ResolvedRequest) -> int:
    """Return the most pictures of a job; fewer where each takes a batch index of one seed."""
    one_stream = request.convention.batch_seeds is BatchSeeds.ONE_STREAM
    places = MAX_BATCH_INDEX + 1 - request.seed_options.batch_index
    return min(MAX_COUNT, places) if one_stream else MAX_COUNT


def _seed_options(options: SeedOptions) -> SeedOptions:
    """Return the options with a variation seed if there is a variation, else without one."""
    seed = options.variation_seed
    if not options.is_varied:
        seed = None
    elif seed is None:
        seed = secrets.randbelow(_RANDOM_SEEDS)
    return msgspec.structs.replace(options, variation_seed=seed)


def _check_multiples(request: ResolvedRequest, multiple: int) -> None:
    for name, value in (
        (sentence("width"), request.width),
        (sentence("height"), request.height),
    ):
        if value % multiple:
            below = value - value % multiple
            raise invalid(
                sentence(
                    "The {name} {value} is no multiple of {multiple}.",
                    name=name,
                    value=value,
                    multiple=multiple,
                ),
                sentence(
                    "{max} and {below} are the nearest.",
                    max=max(below, MIN_SIDE),
                    below=below + multiple,
                ),
            )
