"""A check of pictures that a network for inpainting of a transformer leads."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.api.control import ControlLayer
from tests.families.flow_pictures import Picture

# The painted part, whose edges lie within cells of the latent.
_PART = np.s_[12:44, 20:70]


def check_painting(picture: Picture, model: Path, network: Path, shown: Path) -> None:
    """Check that the mask and what is kept of a picture act, and that what is painted does not.

    `shown` is a picture of 96 x 64 pixels, beside which others are written.
    """
    pixels, mask = np.array(Image.open(shown)), shown.with_name("mask.png")
    levels = np.zeros(pixels.shape[:2], np.uint8)
    levels[_PART] = 255
    Image.fromarray(levels).save(mask)

    def made(pixels: NDArray[np.uint8], mask: Path | None = mask) -> NDArray[np.uint8]:
        Image.fromarray(pixels).save(shown)
        layer = ControlLayer(
            image=str(shown), network=str(network), mask=None if mask is None else str(mask)
        )
        return picture(model, controls=(layer,))

    usual, painted, kept, black = made(pixels), pixels.copy(), pixels.copy(), pixels.copy()
    painted[_PART] ^= 255
    kept[:4] ^= 255
    black[_PART] = 0
    np.testing.assert_array_equal(made(painted), usual)
    assert not np.array_equal(made(kept), usual)
    # It sees the same picture, and that all of it is kept.
    assert not np.array_equal(made(black, None), usual)
