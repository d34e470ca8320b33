"""Defaults for denoisers that were distilled to few steps, or trained by EDM's levels.

Some kinds are recognised by keys or by a diffusers folder's scheduler, most only by a name: on a
card, in the file's metadata, and last the name of the file. Each default comes from the model's own
card, whose address is next to it; guidance 0 on a card means no guidance, which is 1 here.
"""

import re
from collections.abc import Iterator

import msgspec

from engine.api.sentences import Sentence, as_it_is, sentence
from engine.api.values import PredictionType, SamplerName, ScheduleName
from engine.checkpoints.diffusers_configs import SchedulerFile
from engine.families.checkpoint import Component, IdentifiedCheckpoint, name_of
from engine.families.hints import CheckpointHints, LearntHints
from engine.graphs.unet import UNetConfig

_TRAILING = ScheduleName.SGM_UNIFORM


def _few(
    sampler: SamplerName, steps: int | None, guidance: float | None, schedule: ScheduleName | None
) -> CheckpointHints:
    return CheckpointHints(
        sampler=sampler, schedule=schedule, steps=steps, guidance=guidance, any_sampler=True
    )


# huggingface.co/latent-consistency/lcm-sdxl, huggingface.co/SimianLuo/LCM_Dreamshaper_v7
_LCM_GUIDED = _few(SamplerName.LCM, 4, 8.0, _TRAILING)
# huggingface.co/playgroundai/playground-v2.5-1024px-aesthetic: 3 for DPM++ 2M, 5 for Euler
_PLAYGROUND = CheckpointHints(
    sampler=SamplerName.DPMPP_2M, schedule=ScheduleName.KARRAS, steps=50, guidance=3.0
)
# huggingface.co/docs/diffusers/api/pipelines/cosxl (EDMEulerScheduler, sigma_schedule exponential)
_COSXL = CheckpointHints(sampler=SamplerName.EULER, schedule=ScheduleName.EXPONENTIAL)

_Kind = tuple[str, re.Pattern[str], CheckpointHints]
# Patterns of names, tried in this order; a number of steps in a name replaces the number here.
_NAMED: tuple[_Kind, ...] = (
    # huggingface.co/stabilityai/sdxl-turbo and sd-turbo: 1 to 4 steps, no guidance, 512 pixels
    (
        "SDXL Turbo or SD Turbo",
        re.compile(r"(sd|sd ?xl) ?turbo( \d\.?\d?( fp16)?)?$|(sd|sd ?xl) turbo 1 0"),
        msgspec.structs.replace(_few(SamplerName.EULER_ANCESTRAL, 1, 1.0, _TRAILING), size=512),
    ),
    # huggingface.co/tianweiy/DMD2: LCM's scheduler at 999, 749, 499, 249
    ("DMD2", re.compile(r"\bdmd2?\b"), _few(SamplerName.LCM, 4, 1.0, _TRAILING)),
    # huggingface.co/ByteDance/SDXL-Lightning: Euler, trailing
    ("Lightning", re.compile(r"\blightning\b"), _few(SamplerName.EULER, 4, 1.0, _TRAILING)),
    # huggingface.co/ByteDance/Hyper-SD: DDIM, trailing, which is Euler's method
    (
        "Hyper",
        re.compile(r"\bhyper\b(?! ?(real|focus|detail|space))"),
        _few(SamplerName.EULER, 8, 1.0, _TRAILING),
    ),
    # huggingface.co/latent-consistency/lcm-lora-sdxl: 2 to 8 steps, guidance from 1 to 2
    ("LCM", re.compile(r"\blcm\b"), _few(SamplerName.LCM, None, None, None)),
    # civitai.com/models/112902: merges with Turbo, DPM++ SDE Karras, 4 to 8 steps, guidance 2
    ("Turbo", re.compile(r"\bturbo\b"), _few(SamplerName.DPMPP_SDE, 6, 2.0, ScheduleName.KARRAS)),
)
_TURBO = _NAMED[0][1]
# Civitai's base model of all merges with SDXL Turbo is "SDXL Turbo", too.
_MERGED = _NAMED[1:]
_STEPS = re.compile(r"\b(\d{1,2}) ?steps?\b")
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_SCHEDULERS = {
    "LCMScheduler": _few(SamplerName.LCM, None, None, None),
    "TCDScheduler": _few(SamplerName.TCD, None, None, None),
}


def learnt_hints(
    checkpoint: IdentifiedCheckpoint, scheduler: SchedulerFile | None = None
) -> LearntHints | None:
    """Return the defaults for a checkpoint's kind; None for the usual ones.

    Keys take precedence over names, and names over the scheduler. `scheduler` is from the diffusers
    folder of the checkpoint, if any.
    """
    unet = checkpoint.components.get(Component.DENOISER)
    if unet and isinstance(unet.config, UNetConfig) and unet.config.guidance_width:
        key = "time_embedding.cond_proj"
        return LearntHints(_LCM_GUIDED, sentence("a latent consistency model: key {key}", key=key))
    if checkpoint.prediction is PredictionType.EDM:
        return LearntHints(_PLAYGROUND, _trained_as("Playground 2.5"))
    if checkpoint.prediction is PredictionType.EDM_V:
        return LearntHints(_COSXL, _trained_as("CosXL"))
    names = tuple(_names(checkpoint))
    own = (words for words, _, is_kind in names if not is_kind)
    is_turbo_itself = any(_TURBO.search(_plain(words)) for words in own)
    for words, where, is_kind in names:
        found = _named(words, where, _MERGED if is_kind and not is_turbo_itself else _NAMED)
        if found is not None:
            return found
    if scheduler is None:
        return None
    if scheduler.class_name in _SCHEDULERS:
        what = f"scheduler/scheduler_config.json: {scheduler.class_name}"
        return LearntHints(_SCHEDULERS[scheduler.class_name], as_it_is(what))
    if scheduler.timestep_spacing == "trailing":
        what = "scheduler/scheduler_config.json: timestep_spacing trailing"
        return LearntHints(CheckpointHints(schedule=_TRAILING, any_sampler=True), as_it_is(what))
    return None


def _names(checkpoint: IdentifiedCheckpoint) -> Iterator[tuple[str, Sentence, bool]]:
    """Yield the checkpoint's names, each with its source as text for the user.

    Those with True are base models of cards.
    """
    for card in checkpoint.parts.denoiser.cards:
        source = as_it_is(card.source)
        yield card.base_model, source, True
        yield card.title, source, False
    yield name_of(checkpoint.path), sentence("the name of the file"), False


def _trained_as(title: str) -> Sentence:
    return sentence("sampled as {title}, which is trained so", title=title)


def _plain(words: str) -> str:
    return _BORDER.sub(" ", words).casefold().strip()


def _named(words: str, where: Sentence, kinds: tuple[_Kind, ...]) -> LearntHints | None:
    plain = _plain(words)
    for title, pattern, hints in kinds:
        if not pattern.search(plain):
            continue
        steps = _STEPS.search(plain)
        if steps and 1 <= int(steps[1]) <= 50:
            hints = msgspec.structs.replace(hints, steps=int(steps[1]))
        evidence = sentence(
            "sampled as {title}: {where} says {words!r}", title=title, where=where, words=words
        )
        return LearntHints(hints, evidence)
    return None
