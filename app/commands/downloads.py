"""Commands for downloads; what happens on their thread is told on this one."""

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

from app.downloads.downloads import Downloads
from app.downloads.entries import Download, Purpose
from app.downloads.source import Source
from app.downloads.terms import USUAL_TERMS, Terms
from engine.api.values import ErrorInfo


class DownloadCommands(QObject):
    """The list of downloads, for the window. Its signals come on the thread it lives on."""

    # Download: an entry that is new, or has another state, place or progress.
    changed = Signal(object)
    # str: the id of an entry that is gone.
    removed = Signal(str)
    _changed_there = Signal(object)
    _removed_there = Signal(str)

    def __init__(
        self, state: Path, parent: QObject | None = None, terms: Terms = USUAL_TERMS
    ) -> None:
        """Read the list that the last session left in the folder `state`; nothing begins yet."""
        super().__init__(parent)
        queued = Qt.ConnectionType.QueuedConnection
        self._changed_there.connect(self.changed, queued)
        self._removed_there.connect(self.removed, queued)
        self._downloads = Downloads(
            state,
            changed=self._changed_there.emit,
            removed=self._removed_there.emit,
            terms=terms,
        )

    @property
    def problem(self) -> ErrorInfo | None:
        """The problem with the file of the list, if it could not be read."""
        return self._downloads.problem

    @property
    def entries(self) -> tuple[Download, ...]:
        """The downloads in the order in which they come, and those that are done or failed."""
        return self._downloads.entries

    def start(self) -> None:
        """Go on with what was under way when the last session ended, and a person did not pause."""
        self._downloads.start()

    def close(self) -> None:
        """Stop; what is under way goes on in the next session."""
        self._downloads.close()

    def add(self, title: str, purpose: Purpose, files: tuple[Source, ...], folder: Path) -> str:
        """Download files that a person asked for; return the id of the entry."""
        return self._downloads.add(title, purpose, files, folder)

    def pause(self, name: str) -> None:
        """Stop a download until it is resumed."""
        self._downloads.pause(name)

    def resume(self, name: str) -> None:
        """Go on with a download that was paused, or try again one that failed."""
        self._downloads.resume(name)

    def remove(self, name: str) -> None:
        """Take a download off the list, with the parts of its files."""
        self._downloads.remove(name)

    def put_first(self, name: str) -> None:
        """Make a download the next one."""
        self._downloads.put_first(name)
