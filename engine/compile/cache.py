"""The cached data of networks: compiled networks, copies of weights, encoders' results."""

from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

from backends.base import Cancellation
from engine.api.machine import ArtifactInfo
from engine.checkpoints.known_files import KnownFiles
from engine.compile.artifacts import ArtifactStore
from engine.compile.kept_results import KeptResults
from engine.weights.merged_copies import MergedCopies
from engine.weights.working_copies import WorkingCopies

# The folder of what encoders made of prompts.
ENCODED = "encoded"


class NetworkCache:
    """The artifacts, working copies, merged weights and kept results, in subfolders of `folder`.

    None of them need exist.
    """

    def __init__(self, folder: Path) -> None:
        known = KnownFiles(folder / "files")
        self.working_copies = WorkingCopies(folder / "weights", known=known)
        self.merged = MergedCopies(folder / "merged", known=known)
        self.artifacts = ArtifactStore(folder / "compiled")
        self.results = KeptResults(folder / ENCODED)

    def listed(self) -> tuple[ArtifactInfo, ...]:
        """Return the artifacts, the working copies, merged weights and results, each by name."""
        copies = self.working_copies.listed() + self.merged.copies.listed()
        return self.artifacts.listed() + copies + self.results.listed()

    def remove(self, names: Collection[str] = ()) -> None:
        """Delete the entries with these names (none given: all), except those in use."""
        self.artifacts.remove(names)
        self.working_copies.remove(names)
        self.merged.copies.remove(names)
        self.results.remove(names)

    @contextmanager
    def holding(self) -> Generator[None]:
        """Protect the copies that are found or made within the block from being removed."""
        with self.working_copies.holding(), self.merged.copies.holding():
            yield

    def abandon(self) -> None:
        """Cancel the copies that are not written yet, and wait until their weights are released."""
        self.working_copies.abandon()
        self.merged.copies.abandon()

    def require_sound(self, cancel: Cancellation) -> None:
        """Wait until all copies that were found are checked; see `WorkingCopies.require_sound`."""
        self.working_copies.require_sound(cancel)
        self.merged.copies.require_sound(cancel)
