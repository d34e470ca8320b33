"""Whether parts that may come from different files make one checkpoint."""

from collections.abc import Sequence

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.base import Component, Parts
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.unet import UNetConfig


def require_fitting_text(
    parts: Parts, unet: UNetConfig, encoders: Sequence[Component], told_sizes: int
) -> None:
    """The UNet attends to what its text encoders give side by side, once all of them are there.

    Where it is told sizes, it is told the last one's text as a whole beside them. Raises
    EngineError(CHECKPOINT_MISMATCH).
    """
    sources = [parts.sources[one] for one in encoders if one in parts.sources]
    texts = [one.config for one in sources if isinstance(one.config, ClipTextConfig)]
    if len(texts) < len(encoders):
        return
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
        f"The {component.label} does not fit: it is {found}, the UNet needs {needed}.",
        f"Give another with {component.option}, made for this checkpoint's family.",
    )
