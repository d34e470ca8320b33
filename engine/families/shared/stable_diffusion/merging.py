"""Joining parts of several files to those of one checkpoint, with the facts about each."""

from dataclasses import replace
from pathlib import Path

from engine.api.request import CheckpointOverride
from engine.api.values import PredictionType
from engine.checkpoints.index import combined_digest
from engine.families.base import Component, Parts
from engine.families.shared.stable_diffusion.key_layout import LABELS
from engine.graphs.clip_text import ClipTextConfig

_BY_LEVELS = {PredictionType.EDM, PredictionType.EDM_V}


def with_part(parts: Parts, component: Component, other: Parts, path: Path) -> Parts:
    """`parts` with a component of `other`, and with what `other` says about that component."""
    whole = replace(
        parts,
        sources={**parts.sources, component: other.sources[component]},
        digest=combined_digest(parts.digest, component, other.digest),
        evidence=(
            *parts.evidence,
            f"{LABELS[component]} from {path.name}: {'; '.join(other.evidence)}",
        ),
    )
    match component:
        case Component.DENOISER:
            return _with_denoiser(whole, other)
        case Component.VAE if _normalises(parts) or _normalises(other):
            return replace(whole, vae_fits_f16=other.vae_fits_f16)
        case Component.VAE:
            return replace(
                whole,
                latent_scale=other.latent_scale,
                latent_shift=other.latent_shift,
                vae_fits_f16=other.vae_fits_f16,
            )
        case Component.TEXT_ENCODER_2:
            return whole
        case Component.TEXT_ENCODER:
            same_words = _vocabulary(parts) in {None, _vocabulary(other)}
            kept = parts.tokenizer if same_words else None
            return replace(whole, tokenizer=other.tokenizer or kept)


def _with_denoiser(parts: Parts, other: Parts) -> Parts:
    """Take the facts about the denoiser of `other`, which is in `parts` already."""
    # How latents are normalised is the denoiser's; where it is not, the VAE tells.
    same = _normalises(parts) == _normalises(other)
    return replace(
        parts,
        latent_scale=parts.latent_scale if same else None,
        latent_shift=parts.latent_shift if same else None,
        levels=other.levels,
        statistics=other.statistics,
        prediction=other.prediction,
        reason=other.reason,
        zero_terminal_snr=other.zero_terminal_snr,
        sample_size=other.sample_size,
        unstated=other.unstated,
        cards=other.cards,
    )


def _normalises(parts: Parts) -> bool:
    """Tell whether the denoiser's latents are normalised channel by channel."""
    return parts.statistics is not None or parts.prediction is PredictionType.EDM


def _vocabulary(parts: Parts) -> int | None:
    source = parts.sources.get(Component.TEXT_ENCODER)
    return (
        source.config.vocabulary if source and isinstance(source.config, ClipTextConfig) else None
    )


def with_override(parts: Parts, override: CheckpointOverride) -> Parts:
    """Let the denoiser predict what a person says."""
    stated = override.prediction
    if stated is None:
        return parts
    found = f"{parts.prediction.label} because {parts.reason}"
    reason = "you say so" + ("" if stated is parts.prediction else f" (found: {found})")
    # Levels that are no timesteps are those of EDM alone.
    levels = parts.levels if stated in _BY_LEVELS else None
    return replace(parts, prediction=stated, reason=reason, levels=levels, unstated=None)
