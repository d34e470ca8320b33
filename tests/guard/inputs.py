"""Pictures to start from, masks, and lists of words, the same wherever they are written."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_BLOCK = 8


def write_inputs(folder: Path) -> None:
    """Write all of them."""
    _picture(64, 64, 3).save(folder / "init.png")
    _picture(104, 72, 3).save(folder / "wide.png")
    _picture(64, 64, 4).save(folder / "clear.png")
    _mask(64, 64).save(folder / "mask.png")
    _mask(104, 72).save(folder / "wide-mask.png")
    words = folder / "words"
    words.mkdir()
    (words / "things.txt").write_text("cat\nhorse\n# none\nhouse of {stone|wood}\nboat\n")
    (words / "kinds.txt").write_text("light\nice\n\nglass\n")


def _picture(width: int, height: int, channels: int) -> Image.Image:
    """Blocks of colours with a ramp over them."""
    raw = np.random.PCG64(3).random_raw(width * height).astype("<u8").view(np.uint8)
    rows, columns = -(-height // _BLOCK), -(-width // _BLOCK)
    blocks = raw[: rows * columns * channels].reshape(rows, columns, channels)
    large = blocks.repeat(_BLOCK, 0).repeat(_BLOCK, 1)[:height, :width].astype(np.uint16)
    ramp = np.linspace(0, 63, width).astype(np.uint16)[None, :, None]
    return Image.fromarray((large * 3 // 4 + ramp).astype(np.uint8))


def _mask(width: int, height: int) -> Image.Image:
    """A hole whose edges lie anywhere, with a grey spot in it."""
    levels: NDArray[np.uint8] = np.zeros((height, width), np.uint8)
    levels[13:41, 21:55] = 255
    levels[20:24, 30:33] = 90
    return Image.fromarray(levels)
