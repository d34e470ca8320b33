"""Reporters, which are told how a job goes."""

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
    """Told how a job goes, on the thread that runs it."""

    @property
    def shows_previews(self) -> bool:
        """True if anybody sees previews; else none that costs anything is made."""
        ...

    def image_saved(self, image: SavedImage) -> None:
        """A picture is on disk."""
        ...

    def warning(self, warning: ErrorInfo) -> None:
        """Something failed and was worked around."""
        ...

    def show(self, step: int, pixels: NDArray[np.uint8]) -> None:
        """The picture so far, [height, width, 3]; on a thread of its own."""
        ...


class SilentReporter:
    """A `JobReporter` that says nothing; a base for those that say little."""

    shows_previews: bool = False

    def expect(self, estimate: PhaseEstimate) -> None:
        """Say nothing."""

    def phase(self, phase: Phase) -> None:
        """Say nothing."""

    def progress(self, done: int, total: int) -> None:
        """Say nothing."""

    def preview(self, step: int, latent: Latent, form: LatentFormat) -> None:
        """Say nothing."""

    def image_saved(self, image: SavedImage) -> None:
        """Say nothing."""

    def warning(self, warning: ErrorInfo) -> None:
        """Say nothing."""

    def show(self, step: int, pixels: NDArray[np.uint8]) -> None:
        """Say nothing."""
