"""Files that the form states by their paths: there, moved to another path, or gone."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.engine.client import EngineClient
from app.library.checkpoint_store import ENGINE_FAILURES
from engine.api.messages import QueryFailed
from engine.api.model_messages import ModelFound
from engine.file_paths import exists

# A path and the digest of the content that a record states with it.
_Stated = tuple[str, str | None]


class MovedFiles(QObject):
    """Looks for stated files; a moved one is found by its content, as jobs find it."""

    # The place of a file is known now, or is another one than before.
    changed = Signal()

    def __init__(
        self, client: EngineClient, background: Background, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._background = client, background
        self._places: dict[_Stated, str | None] = {}
        self._asked: dict[int, _Stated] = {}
        # Those at which an engine ended; a file may be the reason.
        self._ended_at: set[_Stated] = set()
        client.model_found.connect(self._on_found)
        client.query_failed.connect(self._on_failed)

    def place(self, stated: str, digest: str | None) -> str | None:
        """Return the path of a stated file as it is now; None if it is nowhere.

        Until disk and engine answer, a file is taken to be where it was.
        """
        wanted = stated, digest
        if wanted not in self._places:
            self._places[wanted] = stated
            self._look(wanted)
        return self._places[wanted]

    def look_again(self) -> None:
        """Look for all files again, which may have been moved or put back."""
        self._ended_at.clear()
        for wanted in self._places:
            self._look(wanted)

    def _look(self, wanted: _Stated) -> None:
        stated, digest = wanted

        def take(found: bool) -> None:
            # An answer to an earlier look would be older than this.
            self._asked = {query: asked for query, asked in self._asked.items() if asked != wanted}
            if found or not digest:
                self._keep(wanted, stated if found else None)
            else:
                self._ask(wanted)

        self._background.look(lambda: exists(Path(stated)), take, wanted)

    def _ask(self, wanted: _Stated) -> None:
        stated, digest = wanted
        self._asked[self._client.find_model(stated, digest or "")] = wanted

    def _keep(self, wanted: _Stated, place: str | None) -> None:
        if self._places[wanted] != place:
            self._places[wanted] = place
            self.changed.emit()

    def _on_found(self, event: ModelFound) -> None:
        wanted = self._asked.pop(event.query, None)
        if wanted is not None:
            self._keep(wanted, event.path)

    def _on_failed(self, event: QueryFailed) -> None:
        wanted = self._asked.pop(event.query, None)
        if wanted is None:
            return
        if event.error.code not in ENGINE_FAILURES:
            self._keep(wanted, None)
        elif wanted not in self._ended_at:
            self._ended_at.add(wanted)
            self._ask(wanted)
