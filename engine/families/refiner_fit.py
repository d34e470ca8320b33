"""Pairing a base checkpoint with a refiner, which finishes its pictures."""

from dataclasses import replace

from engine.api.features import ConcatChannels
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.identify import require_complete


def refiner_for(base: IdentifiedCheckpoint, refiner: IdentifiedCheckpoint) -> IdentifiedCheckpoint:
    """Return a refiner with the latents of a base; its VAE is not needed.

    Usually that is the SDXL refiner, but any checkpoint with the same latents may refine, as in
    other tools. Raises EngineError: CHECKPOINT_MISMATCH for a refiner with other latents or with
    concatenated channels, CHECKPOINT_INCOMPLETE for one without denoiser or text encoder.
    """
    parts = tuple(part for part in refiner.missing if part is not Component.VAE)
    require_complete(replace(refiner, missing=parts))
    if not share_latents(base, refiner):
        raise _misfit(
            base,
            refiner,
            sentence(
                "its latents are those of {family}, not of {family_2}",
                family=refiner.family,
                family_2=base.family,
            ),
        )
    if refiner.architecture.features.concat_channels is not ConcatChannels.NONE:
        raise _misfit(base, refiner, sentence("it needs a mask or a picture beside the latent"))
    return replace(refiner, latent=base.latent, network_prefix="refiner_")


def share_latents(checkpoint: IdentifiedCheckpoint, other: IdentifiedCheckpoint) -> bool:
    """Return True if latents of one checkpoint are latents of the other: equal format and scale."""
    ours, theirs = checkpoint.latent, other.latent
    if Component.VAE in other.components and ours.downscale != theirs.downscale:
        return False
    return (ours.channels, ours.scale, ours.shift, ours.statistics) == (
        theirs.channels,
        theirs.scale,
        theirs.shift,
        theirs.statistics,
    )


def _misfit(
    base: IdentifiedCheckpoint, refiner: IdentifiedCheckpoint, why: Sentence
) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "{path} cannot refine pictures of {path_2}: {why}.",
            path=refiner.path.name,
            path_2=base.path.name,
            why=why,
        ),
        sentence("Choose the SDXL refiner for an SDXL model, or one of the same family."),
    )
