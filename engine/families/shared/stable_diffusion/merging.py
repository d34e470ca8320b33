"""Replacing components of a checkpoint by those of other files, with the facts about each."""

from pathlib import Path

import msgspec

from engine.api.request import CheckpointOverride
from engine.api.sentences import sentence
from engine.api.values import PredictionType
from engine.checkpoints.index import combined_digest
from engine.families.checkpoint import Component, Parts, TextFacts
from engine.families.shared.stable_diffusion.key_layout import LABELS
from engine.graphs.clip_text import ClipTextConfig

_BY_LEVELS = {PredictionType.EDM, PredictionType.EDM_V}


def with_part(parts: Parts, component: Component, other: Parts, path: Path) -> Parts:
    """Return `parts` with a component of `other` and the facts of `other` about the component."""
    whole = msgspec.structs.replace(
        parts,
        sources={**parts.sources, component: other.sources[component]},
        digest=combined_digest(parts.digest, component, other.digest),
        evidence=(
            *parts.evidence,
            other.words_of(LABELS[component], path),
        ),
    )
    match component:
        case Component.DENOISER:
            # Statistics belong to the denoiser, a scale to the VAE; only one of both applies.
            same = _normalises(parts) == _normalises(other)
            vae = parts.vae if same else msgspec.structs.replace(parts.vae, scale=None, shift=None)
            return msgspec.structs.replace(whole, denoiser=other.denoiser, vae=vae)
        case Component.VAE if _normalises(parts) or _normalises(other):
            return msgspec.structs.replace(
                whole, vae=msgspec.structs.replace(parts.vae, fits_f16=other.vae.fits_f16)
            )
        case Component.VAE:
            return msgspec.structs.replace(whole, vae=other.vae)
        case Component.TEXT_ENCODER:
            same_words = _vocabulary(parts) in {None, _vocabulary(other)}
            kept = parts.text if same_words else TextFacts()
            return msgspec.structs.replace(whole, text=other.text if other.text.tokenizer else kept)
        case _:
            return whole


def _normalises(parts: Parts) -> bool:
    """Tell whether the denoiser's latents are normalised channel by channel."""
    return parts.denoiser.statistics is not None or parts.denoiser.prediction is PredictionType.EDM


def _vocabulary(parts: Parts) -> int | None:
    source = parts.sources.get(Component.TEXT_ENCODER)
    return (
        source.config.vocabulary if source and isinstance(source.config, ClipTextConfig) else None
    )


def with_override(parts: Parts, override: CheckpointOverride) -> Parts:
    """Return `parts` with the prediction type that the user states, if any."""
    stated = override.prediction
    if stated is None:
        return parts
    facts = parts.denoiser
    reason = sentence("you say so")
    if stated is not facts.prediction:
        reason = sentence("you say so (found: {found})", found=facts.words)
    # Only EDM's prediction types keep levels; the others have timesteps.
    levels = facts.levels if stated in _BY_LEVELS else None
    facts = msgspec.structs.replace(
        facts, prediction=stated, reason=reason, levels=levels, unstated=None
    )
    return msgspec.structs.replace(parts, denoiser=facts)
