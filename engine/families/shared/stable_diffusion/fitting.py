"""Checks that components from different files fit together."""

from collections.abc import Mapping, Sequence

from engine.api.remedies import SupplyParts
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.base import Component, Parts
from engine.families.shared.stable_diffusion.key_layout import LABELS
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.unet import UNetConfig
from engine.graphs.vae import VaeConfig

# Pixels along the side of a latent cell, for all of Stable Diffusion.
DOWNSCALE = 8
_COLOURS = 3


def require_fitting_text(
    parts: Parts, unet: UNetConfig, encoders: Sequence[Component], time_ids: int
) -> None:
    """Require that the UNet's context is as wide as all text encoders together.

    `time_ids` is the number of the UNet's time ids; a UNet with time ids also takes the pooled text
    of the last encoder. If an encoder is missing, the others must leave width for it. Raises
    EngineError(CHECKPOINT_MISMATCH).
    """
    found = {one: parts.sources[one].config for one in encoders if one in parts.sources}
    texts = {one: text for one, text in found.items() if isinstance(text, ClipTextConfig)}
    if len(texts) < len(encoders):
        _require_room(texts, unet, encoders[-1], time_ids)
    else:
        _require_fitting_all(list(texts.values()), unet, encoders, time_ids)


def require_fitting_vae(vae: VaeConfig | TinyVaeConfig, channels: int) -> None:
    """Require a VAE for RGB pictures and latents with `channels` channels.

    Raises EngineError(CHECKPOINT_MISMATCH).
    """
    if vae.latent_channels != channels:
        found = f"for {vae.latent_channels} latent channels"
        raise misfit(Component.VAE, found, f"one for {channels}")
    if vae.image_channels != _COLOURS:
        found = f"for pictures of {vae.image_channels} channels"
        raise misfit(Component.VAE, found, f"one for {_COLOURS}")


def require_same_factor(parts: Parts, other: Parts) -> None:
    """Require that a VAE from another file downscales by the same factor as the VAE it replaces.

    Without a VAE to replace, the factor is 8. Raises EngineError(CHECKPOINT_MISMATCH).
    """
    before, now = _factor(parts) or DOWNSCALE, _factor(other)
    if now not in (None, before):
        raise misfit(
            Component.VAE, f"for pictures {now} times the latent's size", f"one for {before} times"
        )


def _factor(parts: Parts) -> int | None:
    source = parts.sources.get(Component.VAE)
    config = source.config if source else None
    return config.downscale if isinstance(config, VaeConfig | TinyVaeConfig) else None


def _require_room(
    texts: Mapping[Component, ClipTextConfig], unet: UNetConfig, last: Component, time_ids: int
) -> None:
    """Require that the present encoders leave a valid width for a missing one.

    A pooled text is taken to be as wide as its encoder, as in all of OpenCLIP's and CLIP's.
    """
    taken = sum(text.width for text in texts.values())
    left = unet.context_width - taken
    sizes = unet.added_width - left
    for encoder, text in texts.items():
        if encoder is last and time_ids:
            _require_fitting_whole(text, unet, encoder, time_ids)
        of_last = encoder is not last and time_ids and (sizes <= 0 or sizes % time_ids)
        if left <= 0 or of_last:
            wanted = f"one that leaves room for the {LABELS[last]} in {unet.context_width}"
            raise misfit(encoder, f"{text.width} wide", wanted)


def _require_fitting_all(
    texts: Sequence[ClipTextConfig],
    unet: UNetConfig,
    encoders: Sequence[Component],
    time_ids: int,
) -> None:
    widths = [text.width for text in texts]
    if sum(widths) != unet.context_width:
        found = " and ".join(str(width) for width in widths)
        one = "one " if len(widths) == 1 else "a sum of "
        raise misfit(encoders[-1], f"{found} wide", f"{one}{unet.context_width} wide")
    if time_ids:
        _require_fitting_whole(texts[-1], unet, encoders[-1], time_ids)


def _require_fitting_whole(
    text: ClipTextConfig, unet: UNetConfig, encoder: Component, time_ids: int
) -> None:
    """Require that the UNet's added width is one pooled text plus equally wide time ids."""
    if not text.projected_width:
        raise misfit(encoder, "without text_projection", "one with it")
    left = unet.added_width - text.projected_width
    if left <= 0 or left % time_ids:
        needed = f"{time_ids} sizes beside it in {unet.added_width} numbers"
        raise misfit(encoder, f"projected to {text.projected_width} numbers", needed)


def misfit(component: Component, found: str, needed: str) -> EngineError:
    """Return the error for a component that is `found` where the UNet needs `needed`."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        f"The {LABELS[component]} does not fit: it is {found}, the UNet needs {needed}.",
        "Another one is needed, made for this model's family.",
        remedies=(SupplyParts(components=(component.value,)),),
    )
