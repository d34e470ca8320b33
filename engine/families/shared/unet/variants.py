"""Variants of a UNet by input channels: base, inpainting, or editing by instruction."""

from collections.abc import Callable
from pathlib import Path

from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.graphs.unet import UNetConfig


def variant_of(
    unet: UNetConfig, path: Path, title: str, sizes_name: Callable[[UNetConfig], str]
) -> str:
    """Return the variant's name, with the name of the UNet's sizes if `sizes_name` has one.

    Raises EngineError(CHECKPOINT_UNKNOWN_FAMILY), which names the family's `title`, for a number of
    input channels that no variant has.
    """
    latent = unet.out_channels
    variants = {
        latent: "base",
        2 * latent: "instruct-pix2pix",  # with the latent of the picture to change
        2 * latent + 1: "inpainting",  # with the latent of the picture, and the mask
    }
    if unet.in_channels not in variants:
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            sentence(
                "The UNet of {path} takes {in_channels} channels, as no {title} UNet does.",
                path=path.name,
                in_channels=unet.in_channels,
                title=title,
            ),
            sentence("Choose a text-to-image or inpainting model."),
        )
    variant, sizes = variants[unet.in_channels], sizes_name(unet)
    return sizes if sizes and variant == "base" else " ".join(filter(None, (sizes, variant)))


def require_known_additions(unet: UNetConfig, path: Path, title: str, *, adds_sizes: bool) -> None:
    """Require that the UNet takes pooled text and time ids exactly if its family does.

    Raises EngineError(CHECKPOINT_UNKNOWN_FAMILY).
    """
    if bool(unet.added_width) != adds_sizes:
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            sentence(
                "The UNet of {path} adds {added_width} numbers to the time, as no "
                "{title} UNet does.",
                path=path.name,
                added_width=unet.added_width,
                title=title,
            ),
            sentence("Choose another version of the model."),
        )
