"""The sizes at which Flux.1 Kontext was shown reference pictures."""

# Width and height of about a million pixels; each is there both ways (Black Forest Labs, diffusers
# `PREFERRED_KONTEXT_RESOLUTIONS`, ComfyUI `FluxKontextImageScale`).
_SIZES = (
    (672, 1568),
    (688, 1504),
    (720, 1456),
    (752, 1392),
    (800, 1328),
    (832, 1248),
    (880, 1184),
    (944, 1104),
    (1024, 1024),
)
_EVERY = (*_SIZES, *((height, width) for width, height in _SIZES[:-1]))


def reference_size(size: tuple[int, int]) -> tuple[int, int]:
    """Return the width and height of training that are nearest to a picture's shape."""
    shape = size[0] / size[1]
    return min(_EVERY, key=lambda size: (abs(shape - size[0] / size[1]), size))
