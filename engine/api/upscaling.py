"""A request to make a finished picture larger, and what it would take, told before it starts."""

from typing import Annotated

import msgspec

from engine.api.fields import within
from engine.api.second_passes import Resampling, resampling_named

# The growth of a side; a network is run on its own result where it has too small a scale.
MOST_SCALE = 64.0
LEAST_TILE, MOST_TILE = 16, 8192
# No picture of so many pixels has a longer side than this.
_MOST_SIDE = 65_535


class UpscaleRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture to make larger: its file, the upscaler, and the wanted size.

    `upscaler` is the path of a file, or a `Resampling`'s value. `width` and `height`, in pixels, go
    together; `longest` is that of the longer side, the other follows. They come before `scale`, and
    without any of these the picture grows by the file's own scale.
    `resampling` brings a network's picture to the exact size. `tile` is the longest side of a tile
    in pixels; None for as much as memory allows. `backend` is that of the device, or "auto".
    """

    source: str
    upscaler: str
    scale: Annotated[float | None, within(1 / MOST_SCALE, MOST_SCALE, "scale")] = None
    width: Annotated[int | None, within(1, _MOST_SIDE, "width")] = None
    height: Annotated[int | None, within(1, _MOST_SIDE, "height")] = None
    longest: Annotated[int | None, within(1, _MOST_SIDE, "longest side")] = None
    resampling: Resampling = Resampling.LANCZOS
    tile: Annotated[int | None, within(LEAST_TILE, MOST_TILE, "side of a tile")] = None
    backend: str = "auto"

    @property
    def method(self) -> Resampling | None:
        """The method that needs no file; None where an upscaler's file is named."""
        return resampling_named(self.upscaler)

    @property
    def size(self) -> tuple[int, int] | None:
        """The exact width and height in pixels; None where the picture grows by a scale."""
        if self.width is None or self.height is None:
            return None
        return self.width, self.height


class UpscaleOutlook(msgspec.Struct, frozen=True, kw_only=True):
    """A picture that would be made: its size in pixels, and what making it takes.

    `runs` is how often the network is run over the picture, `tiles` the number of its tiles in the
    first run; both are 0 without a network. `peak_bytes` is the memory that the picture and the
    network take at once, `free_bytes` what is free on the device. `seconds` is None where nothing
    tells the time; `is_measured` is False where only the trial of the device does.
    """

    width: int
    height: int
    peak_bytes: int
    seconds: float | None
    runs: int = 0
    tiles: int = 0
    free_bytes: int = 0
    is_measured: bool = False
    device: str = ""
