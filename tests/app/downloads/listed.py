"""A list of downloads whose changes a test waits for."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from app.downloads.downloads import Downloads
from app.downloads.entries import Download, DownloadState, Purpose
from app.downloads.source import Source
from app.downloads.terms import Terms
from tests.app.downloads.fetching import QUICK

_PATIENCE_S = 60


class Listed:
    """A list over a state folder, with what it told."""

    def __init__(self, tmp_path: Path, terms: Terms = QUICK) -> None:
        self.folder = tmp_path / "files"
        self.removed: list[str] = []
        self._told: SimpleQueue[Download] = SimpleQueue()
        self.downloads = Downloads(
            tmp_path / "state",
            changed=self._told.put,
            removed=self.removed.append,
            terms=terms,
        )

    def add(self, *files: Source, title: str = "A file") -> str:
        """Add a download of these files."""
        return self.downloads.add(title, Purpose.PACK, files, self.folder)

    def wait_for(self, expected: Callable[[Download], bool]) -> list[Download]:
        """Return the changes that were told, up to the first that is as expected."""
        seen: list[Download] = []
        while not seen or not expected(seen[-1]):
            seen.append(self._told.get(timeout=_PATIENCE_S))
        return seen

    def wait_for_state(self, name: str, state: DownloadState) -> list[Download]:
        """Return the changes that were told, up to the one to this state."""
        return self.wait_for(lambda entry: (entry.id, entry.state) == (name, state))


@contextmanager
def started(tmp_path: Path, terms: Terms = QUICK) -> Generator[Listed]:
    """Run a list until the block ends, as a session does."""
    listed = Listed(tmp_path, terms)
    listed.downloads.start()
    try:
        yield listed
    finally:
        listed.downloads.close()
