"""The places of the tiles in which a second pass redraws a picture."""

import math

# The least overlap of two tiles, as a share of a tile's side.
_OVERLAP = 0.25


def tile_starts(side: int, length: int) -> list[int]:
    """Return where tiles of this length begin along a side, of which one may be all.

    Both are in cells of the latent. Neighbours overlap by at least a quarter of the length.
    """
    apart, free = max(int(length * (1 - _OVERLAP)), 1), side - length
    count = 1 + math.ceil(free / apart)
    return [round(place * free / max(count - 1, 1)) for place in range(count)]
