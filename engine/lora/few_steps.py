"""The settings of LoRAs that were distilled to few steps, recognised by their names.

Such files are trained without text encoders, and most hold no metadata, so that the name decides:
in the metadata, else of the file, or of a folder above it where the file has a general name. The
same word means other settings for other families, such as "hyper" for Flux.1 dev. Each row of the
table comes from the model's own card, whose address is next to it; guidance 0 on a card means no
guidance, which is 1 here. The cards of LCM, TCD and SDXL Turbo agree with diffusers'
documentation (huggingface.co/docs/diffusers: using-diffusers/inference_with_lcm,
inference_with_tcd_lora, sdxl_turbo).

LCM's and TCD's schedulers take their steps from 50 timesteps, 999, 759, 499 and 259 for four steps;
those of the uniform trailing schedule are 999, 749, 499 and 249, as DMD2's card gives them.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from engine.api.lora_files import FewStepSettings
from engine.api.values import SamplerName, ScheduleName

# diffusers' `timestep_spacing="trailing"`.
_TRAILING = ScheduleName.SGM_UNIFORM
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_STEPS = re.compile(r"\b(\d{1,2}) ?steps?\b")
_MOST_STEPS = 16
# The names that diffusers and its trainers give to every LoRA.
_GENERAL = frozenset({"pytorch lora weights", "adapter model", "lora", "model", "snapshots"})
_REVISION = re.compile(r"[0-9a-f]{40}")
_MOST_FOLDERS = 3
# Beginnings of the names of text encoders' layers, in every dialect.
_TEXT_ENCODER = re.compile(
    r"(lora_te\d?_|text_encoder|te[12]?_|base_model\.text_encoder|lora_prior_te)"
)


# The families that predict noise. Names as theirs are also those of styles for Z-Image Turbo.
_DIFFUSION = ("sd1", "sd2", "sdxl", "sdxl_refiner")


class _Kind(msgspec.Struct, frozen=True):
    """A method of distillation: the pattern of its names, and its settings.

    The pattern sees words in lower case with one space between. A number of steps in the name
    replaces the table's if `counts`; if `needs_count`, a name without one is of something else.
    `families` are the names of those whose checkpoints are sampled so.
    """

    pattern: re.Pattern[str]
    settings: FewStepSettings
    counts: bool = True
    needs_count: bool = False
    families: tuple[str, ...] = _DIFFUSION


def _kind(
    title: str,
    pattern: str,
    sampler: SamplerName,
    steps: int,
    guidance: float = 1.0,
    *,
    counts: bool = True,
    needs_count: bool = False,
) -> _Kind:
    settings = FewStepSettings(
        title=title, sampler=sampler, schedule=_TRAILING, steps=steps, guidance=guidance
    )
    return _Kind(re.compile(pattern), settings, counts, needs_count)


def _of_flux(title: str, pattern: str, *, needs_count: bool = False) -> _Kind:
    """Return a method for Flux.1 dev, whose guidance is an input of it."""
    settings = FewStepSettings(
        title=title,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.SIMPLE,
        steps=8,
        guidance=3.5,
    )
    return _Kind(re.compile(pattern), settings, needs_count=needs_count, families=("flux1",))


# Tried in this order.
_KINDS = (
    # huggingface.co/tianweiy/DMD2: LCM's scheduler at 999, 749, 499, 249, guidance 0
    _kind("DMD2", r"\bdmd ?2?\b", SamplerName.LCM, 4),
    # huggingface.co/ByteDance/Hyper-SD: "1-Step Unified LoRA" with TCD's scheduler for 1 to 8
    # steps, guidance 0, eta 1 at one step and lower for more
    _kind("Hyper", r"\bhyper\b.*\b1 ?step", SamplerName.TCD, 4, counts=False),
    # the same card: "CFG-Preserved", 8 and 12 steps, "support 5~8 guidance scales"
    _kind("Hyper", r"\bhyper\b.*\bcfg\b", SamplerName.EULER, 8, 5.0, needs_count=True),
    # the same card: DDIM, trailing, which is Euler's method, guidance 0
    _kind("Hyper", r"\bhyper ?(sd|sdxl|sd ?15|xl)\b", SamplerName.EULER, 8),
    _kind("Hyper", r"\bhyper\b", SamplerName.EULER, 8, needs_count=True),
    # huggingface.co/ByteDance/SDXL-Lightning: Euler, trailing, guidance 0, the steps of the name
    _kind("Lightning", r"\b(sd ?)?xl lightning\b", SamplerName.EULER, 4),
    _kind("Lightning", r"\blightning\b", SamplerName.EULER, 4, needs_count=True),
    # huggingface.co/h1t/TCD-SDXL-LoRA, TCD-SD15-LoRA, TCD-SD21-base-LoRA: 4 steps, guidance 0,
    # eta 0.3, which is the sampler's own here
    _kind("TCD", r"\btcd\b", SamplerName.TCD, 4),
    # huggingface.co/wangfuyun/PCM_Weights: DDIM or Euler, trailing, the steps of the name; small
    # CFG from 1 to 2, normal CFG from 2.5 to 3.5 with 4 steps and from 3 to 6 with 8; the one that
    # is like LCM is sampled as LCM is
    _kind("PCM", r"\bpcm\b.*\blcm ?like\b", SamplerName.LCM, 4),
    _kind("PCM", r"\bpcm\b.*\bsmall ?cfg\b", SamplerName.EULER, 4),
    _kind("PCM", r"\bpcm\b.*\bnormal ?cfg 4 ?step", SamplerName.EULER, 4, 3.0),
    _kind("PCM", r"\bpcm\b.*\bnormal ?cfg\b", SamplerName.EULER, 8, 4.5),
    # huggingface.co/latent-consistency/lcm-lora-sdv1-5, lcm-lora-sdxl: 2 to 8 steps, "disable
    # guidance_scale or use values between 1.0 and 2.0"
    _kind("LCM", r"\blcm\b", SamplerName.LCM, 4),
    # huggingface.co/stabilityai/sdxl-turbo: ancestral Euler, trailing, 1 to 4 steps, guidance 0;
    # differences extracted from it as LoRAs (civitai.com/models/215485) are sampled as it is
    _kind(
        "Turbo",
        r"\b(sd ?(xl|15|21)?|xl) turbo\b|\bturbo (sd ?(xl|15|21)?|xl|lora)\b",
        SamplerName.EULER_ANCESTRAL,
        4,
    ),
    # huggingface.co/ByteDance/Hyper-SD: FLUX.1-dev with 8 or 16 steps and guidance 3.5
    _of_flux("Hyper", r"\bhyper\b", needs_count=True),
    # huggingface.co/alimama-creative/FLUX.1-Turbo-Alpha: "8-step distilled", guidance 3.5
    _of_flux("Turbo", r"\bturbo alpha\b"),
)


def few_steps_of(
    names: Iterable[str], path: Path, layers: Iterable[str], families: Collection[str] = ()
) -> FewStepSettings | None:
    """Return the settings of a LoRA that was distilled to few steps; None for every other LoRA.

    `names` are those in its metadata; `layers` are the names of its layers as the file spells them;
    `families` are the names of those that it may be for, none where that is not known.
    """
    if any(_TEXT_ENCODER.match(layer) for layer in layers):
        return None
    kinds = [
        kind
        for kind in _KINDS
        if not families or any(family in kind.families for family in families)
    ]
    found = (_named(name, kinds) for name in (*names, _own_name(path)))
    return next(filter(None, found), None)


def _own_name(path: Path) -> str:
    """Return the name of a file, or of the first folder above it whose name is no general one.

    Hugging Face's cache has files in `models--AUTHOR--NAME/snapshots/REVISION`.
    """
    names = (path.stem, *(folder.name for folder in list(path.parents)[:_MOST_FOLDERS]))
    return next((name for name in names if not _is_general(name)), path.stem)


def _is_general(name: str) -> bool:
    return _plain(name) in _GENERAL or _REVISION.fullmatch(name) is not None


def _named(name: str, kinds: Iterable[_Kind]) -> FewStepSettings | None:
    words = _plain(name)
    found = _STEPS.search(words)
    steps = int(found[1]) if found and 1 <= int(found[1]) <= _MOST_STEPS else None
    for kind in kinds:
        if not kind.pattern.search(words) or (kind.needs_count and steps is None):
            continue
        if steps is None or not kind.counts:
            return kind.settings
        return msgspec.structs.replace(kind.settings, steps=steps)
    return None


def _plain(name: str) -> str:
    """Return a name's words in lower case, with one space between."""
    return _BORDER.sub(" ", name).casefold().strip()
