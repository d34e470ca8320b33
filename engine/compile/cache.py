"""The cached data of networks: compiled networks (artifacts) and working copies of weights."""

from collections.abc import Collection
from pathlib import Path

from engine.api.machine import ArtifactInfo
from engine.checkpoints.known_files import KnownFiles
from engine.compile.artifacts import ArtifactStore
from engine.weights.working_copies import WorkingCopies


class NetworkCache:
    """The artifacts and working copies, in subfolders of `folder`, which need not exist."""

    def __init__(self, folder: Path) -> None:
        known = KnownFiles(folder / "files")
        self.working_copies = WorkingCopies(folder / "weights", known=known)
        self.artifacts = ArtifactStore(folder / "compiled")

    def listed(self) -> tuple[ArtifactInfo, ...]:
        """Return the artifacts and then the working copies in the cache, each by name."""
        return self.artifacts.listed() + self.working_copies.listed()

    def remove(self, names: Collection[str] = ()) -> None:
        """Delete the entries with these names (none given: all), except those in use."""
        self.artifacts.remove(names)
        self.working_copies.remove(names)
