"""Merged weights in the cache: those weights of a network that LoRAs change, as mapped files.

They are the working copies of a second folder, with a cap of its own. A copy is written while the
job runs, and only of weights that are wanted a second time: moving a slider must not write
gigabytes.
"""

from collections.abc import Mapping
from pathlib import Path

from backends.base import DType, WeightRef
from engine.api.values import ArtifactKind
from engine.checkpoints.known_files import KnownFiles
from engine.wanted_counts import WantedCounts
from engine.weights.working_copies import WorkingCopies

CAP_BYTES = 12 << 30


class MergedCopies:
    """The folder of merged weights. May be used from any thread."""

    def __init__(self, folder: Path, known: KnownFiles | None = None) -> None:
        """Open the folder; the arguments are those of `WorkingCopies`."""
        self.copies = WorkingCopies(folder, CAP_BYTES, known, ArtifactKind.MERGED_WEIGHTS)
        self._wanted = WantedCounts(folder / "wanted.json")

    def keep(
        self,
        key: str,
        weights: Mapping[str, WeightRef],
        element: DType,
        made_of: tuple[str, str],
    ) -> None:
        """Write merged weights on another thread, if their key was given before.

        See `WorkingCopies.make_beside`.
        """
        if self._wanted.add(key):
            self.copies.make_beside(key, weights, element, made_of)
