"""Pictures to make maps of, the same ones on each machine."""

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def noise(width: int, height: int, seed: int = 0) -> Pixels:
    """Independent levels: every branch of an algorithm is taken."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def shapes(width: int, height: int) -> Pixels:
    """Coloured discs on a slope: flat areas, soft and hard edges in each direction."""
    y, x = np.mgrid[0:height, 0:width]
    picture = np.stack(
        [x * 255 // max(width - 1, 1), y * 255 // max(height - 1, 1), 255 - x % 256], 2
    )
    for number in range(6):
        away = (x - width * (number + 1) // 8) ** 2 + (y - height * (number * 3 % 7 + 1) // 8) ** 2
        colour = (number * 97 % 256, number * 53 % 256, 255 - number * 31)
        picture[away < (min(width, height) // (number + 4)) ** 2] = colour
    return picture.astype(np.uint8)


def drawing(width: int, height: int) -> Pixels:
    """Dark lines, rings and a grey wash on white paper."""
    y, x = np.mgrid[0:height, 0:width]
    ring = np.abs(np.hypot(x - width / 2, y - height / 2) - min(width, height) / 3) < 1.5
    grid = (x + 2 * y) % 37 < 2
    wash = (x > width // 2) & (y > height // 2)
    picture = np.full((height, width, 3), 255, np.int64)
    picture[wash] = (200, 190, 170)
    picture[grid] = (60, 40, 90)
    picture[ring] = 10
    return picture.astype(np.uint8)


PICTURES = {
    "noise": noise(61, 83),
    "shapes": shapes(230, 150),
    "drawing": drawing(190, 260),
    "line": noise(50, 1, 1),
    "dot": noise(1, 1, 2),
    "black": np.zeros((40, 70, 3), np.uint8),
}
