"""The usual settings of Turbo and Base, which files of one size are told apart by."""

from msgspec.structs import replace

from engine.api.sentences import sentence
from engine.api.values import SamplerName, ScheduleName
from engine.checkpoints.sidecars import Card
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.hints import CheckpointHints, LearntHints

TURBO, BASE = "turbo", "base"
# ComfyUI's workflows: 8 steps without guidance, and 25 steps with a guidance of 4 (3 to 5 on the
# card of Base; diffusers' scale counts from 0, so that it is less by 1).
_TURBO = CheckpointHints(
    sampler=SamplerName.EULER,
    schedule=ScheduleName.SIMPLE,
    steps=8,
    guidance=1.0,
    any_sampler=True,
)
_BASE = replace(_TURBO, steps=25, guidance=4.0)
_OWN_NAMES = ("zimage", "zimagebase")


def variant_of(stem: str, cards: tuple[Card, ...]) -> str:
    """Return the variant that names tell: Turbo, unless a name is Base's own."""
    for name in (stem, *(card.base_model for card in cards)):
        told = "".join(filter(str.isalnum, name.casefold().rpartition("/")[2]))
        if "turbo" in told:
            return TURBO
        for end in ("bf16", "fp16", "fp32", "fp8", "fp8e4m3fn", "fp8scaled"):
            told = told.removesuffix(end)
        if told in _OWN_NAMES or "zimagebase" in told:
            return BASE
    return TURBO


def learnt_hints(checkpoint: IdentifiedCheckpoint) -> LearntHints | None:
    """Return the defaults for a checkpoint's transformer; None for a checkpoint without one."""
    if Component.DENOISER not in checkpoint.components:
        return None
    stated = checkpoint.parts.denoiser.variant is not None
    if checkpoint.variant == BASE:
        why = sentence("sampled as Base, which is stated")
        return LearntHints(_BASE, why if stated else sentence("sampled as Base, by its name"))
    if stated:
        return LearntHints(_TURBO, sentence("sampled as Turbo, which is stated"))
    return LearntHints(_TURBO, sentence("sampled as Turbo: no name says that it is Base"))
