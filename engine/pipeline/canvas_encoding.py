"""What a job paints over through the VAE's encoder, once for all its pictures."""

import numpy as np

from backends.base import Array, Session
from engine.api.record import ResolvedRequest
from engine.api.values import Phase
from engine.families.base import IdentifiedCheckpoint
from engine.pipeline import checks, networks
from engine.pipeline.canvas import Canvas
from engine.pipeline.denoising import Denoising, EncodedCanvas, EncodedImage
from engine.pipeline.forecast import Run
from engine.pipeline.networks import Beside
from engine.pipeline.stages import Stages


class CanvasEncoding:
    """Encodes what the denoising wants of a canvas, and what the denoiser sees beside the latent.

    An inpainting denoiser without a canvas sees a grey picture.
    """

    def __init__(
        self,
        request: ResolvedRequest,
        checkpoint: IdentifiedCheckpoint,
        canvas: Canvas | None,
        denoising: Denoising,
        stages: Stages,
    ) -> None:
        self._form, self._stages = checkpoint.latent, stages
        self._mask = canvas.mask if canvas else None
        self._init = canvas.picture if canvas and denoising.encodes_init else None
        self._hidden: Array | None = None
        if networks.seen_beside(checkpoint) is Beside.MASK:
            size = request.height, request.width
            self._hidden = canvas.hidden if canvas else np.zeros((1, 3, *size), np.float32)
        self._network = networks.encoder(checkpoint, request.height, request.width)

    def runs(self, cells: int) -> tuple[Run, ...]:
        """What `encode` will do, for estimates."""
        count = len(self._pictures)
        run = Run(Phase.ENCODE, self._network, times=count, size=cells)
        return (run,) if count else ()

    def encode(self) -> EncodedCanvas:
        """All of it, with the encoder loaded once."""
        pictures = self._pictures
        if not pictures:
            return EncodedCanvas(mask=self._mask)

        def work(session: Session) -> list[Array]:
            return [self._stages.call(session, {"image": one})["moments"] for one in pictures]

        moments = self._stages.run(Phase.ENCODE, self._network, work, _problem)
        encoded = iter([EncodedImage.from_moments(one, self._form) for one in moments])
        init = None if self._init is None else next(encoded)
        hidden = None if self._hidden is None else next(encoded)
        return EncodedCanvas(init, self._mask, hidden)

    @property
    def _pictures(self) -> list[Array]:
        return [picture for picture in (self._init, self._hidden) if picture is not None]


def _problem(moments: list[Array]) -> str | None:
    return next(filter(None, map(checks.numbers, moments)), None)
