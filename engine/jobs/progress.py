"""The progress of a job, kept when it moves from one device to the next."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.api.values import ErrorInfo
from engine.jobs.saving import SavedImage
from engine.pipeline.generate import PendingLatent


@dataclass(slots=True, eq=False)
class JobProgress:
    """The saved pictures of a job, its warnings, and its last latent, if not decoded yet."""

    images: list[SavedImage] = field(default_factory=list[SavedImage])
    warnings: list[ErrorInfo] = field(default_factory=list[ErrorInfo])
    pending: PendingLatent = field(default_factory=PendingLatent)

    def add_warnings(self, warnings: Iterable[ErrorInfo]) -> None:
        """Add the warnings that the job does not have yet."""
        for warning in warnings:
            if warning not in self.warnings:
                self.warnings.append(warning)
