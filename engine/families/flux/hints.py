"""The usual settings of Flux.1's kinds of transformers."""

from msgspec.structs import replace

from engine.api.sentences import sentence
from engine.api.values import SamplerName, ScheduleName
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.hints import CheckpointHints, LearntHints
from engine.graphs.flux import FluxConfig

# huggingface.co/black-forest-labs: 3.5 and 4.5 are the guidances on the cards of dev and Krea, 4
# are the steps of schnell. 20 steps are usual in ComfyUI and Forge.
_DEV = CheckpointHints(
    sampler=SamplerName.EULER,
    schedule=ScheduleName.SIMPLE,
    steps=20,
    guidance=3.5,
    any_sampler=True,
)
# huggingface.co/black-forest-labs/FLUX.1-Fill-dev: 30, and 50 steps; ComfyUI's template has 20.
_FILL = replace(_DEV, guidance=30.0)
_KREA = replace(_DEV, steps=28, guidance=4.5)
_SCHNELL = replace(_DEV, steps=4, guidance=1.0)


def learnt_hints(checkpoint: IdentifiedCheckpoint) -> LearntHints | None:
    """Return the defaults for a checkpoint's transformer; None for a checkpoint without one."""
    source = checkpoint.components.get(Component.DENOISER)
    if source is None or not isinstance(source.config, FluxConfig):
        return None
    if not source.config.takes_guidance:
        return LearntHints(_SCHNELL, sentence("sampled as schnell: it takes no guidance"))
    if checkpoint.variant == "fill":
        return LearntHints(_FILL, sentence("sampled as Fill: it takes a masked picture"))
    cards = checkpoint.parts.denoiser.cards
    names = (*(card.base_model for card in cards), checkpoint.path.stem)
    if any("krea" in name.casefold() for name in names):
        return LearntHints(_KREA, sentence("sampled as Krea, by its name"))
    return LearntHints(_DEV, sentence("sampled as dev: guidance is an input of it"))
