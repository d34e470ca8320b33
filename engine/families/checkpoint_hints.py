"""Merging the defaults in a checkpoint's `safelight.json` with the defaults for its kind."""

from dataclasses import replace

import msgspec

from engine.api.sentences import Sentence
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.hints import NO_HINTS, CheckpointHints, LearntHints


def with_hints(
    checkpoint: IdentifiedCheckpoint, hints: CheckpointHints, learnt: LearntHints | None
) -> IdentifiedCheckpoint:
    """Return the checkpoint with its own hints, and with the learnt hints for all other settings.

    `hints` are from the folder's `safelight.json`, `learnt` from the kind of checkpoint.
    """
    if learnt is not None:
        checkpoint = with_evidence(checkpoint, learnt.evidence)
        hints = _together(hints, learnt.hints)
    if hints.size is not None and checkpoint.parts.denoiser.sample_size is None:
        checkpoint = replace(checkpoint, default_size=hints.size)
    latent = checkpoint.latent
    if hints.preview is not None and len(hints.preview.weights) == latent.channels:
        latent = msgspec.structs.replace(latent, preview=hints.preview)
    return replace(checkpoint, hints=hints, latent=latent)


def with_evidence(checkpoint: IdentifiedCheckpoint, *words: Sentence) -> IdentifiedCheckpoint:
    """Return the checkpoint with more evidence, inserted before the last line, the conclusion."""
    evidence = checkpoint.evidence
    return replace(checkpoint, evidence=(*evidence[:-1], *words, *evidence[-1:]))


def _together(given: CheckpointHints, learnt: CheckpointHints) -> CheckpointHints:
    if given == NO_HINTS:
        return learnt
    own = msgspec.structs.asdict(given)
    fields = msgspec.structs.asdict(learnt) | {k: v for k, v in own.items() if v is not None}
    return CheckpointHints(**fields)
