"""Maps of control layers: the orders for them, and maps at the size of what follows them."""

from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.api.control import ControlLayer
from engine.preprocessors.map_maker import MapOrder, WantedMap
from engine.preprocessors.scales import Pixels


class FittedMap(msgspec.Struct, frozen=True, eq=False):
    """A map at its final size: levels from 0 to 255 [height, width, 3], and what is painted.

    `kept` is what a network for inpainting sees of its mask: float32 [rows, columns] of the
    latent's cells, 1 where the picture is kept and 0 where it is painted.
    """

    levels: NDArray[np.uint8] | NDArray[np.float32]
    painted: NDArray[np.bool_] | None = None
    kept: NDArray[np.float32] | None = None

    @property
    def sha256(self) -> str:
        """A hash of the levels in 8 bits."""
        levels = np.clip(np.rint(self.levels), 0, 255).astype(np.uint8)
        return sha256(levels.tobytes()).hexdigest()


def wanted_map(layer: ControlLayer, picture: Pixels, size: tuple[int, int]) -> WantedMap | None:
    """Return the order for a layer's map of this width and height; None where it is given."""
    if layer.preprocessor is None:
        return None
    weights = Path(layer.preprocessor_weights) if layer.preprocessor_weights else None
    return WantedMap(picture, MapOrder(layer.preprocessor, weights, layer.target(*size)))
