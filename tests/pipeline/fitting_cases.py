"""Maps brought to other sizes: the cases that `freeze_fitting` freezes.

Maps are thin lines, broad black and white, few colours and many, each in three shapes of pictures.
"""

from collections.abc import Mapping
from itertools import product

import numpy as np

from engine.api.control import ControlResize
from engine.preprocessors.opencv.edges import canny
from tests.preprocessors.pictures import PICTURES, Pixels

# Width and height: larger, smaller, another shape, and larger in one way only.
SIZES = ((200, 160), (56, 40), (40, 96), (150, 64))
MODES = tuple(ControlResize)


def _grey(plane: Pixels) -> Pixels:
    return np.repeat(plane[:, :, None], 3, axis=2)


def _maps() -> Mapping[str, Pixels]:
    shapes = PICTURES["shapes"][20:120, 40:172]
    drawing = PICTURES["drawing"][60:190, 20:120]
    broad = (shapes[:, :, 0] > 127).astype(np.uint8) * np.uint8(255)
    return {
        "thin": _grey(canny(shapes, 100, 200)),
        "thin drawing": _grey(canny(drawing, 60, 60)),
        "broad": _grey(broad),
        "few": (shapes // 64) * np.uint8(64),
        "many": shapes,
        "drawing": drawing,
    }


MAPS = _maps()
CASES = {
    f"{name}/{mode}/{size[0]}x{size[1]}": (name, mode, size)
    for name, mode, size in product(MAPS, MODES, SIZES)
}
# Inpainting: a picture and its mask.
PAINTED = MAPS["many"]
PAINTED_MASK = (np.hypot(*(np.mgrid[0:100, 0:132] - np.array([[[40]], [[60]]]))) < 30).astype(
    np.uint8
) * np.uint8(255)
PAINTED_SIZES = SIZES[:3]
# A layer's mask: soft, and neither as large as a picture nor of its shape.
AREA = PICTURES["shapes"][:, :, 1]
AREA_SIZES = ((64, 48), (8, 6), (256, 160))
