"""The place of a start picture on a canvas that has grown around it."""

from pathlib import Path

import msgspec
from PIL import Image

from engine.api.masks import Box, Margins
from engine.api.record import ResolvedRequest
from engine.api.values import InputRole

Size = tuple[int, int]


class Place(msgspec.Struct, frozen=True):
    """The box of a start picture on the canvas around it, in the pixels of both.

    `whole` is the width and height of the canvas.
    """

    box: Box
    whole: Size

    def at(self, size: Size) -> Box:
        """Return the place on the canvas at another width and height; no side is below 1."""
        across, down = size[0] / self.whole[0], size[1] / self.whole[1]
        left, top = round(self.box[0] * across), round(self.box[1] * down)
        right, bottom = round(self.box[2] * across), round(self.box[3] * down)
        return left, top, max(right, left + 1), max(bottom, top + 1)

    def within(self, size: Size) -> Size:
        """Return the width and height of the start picture on the canvas of this size."""
        left, top, right, bottom = self.at(size)
        return right - left, bottom - top

    def covered(self, mask: Image.Image, around: int) -> Image.Image:
        """Return a mask of the start picture as one of the canvas; `around` is the level there."""
        left, top, right, bottom = self.box
        whole = Image.new("L", self.whole, around)
        whole.paste(
            mask.resize((right - left, bottom - top), Image.Resampling.LANCZOS), (left, top)
        )
        return whole


def place_on_canvas(request: ResolvedRequest, image: Path, size: Size) -> Place | None:
    """Return the place of a picture of this width and height on the canvas that grows around it.

    None for another picture than the start picture, and where the canvas does not grow.
    """
    starts = (Path(file.path) for file in request.inputs if file.role is InputRole.INIT)
    options = request.mask_options
    if not options.expands or next(starts, None) != image:
        return None
    return grown_around(size, options.expand)


def grown_around(size: Size, margins: Margins) -> Place:
    """Return the place of a picture of this width and height within margins around it."""
    (left, top, right, bottom), (width, height) = margins, size
    box = left, top, left + width, top + height
    return Place(box, (width + left + right, height + top + bottom))
