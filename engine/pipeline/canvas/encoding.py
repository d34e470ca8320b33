"""Encodes a canvas with the VAE, once for all pictures of a job."""

import msgspec
import numpy as np

from backends.base import Array
from engine.api.features import ConcatChannels
from engine.pipeline.canvas.canvas import Canvas
from engine.pipeline.canvas.masks import CellMask
from engine.pipeline.denoise.denoising import EncodedCanvas
from engine.pipeline.vae.autoencoding import Autoencoder


class CanvasPictures(msgspec.Struct, frozen=True, eq=False):
    """The pictures that are encoded for a canvas, float32 [1, 3, height, width] in [-1, 1].

    `init` is the picture to redraw. `hidden` is the same picture with grey in the painted part, for
    a denoiser with input channels for it. A picture that is not needed is None.
    """

    init: Array | None = None
    hidden: Array | None = None
    mask: CellMask | None = None

    @property
    def count(self) -> int:
        """The number of pictures that are encoded."""
        return len(self._pictures)

    def encode(self, vae: Autoencoder) -> EncodedCanvas:
        """Encode all pictures, with the encoder loaded once."""
        if not self.count:
            return EncodedCanvas(mask=self.mask)
        encoded = iter(vae.encode(self._pictures))
        init = None if self.init is None else next(encoded)
        hidden = None if self.hidden is None else next(encoded)
        return EncodedCanvas(init, self.mask, hidden)

    @property
    def _pictures(self) -> list[Array]:
        return [picture for picture in (self.init, self.hidden) if picture is not None]


def canvas_pictures(
    canvas: Canvas | None, channels: ConcatChannels, size: tuple[int, int], *, encodes_init: bool
) -> CanvasPictures:
    """Choose the pictures to encode for a denoiser with these extra input channels.

    `size` is height and width in pixels. An inpainting denoiser without a canvas gets a grey
    picture.
    """
    hidden = None
    if channels.takes_mask:
        hidden = canvas.hidden if canvas else np.zeros((1, 3, *size), np.float32)
    if canvas is None:
        return CanvasPictures(hidden=hidden)
    return CanvasPictures(canvas.picture if encodes_init else None, hidden, canvas.mask)
