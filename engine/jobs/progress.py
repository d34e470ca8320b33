"""The progress of a job while it goes from device to device."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.api.values import ErrorInfo
from engine.jobs.saving import SavedImage
from engine.pipeline.generate import PendingLatent


@dataclass(slots=True, eq=False)
class JobProgress:
    """The pictures that a job has saved, its warnings, and its latent that is not decoded yet."""

    images: list[SavedImage] = field(default_factory=list[SavedImage])
    warnings: list[ErrorInfo] = field(default_factory=list[ErrorInfo])
    pending: PendingLatent = field(default_factory=PendingLatent)

    def add_warnings(self, warnings: Iterable[ErrorInfo]) -> None:
        """Add those that the job does not have yet."""
        for warning in warnings:
            if warning not in self.warnings:
                self.warnings.append(warning)
