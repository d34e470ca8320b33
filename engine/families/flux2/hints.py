"""The usual settings of FLUX.2 klein and of its base, which files of one size are told apart by."""

from msgspec.structs import replace

from engine.api.sentences import sentence
from engine.api.values import SamplerName, ScheduleName
from engine.checkpoints.sidecars import Card
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.hints import CheckpointHints, LearntHints

DISTILLED, BASE = "klein", "klein-base"
# The cards of huggingface.co/black-forest-labs: 4 steps without guidance; 50 steps and a guidance
# of 4. ComfyUI's template of base has 20 steps and 5.
_DISTILLED = CheckpointHints(
    sampler=SamplerName.EULER,
    schedule=ScheduleName.SIMPLE,
    steps=4,
    guidance=1.0,
    any_sampler=True,
)
_BASE = replace(_DISTILLED, steps=50, guidance=4.0)


def variant_of(stem: str, cards: tuple[Card, ...]) -> str:
    """Return the variant that names tell: the distilled one, unless a name says "base"."""
    names = (stem, *(text for card in cards for text in (card.base_model, card.title)))
    return BASE if any("base" in name.casefold() for name in names) else DISTILLED


def learnt_hints(checkpoint: IdentifiedCheckpoint) -> LearntHints | None:
    """Return the defaults for a checkpoint's transformer; None for a checkpoint without one."""
    if Component.DENOISER not in checkpoint.components:
        return None
    stated = checkpoint.parts.denoiser.variant is not None
    if checkpoint.variant == BASE:
        why = sentence("sampled as base, which is stated")
        return LearntHints(_BASE, why if stated else sentence("sampled as base, by its name"))
    if stated:
        return LearntHints(_DISTILLED, sentence("sampled as distilled, which is stated"))
    return LearntHints(_DISTILLED, sentence("sampled as distilled: no name says that it is base"))
