"""Whether parts that may come from different files make one checkpoint."""

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

# The pixels on a side that a number of a latent stands for, in every family that is run.
DOWNSCALE = 8


def require_fitting_text(
    parts: Parts, unet: UNetConfig, encoders: Sequence[Component], told_sizes: int
) -> None:
    """The UNet attends to what its text encoders give side by side.

    Where it is told sizes, it is told the last one's text as a whole beside them. While one is
    missing, those that are there must leave room for one that fits. Raises
    EngineError(CHECKPOINT_MISMATCH).
    """
    found = {one: parts.sources[one].config for one in encoders if one in parts.sources}
    texts = {one: text for one, text in found.items() if isinstance(text, ClipTextConfig)}
    if len(texts) < len(encoders):
        _require_room(texts, unet, encoders[-1], told_sizes)
    else:
        _require_fitting_all(list(texts.values()), unet, encoders, told_sizes)


def require_same_factor(parts: Parts, other: Parts) -> None:
    """A VAE from elsewhere makes as many pixels of a latent as the one in its place did.

    Where there is none yet, as those of all families do. Raises EngineError(CHECKPOINT_MISMATCH).
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
    texts: Mapping[Component, ClipTextConfig], unet: UNetConfig, last: Component, told_sizes: int
) -> None:
    """What the others leave of the context is a width that the last one can have.

    As a whole, a text is told in as many numbers as its encoder is wide: OpenCLIP's and CLIP's all
    project so.
    """
    taken = sum(text.width for text in texts.values())
    left = unet.context_width - taken
    sizes = unet.added_width - left
    for encoder, text in texts.items():
        if encoder is last and told_sizes:
            _require_fitting_whole(text, unet, encoder, told_sizes)
        of_last = encoder is not last and told_sizes and (sizes <= 0 or sizes % told_sizes)
        if left <= 0 or of_last:
            wanted = f"one that leaves room for the {LABELS[last]} in {unet.context_width}"
            raise misfit(encoder, f"{text.width} wide", wanted)


def _require_fitting_all(
    texts: Sequence[ClipTextConfig],
    unet: UNetConfig,
    encoders: Sequence[Component],
    told_sizes: int,
) -> None:
    widths = [text.width for text in texts]
    if sum(widths) != unet.context_width:
        found = " and ".join(str(width) for width in widths)
        one = "one " if len(widths) == 1 else "a sum of "
        raise misfit(encoders[-1], f"{found} wide", f"{one}{unet.context_width} wide")
    if told_sizes:
        _require_fitting_whole(texts[-1], unet, encoders[-1], told_sizes)


def _require_fitting_whole(
    text: ClipTextConfig, unet: UNetConfig, encoder: Component, told_sizes: int
) -> None:
    """What the UNet is told is a text and sizes, of equally many numbers each."""
    if not text.projected_width:
        raise misfit(encoder, "without text_projection", "one with it")
    left = unet.added_width - text.projected_width
    if left <= 0 or left % told_sizes:
        needed = f"{told_sizes} sizes beside it in {unet.added_width} numbers"
        raise misfit(encoder, f"projected to {text.projected_width} numbers", needed)


def misfit(component: Component, found: str, needed: str) -> EngineError:
    """The error for a part that is `found` where the UNet needs `needed`."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        f"The {LABELS[component]} does not fit: it is {found}, the UNet needs {needed}.",
        "Another one is needed, made for this model's family.",
        remedies=(SupplyParts(components=(component.value,)),),
    )
