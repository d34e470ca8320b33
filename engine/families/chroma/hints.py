"""The usual settings of Chroma's kinds of transformers."""

from msgspec.structs import replace

from engine.api.sentences import sentence
from engine.api.values import SamplerName, ScheduleName
from engine.families.checkpoint import Component, IdentifiedCheckpoint, name_of
from engine.families.hints import CheckpointHints, LearntHints

# huggingface.co/lodestones: 40 steps and a guidance of 3 are on the card of Chroma1-HD; Flash was
# distilled to few steps without guidance.
_HD = CheckpointHints(
    sampler=SamplerName.EULER,
    schedule=ScheduleName.SIMPLE,
    steps=40,
    guidance=3.0,
    any_sampler=True,
)
_FLASH = replace(_HD, steps=8, guidance=1.0)


def learnt_hints(checkpoint: IdentifiedCheckpoint) -> LearntHints | None:
    """Return the defaults for a checkpoint's transformer; None for a checkpoint without one."""
    if Component.DENOISER not in checkpoint.components:
        return None
    if is_flash(checkpoint):
        return LearntHints(_FLASH, sentence("sampled as Chroma1-Flash, by its name"))
    return LearntHints(_HD, sentence("sampled as Chroma1-HD"))


def is_flash(checkpoint: IdentifiedCheckpoint) -> bool:
    """Tell whether a checkpoint's name or card says that it was distilled to few steps."""
    cards = checkpoint.parts.denoiser.cards
    names = (*(card.base_model for card in cards), name_of(checkpoint.path))
    return any("flash" in name.casefold() for name in names)
