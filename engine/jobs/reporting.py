"""Reporters, which receive the events of a job."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.api.values import ErrorInfo, Phase
from engine.families.latents import LatentFormat
from engine.jobs.saving import SavedImage
from engine.pipeline.forecast import PhaseEstimate
from engine.pipeline.stages import Reporter
from engine.sampling.types import Latent


class JobReporter(Reporter, Protocol):
    """Receives the events of a job, on the thread that runs it."""

    @property
    def shows_previews(self) -> bool:
        """True if previews are shown; else no preview by a tiny VAE is made."""
        ...

    def image_saved(self, image: SavedImage) -> None:
        """Receive a picture that was saved."""
        ...

    def warning(self, warning: ErrorInfo) -> None:
        """Receive a warning about a failure that the job worked around."""
        ...

    def show(self, step: int, pixels: NDArray[np.uint8]) -> None:
        """Receive the preview of a step, [height, width, 3]; called on the previews' own thread."""
        ...


class SilentReporter:
    """A `JobReporter` that ignores all events; a base class for reporters of a few events."""

    shows_previews: bool = False

    def expect(self, estimate: PhaseEstimate) -> None:
        """Ignore the estimate."""

    def phase(self, phase: Phase) -> None:
        """Ignore the start of a phase."""

    def progress(self, done: int, total: int) -> None:
        """Ignore the progress."""

    def preview(self, step: int, latent: Latent, form: LatentFormat) -> None:
        """Ignore the denoised latent."""

    def image_saved(self, image: SavedImage) -> None:
        """Ignore the saved picture."""

    def warning(self, warning: ErrorInfo) -> None:
        """Ignore the warning."""

    def show(self, step: int, pixels: NDArray[np.uint8]) -> None:
        """Ignore the preview."""
