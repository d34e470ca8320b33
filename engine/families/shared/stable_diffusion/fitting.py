"""Checks that components from different files fit together."""

from collections.abc import Mapping, Sequence

from engine.api.sentences import Sentence, sentence
from engine.errors import EngineError
from engine.families.checkpoint import Component, Parts
from engine.families.shared.misfits import misfit_of
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
    found = {
        component: parts.sources[component].config
        for component in encoders
        if component in parts.sources
    }
    texts = {
        component: text for component, text in found.items() if isinstance(text, ClipTextConfig)
    }
    if len(texts) < len(encoders):
        _require_room(texts, unet, encoders[-1], time_ids)
    else:
        _require_fitting_all(list(texts.values()), unet, encoders, time_ids)


def require_fitting_vae(vae: VaeConfig | TinyVaeConfig, channels: int) -> None:
    """Require a VAE for RGB pictures and latents with `channels` channels.

    Raises EngineError(CHECKPOINT_MISMATCH).
    """
    if vae.latent_channels != channels:
        found = sentence("for {channels} latent channels", channels=vae.latent_channels)
        raise misfit(Component.VAE, found, sentence("one for {channels}", channels=channels))
    if vae.image_channels != _COLOURS:
        found = sentence("for pictures of {channels} channels", channels=vae.image_channels)
        raise misfit(Component.VAE, found, sentence("one for {colours}", colours=_COLOURS))


def require_same_factor(parts: Parts, other: Parts) -> None:
    """Require that a VAE from another file downscales by the same factor as the VAE it replaces.

    Without a VAE to replace, the factor is 8. Raises EngineError(CHECKPOINT_MISMATCH).
    """
    before, now = _factor(parts) or DOWNSCALE, _factor(other)
    if now not in (None, before):
        raise misfit(
            Component.VAE,
            sentence("for pictures {now} times the latent's size", now=now),
            sentence("one for {before} times", before=before),
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
            wanted = sentence(
                "one that leaves room for the {label} in {width}",
                label=LABELS[last],
                width=unet.context_width,
            )
            raise misfit(encoder, sentence("{width} wide", width=text.width), wanted)


def _require_fitting_all(
    texts: Sequence[ClipTextConfig],
    unet: UNetConfig,
    encoders: Sequence[Component],
    time_ids: int,
) -> None:
    widths = [text.width for text in texts]
    if sum(widths) != unet.context_width:
        found = " and ".join(str(width) for width in widths)
        raise misfit(
            encoders[-1],
            sentence("{found} wide", found=found),
            sentence("one {width} wide", width=unet.context_width)
            if len(widths) == 1
            else sentence("a sum of {width} wide", width=unet.context_width),
        )
    if time_ids:
        _require_fitting_whole(texts[-1], unet, encoders[-1], time_ids)


def _require_fitting_whole(
    text: ClipTextConfig, unet: UNetConfig, encoder: Component, time_ids: int
) -> None:
    """Require that the UNet's added width is one pooled text plus equally wide time ids."""
    if not text.projected_width:
        raise misfit(encoder, sentence("without text_projection"), sentence("one with it"))
    left = unet.added_width - text.projected_width
    if left <= 0 or left % time_ids:
        needed = sentence(
            "{sizes} sizes beside it in {numbers} numbers",
            sizes=time_ids,
            numbers=unet.added_width,
        )
        raise misfit(
            encoder,
            sentence(
                "projected to {projected_width} numbers", projected_width=text.projected_width
            ),
            needed,
        )


def misfit(component: Component, found: Sentence, needed: Sentence) -> EngineError:
    """Return the error for a component that is `found` where the UNet needs `needed`."""
    words = sentence(
        "The {labels} does not fit: it is {found}, the UNet needs {needed}.",
        labels=LABELS[component],
        found=found,
        needed=needed,
    )
    return misfit_of(component, words)


def transformer_misfit(
    labels: Mapping[Component, Sentence], component: Component, found: Sentence, needed: Sentence
) -> EngineError:
    """Return the error for a component that is `found` where the transformer needs `needed`."""
    words = sentence(
        "The {labels} does not fit: it is {found}, the transformer needs {needed}.",
        labels=labels[component],
        found=found,
        needed=needed,
    )
    return misfit_of(component, words)
