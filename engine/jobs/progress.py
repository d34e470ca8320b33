"""The progress of a job, kept when it moves from one device to the next."""

from collections.abc import Iterable

import msgspec

from engine.api.values import ErrorInfo
from engine.jobs.saving import SavedImage
from engine.pipeline.generate import PendingLatent


class JobProgress(msgspec.Struct, eq=False):
    """The saved pictures of a job, its warnings, and its last latent, if not decoded yet."""

    images: list[SavedImage] = msgspec.field(default_factory=list[SavedImage])
    warnings: list[ErrorInfo] = msgspec.field(default_factory=list[ErrorInfo])
    pending: PendingLatent = msgspec.field(default_factory=PendingLatent)

    def add_warnings(self, warnings: Iterable[ErrorInfo]) -> None:
        """Add the warnings that the job does not have yet."""
        for warning in warnings:
            if warning not in self.warnings:
                self.warnings.append(warning)
