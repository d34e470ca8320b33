"""The usual settings of Stable Diffusion 3's models."""

from msgspec.structs import replace

from engine.api.sentences import sentence
from engine.api.values import SamplerName, ScheduleName
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.hints import CheckpointHints, LearntHints
from engine.graphs.sd3 import Sd3Config

MEDIUM, MEDIUM_35, LARGE, TURBO = "medium", "3.5-medium", "3.5-large", "3.5-large-turbo"
# huggingface.co/stabilityai: the steps and guidances on the cards; diffusers' guidance of 0 for
# turbo is 1 here.
_MEDIUM = CheckpointHints(
    sampler=SamplerName.EULER,
    schedule=ScheduleName.SIMPLE,
    steps=28,
    guidance=7.0,
    any_sampler=True,
)
_HINTS = {
    MEDIUM: LearntHints(_MEDIUM, sentence("sampled as SD 3 medium")),
    MEDIUM_35: LearntHints(
        replace(_MEDIUM, steps=40, guidance=4.5), sentence("sampled as SD 3.5 medium")
    ),
    LARGE: LearntHints(replace(_MEDIUM, guidance=3.5), sentence("sampled as SD 3.5 large")),
    TURBO: LearntHints(
        replace(_MEDIUM, steps=4, guidance=1.0),
        sentence("sampled as SD 3.5 large turbo, by its name"),
    ),
}


def learnt_hints(checkpoint: IdentifiedCheckpoint) -> LearntHints | None:
    """Return the defaults for a checkpoint's transformer; None for a checkpoint without one."""
    has_denoiser = Component.DENOISER in checkpoint.components
    return _HINTS[checkpoint.variant] if has_denoiser else None


def variant(transformer: object, names: tuple[str, ...]) -> str:
    """Return the variant of a transformer; `names` are those of its file and of its cards."""
    if not isinstance(transformer, Sd3Config) or not transformer.normalised:
        return MEDIUM
    if transformer.dual_blocks:
        return MEDIUM_35
    return TURBO if any("turbo" in name.casefold() for name in names) else LARGE
