"""The size of a second pass, by the convention of its tool."""

import msgspec

from engine.api.conventions import Convention
from engine.api.second_passes import LATENT_UPSCALERS, SecondPass
from engine.api.values import ConventionName

# Width and height, in pixels.
Size = tuple[int, int]


class SecondSize(msgspec.Struct, frozen=True):
    """The size of a second pass, that of the pass before, and the one to which it is enlarged.

    Where `enlarged` is larger, whole cells are cut off on both sides, and parts of cells on the
    right and below. In A1111 a denoiser with size conditioning is told of `enlarged`.
    """

    before: Size
    size: Size
    enlarged: Size


def second_size(
    before: Size, wanted: SecondPass, convention: Convention, multiple: int
) -> SecondSize:
    """Return the size of a pass over a picture of the size `before`, in multiples of `multiple`.

    A1111 cuts off the fraction of a scaled side, and fills a wanted width and height, beyond which
    the picture is cut off (`calculate_target_resolution` of `modules/processing.py`). ComfyUI
    rounds scaled latents to whole cells (`LatentUpscaleBy`), and stretches to a width and height.
    In both a wanted side alone keeps the shape; ComfyUI's nodes round the other side.
    """
    tool = convention.name
    target = _target(before, wanted, rounds=tool is ConventionName.COMFY)
    if target is not None:
        enlarged = _filling(before, target) if tool is ConventionName.A1111 else target
        return SecondSize(before, _whole(target, multiple), enlarged)
    width, height = (side * wanted.scale for side in before)
    if tool is not ConventionName.COMFY:
        enlarged = int(width), int(height)
    elif wanted.upscaler in LATENT_UPSCALERS:
        enlarged = round(width / multiple) * multiple, round(height / multiple) * multiple
    else:
        enlarged = round(width), round(height)
    return SecondSize(before, _whole(enlarged, multiple), enlarged)


def _target(before: Size, wanted: SecondPass, *, rounds: bool) -> Size | None:
    """Return the wanted width and height; a side that is open keeps the shape of `before`."""
    width, height = wanted.width, wanted.height
    if width is not None and height is not None:
        return width, height
    if width is not None:
        follows = width * before[1] / before[0]
        return width, round(follows) if rounds else int(follows)
    if height is not None:
        follows = height * before[0] / before[1]
        return round(follows) if rounds else int(follows), height
    return None


def _filling(before: Size, target: Size) -> Size:
    """Return the size of the shape of `before` that just covers `target`."""
    width, height = before
    if width / height < target[0] / target[1]:
        return target[0], target[0] * height // width
    return target[1] * width // height, target[1]


def _whole(size: Size, multiple: int) -> Size:
    return size[0] // multiple * multiple, size[1] // multiple * multiple
