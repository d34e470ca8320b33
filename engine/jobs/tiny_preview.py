"""Previews by a tiny VAE (TAESD), on a thread of their own, at a small share of the steps' time.

The tiny VAE runs on the processor: on the job's device if that is a processor, else with ONNX
Runtime, as the processor is idle while a graphics card runs the steps.
"""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Session
from backends.cpu import CpuBackend
from engine.cancel import CancelToken
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.devices.choice import Candidate
from engine.families.architecture import TinyDecoder
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.latents import LatentFormat
from engine.jobs.reporting import JobReporter
from engine.memory.plan import WeightPlacement
from engine.pipeline.canvas.pictures import as_pixels
from engine.sampling.types import Latent
from engine.weights.working_copies import WorkingCopies

_log = logging.getLogger(__name__)

# The largest share of the steps' time that previews may take.
SHARE = 0.03
# The most steps between previews: if they are rarer, the linear previews, which are free, are
# better.
MOST_STEPS = 6
# The most cells along a side of a latent; larger latents are averaged.
MOST_CELLS = 64
# The memory of the decoder: its weights, and a latent of that size.
PREVIEW_BYTES = 260 << 20

Show = Callable[[int, NDArray[np.uint8]], None]


class TinyPreview:
    """Decodes and shows the latents of some steps, as time allows; closed with its job."""

    def __init__(
        self, load: Callable[[], Session], show: Show, clock: Callable[[], float] = monotonic
    ) -> None:
        self._load, self._show, self._clock = load, show, clock
        self._thread = ThreadPoolExecutor(1, "preview")
        self._lock = Lock()
        self._session: Session | None = None
        self._running: Future[None] | None = None
        self._given_up = self._shown = self._closed = False
        # The seconds that the last preview took, and the time when it was done; then the time of
        # the last step, and its seconds.
        self._cost = self._done = 0.0
        self._step_at: float | None = None
        self._step_s = 0.0

    def offer(self, step: int, latent: Latent) -> bool:
        """Take a step's latent [1, C, H, W], and decode it if there is time.

        Returns True once a preview was shown and as long as previews are not given up.
        """
        now = self._clock()
        if self._step_at is not None:
            self._step_s = now - self._step_at
        self._step_at = now
        if self._cost and self._step_s and self._cost > MOST_STEPS * SHARE * self._step_s:
            self._given_up = True
        if self._given_up:
            return False
        running = self._running is not None and not self._running.done()
        rested = not self._cost or now - self._done >= self._cost * (1 / SHARE - 1)
        if not running and rested:
            self._running = self._thread.submit(self._make, step, latent.copy())
        return self._shown

    def close(self) -> None:
        """Stop, and free the decoder; nothing is shown afterwards."""
        with self._lock:
            self._closed = True
            if self._session is not None:
                self._session.cancel()
        self._thread.shutdown(cancel_futures=True)
        if self._session is not None:
            self._session.close()

    def _make(self, step: int, latent: Latent) -> None:
        try:
            if self._session is None:
                session = self._load()
                with self._lock:
                    self._session = session
            start = self._clock()
            pixels = picture(self._session, latent)
            self._done = self._clock()
            self._cost = self._done - start
        except Exception as error:  # noqa: BLE001 (a preview is not worth a second failure)
            self._given_up = True
            _log.info("previews by a tiny VAE are given up: %s", error)
            return
        with self._lock:
            if not self._closed:
                self._shown = True
                self._show(step, pixels)


def picture(session: Session, latent: Latent) -> NDArray[np.uint8]:
    """Decode a tiny VAE's latent [1, C, H, W] to uint8 [height, width, 3].

    A latent with more than `MOST_CELLS` cells along a side is averaged first.
    """
    (image,) = session.run({"latent": _averaged(np.nan_to_num(latent))}).values()
    return as_pixels(image, rounds=True)[0]


def _averaged(latent: Latent) -> Array:
    factor = -(-max(latent.shape[2:]) // MOST_CELLS)
    height, width = (max(1, side // factor) for side in latent.shape[2:])
    if factor == 1:
        return latent
    cut = latent[:, :, : height * factor, : width * factor]
    blocks = cut.reshape(*latent.shape[:2], height, factor, width, factor)
    return np.ascontiguousarray(blocks.mean((3, 5), dtype=np.float32))


def _unpacked(latent: Array, patch: int) -> Array:
    """Return the cells of a packed latent; their order is that of `packed_latents`."""
    batch, channels, height, width = latent.shape
    cells = latent.reshape(batch, channels // patch**2, patch, patch, height, width)
    return cells.transpose(0, 1, 4, 2, 5, 3).reshape(batch, -1, height * patch, width * patch)


def tiny_decoder_for(
    checkpoint: IdentifiedCheckpoint, files: Iterable[Path], read: ReadIndex
) -> TinyDecoder | None:
    """Return a tiny decoder for the checkpoint's latents; None where there is none.

    It is looked for among the user's files, where the checkpoint has none of its own.
    """
    return checkpoint.architecture.previews.tiny_decoder(files, read, MOST_CELLS)


def loader(network: Network, candidate: Candidate, copies: WorkingCopies) -> Callable[[], Session]:
    """Return a function that loads the decoder on the processor."""

    def load() -> Session:
        backend, device = candidate.backend, candidate.device
        if device.id != "cpu":
            backend = CpuBackend()
            device = backend.probe()[0]
        compiler = Compiler(backend, device, copies)
        precision, placement = device.precisions[0], WeightPlacement.MEMORY
        return compiler.load(network, precision, placement, _ignore, CancelToken())

    return load


class Previewing:
    """A `JobReporter` that shows previews by a tiny VAE where there is time for them."""

    def __init__(
        self, inner: JobReporter, previews: TinyPreview, tiny: TinyDecoder, form: LatentFormat
    ) -> None:
        """Wrap the reporter `inner`; `tiny` makes the previews of latents in the format `form`."""
        self._inner, self._previews, self._form = inner, previews, form
        self.shows_previews = True
        self._scale, self._shift = np.float32(tiny.scale), np.float32(tiny.shift)
        self._patch = tiny.patch
        self.expect, self.phase, self.progress = inner.expect, inner.phase, inner.progress
        self.image_saved, self.warning, self.show = inner.image_saved, inner.warning, inner.show

    def preview(self, step: int, latent: Latent, form: LatentFormat) -> None:
        """Show a preview by the tiny VAE, or pass the latent to the inner reporter."""
        # A second pass may be drawn by a checkpoint with other latents.
        if form == self._form:
            shown = (form.unscaled(latent) - self._shift) * self._scale
            if self._previews.offer(step, _unpacked(shown, self._patch)):
                return
        self._inner.preview(step, latent, form)


def _ignore(_done: int, _total: int) -> None:
    """Report nothing: the decoder is small."""
