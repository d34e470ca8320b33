"""The sizes at which FLUX.2 sees reference pictures: their own, up to a megapixel."""

import math

_MOST_PIXELS = 1024 * 1024
# The side of a token.
_PIXELS = 16
Size = tuple[int, int]


def reference_scale(size: Size) -> Size:
    """Return the width and height to which a picture of more than a megapixel is made smaller.

    Others keep theirs (diffusers `Flux2KleinPipeline`).
    """
    area = size[0] * size[1]
    if area <= _MOST_PIXELS:
        return size
    scale = math.sqrt(_MOST_PIXELS / area)
    return int(size[0] * scale), int(size[1] * scale)


def reference_size(size: Size) -> Size:
    """Return the width and height of the middle that is shown, multiples of a token's side."""
    width, height = (max(_PIXELS, side // _PIXELS * _PIXELS) for side in reference_scale(size))
    return width, height
