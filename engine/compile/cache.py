"""All that the cache holds of networks: those compiled for a device, and converted weights."""

from collections.abc import Collection
from pathlib import Path

from engine.api.machine import ArtifactInfo
from engine.checkpoints.known_files import KnownFiles
from engine.compile.artifacts import ArtifactStore
from engine.weights.working_copies import WorkingCopies


class NetworkCache:
    """Both kinds, in folders of their own below `folder`, which need not exist."""

    def __init__(self, folder: Path) -> None:
        known = KnownFiles(folder / "files")
        self.working_copies = WorkingCopies(folder / "weights", known=known)
        self.artifacts = ArtifactStore(folder / "compiled")

    def listed(self) -> tuple[ArtifactInfo, ...]:
        """The artifacts and the working copies in the cache, by kind and name."""
        return self.artifacts.listed() + self.working_copies.listed()

    def remove(self, names: Collection[str] = ()) -> None:
        """Delete what has these names, or all if there are none, but for what is in use."""
        self.artifacts.remove(names)
        self.working_copies.remove(names)
