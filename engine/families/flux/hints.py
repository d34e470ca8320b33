"""The usual settings of Flux.1's kinds of transformers."""

from msgspec.structs import replace

from engine.api.sentences import sentence
from engine.api.values import SamplerName, ScheduleName
from engine.checkpoints.sidecars import Card
from engine.families.checkpoint import Component, IdentifiedCheckpoint, name_of
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
# huggingface.co/black-forest-labs/FLUX.1-Kontext-dev and ComfyUI's template.
_KONTEXT = replace(_DEV, guidance=2.5)
_KREA = replace(_DEV, steps=28, guidance=4.5)
# huggingface.co/black-forest-labs: 30 is the guidance on the card of Canny, 10 on that of Depth.
_CANNY, _DEPTH = replace(_DEV, guidance=30.0), replace(_DEV, guidance=10.0)
_SCHNELL = replace(_DEV, steps=4, guidance=1.0)
DEV, KONTEXT, FILL, SCHNELL = "dev", "kontext", "fill", "schnell"
# CONTROL follows a map of a kind that nothing tells.
CANNY, DEPTH, CONTROL = CONTROLS = "canny", "depth", "control"
_KREAS = "krea"


def variant_by_name(stem: str, cards: tuple[Card, ...], alike: tuple[str, ...]) -> str:
    """Return the variant that names tell, of those whose files have the same keys.

    It is the last of `alike` where they tell none.
    """
    return next((model for model in alike if _is_called(model, stem, cards)), alike[-1])


def _is_called(name: str, stem: str, cards: tuple[Card, ...]) -> bool:
    names = (stem, *(text for card in cards for text in (card.base_model, card.title)))
    return any(name in text.casefold() for text in names)


def learnt_hints(checkpoint: IdentifiedCheckpoint) -> LearntHints | None:
    """Return the defaults for a checkpoint's transformer; None for a checkpoint without one."""
    source = checkpoint.components.get(Component.DENOISER)
    if source is None or not isinstance(source.config, FluxConfig):
        return None
    if not source.config.takes_guidance:
        return LearntHints(_SCHNELL, sentence("sampled as schnell: it takes no guidance"))
    if checkpoint.variant == FILL:
        return LearntHints(_FILL, sentence("sampled as Fill: it takes a masked picture"))
    facts = checkpoint.parts.denoiser
    if checkpoint.variant == CANNY:
        return LearntHints(_CANNY, sentence("sampled as Canny: it takes a map of edges"))
    if checkpoint.variant in (DEPTH, CONTROL):
        return LearntHints(_DEPTH, sentence("sampled as Depth: it takes a map"))
    if checkpoint.variant == KONTEXT:
        why = sentence("sampled as Kontext, by its name")
        if facts.variant == KONTEXT:
            why = sentence("sampled as Kontext, which is stated")
        return LearntHints(_KONTEXT, why)
    if _is_called(_KREAS, name_of(checkpoint.path), facts.cards):
        return LearntHints(_KREA, sentence("sampled as Krea, by its name"))
    return LearntHints(_DEV, sentence("sampled as dev: guidance is an input of it"))
