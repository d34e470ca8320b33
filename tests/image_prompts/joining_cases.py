"""Keys, values and pictures by which `freeze_joining` runs ComfyUI_IPAdapter_plus's code."""

from itertools import product

import numpy as np

# The names there, and the layers' widths with the factor of the weight at each.
SCALINGS: tuple[str, ...] = ("V only", "K+V", "K+V w/ C penalty", "K+mean(V) w/ C penalty")
COMBINATIONS = ("concat", "add", "subtract", "average", "norm average")
WIDTHS = (320, 1280)
WEIGHT = 0.7
CASES = tuple(product(SCALINGS, WIDTHS))
_RANDOM = np.random.default_rng(18)
# Queries [1, 3, width]; keys and values [1, 4 tokens, width], by width.
QUERIES, KEYS, VALUES = (
    {width: _RANDOM.standard_normal((1, count, width), np.float32) for width in WIDTHS}
    for count in (3, 4, 4)
)
# What an encoder sees in three pictures, [3, tokens, numbers].
PICTURES = _RANDOM.standard_normal((3, 2, 6), np.float32)
