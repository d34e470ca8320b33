"""What a job paints over through the VAE's encoder, once for all its pictures."""

import numpy as np

from backends.base import Array
from engine.api.features import ConcatChannels
from engine.api.record import ResolvedRequest
from engine.families.base import IdentifiedCheckpoint
from engine.pipeline.canvas.canvas import Canvas
from engine.pipeline.denoise.denoising import Denoising, EncodedCanvas
from engine.pipeline.forecast import Run
from engine.pipeline.vae.autoencoding import Autoencoder


class CanvasEncoding:
    """Encodes what the denoising wants of a canvas, and the denoiser's concatenated channels.

    An inpainting denoiser without a canvas sees a grey picture.
    """

    def __init__(
        self,
        request: ResolvedRequest,
        checkpoint: IdentifiedCheckpoint,
        canvas: Canvas | None,
        denoising: Denoising,
        vae: Autoencoder,
    ) -> None:
        self._vae = vae
        self._mask = canvas.mask if canvas else None
        self._init = canvas.picture if canvas and denoising.encodes_init else None
        self._hidden: Array | None = None
        if checkpoint.architecture.features.concat_channels is ConcatChannels.MASK:
            size = request.height, request.width
            self._hidden = canvas.hidden if canvas else np.zeros((1, 3, *size), np.float32)

    def runs(self) -> tuple[Run, ...]:
        """What `encode` will do, for estimates."""
        count = len(self._pictures)
        return self._vae.encoding(count) if count else ()

    def encode(self) -> EncodedCanvas:
        """All of it, with the encoder loaded once."""
        pictures = self._pictures
        if not pictures:
            return EncodedCanvas(mask=self._mask)
        encoded = iter(self._vae.encode(pictures))
        init = None if self._init is None else next(encoded)
        hidden = None if self._hidden is None else next(encoded)
        return EncodedCanvas(init, self._mask, hidden)

    @property
    def _pictures(self) -> list[Array]:
        return [picture for picture in (self._init, self._hidden) if picture is not None]
