"""The user's notes on models, kept in a file and found again after a model was moved."""

from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from app.storage.kept_file import KeptFile
from engine.api.model_files import ModelInfo
from engine.api.sentences import sentence
from engine.api.texts import encode_json

_FILE = "model-notes.json"
_MOST_BYTES = 16 << 20
MOST_CHARACTERS = 4000

_KIND = DocumentKind(
    msgspec.json.Decoder(dict[str, str]),
    _MOST_BYTES,
    damaged=sentence("Your notes on models cannot be read."),
)


class ModelNotes:
    """A text for each model, by content, else by path; `flush` writes what has changed."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist. A file that cannot be read is put aside, as `problem` says."""
        notes, self.problem = _KIND.read(folder / _FILE)
        self._file = KeptFile(folder / _FILE, durable=True)
        self._notes: dict[str, str] = notes or {}

    def of(self, model: ModelInfo) -> str:
        """Return the note on a model; empty without one."""
        return next((self._notes[key] for key in _keys(model) if key in self._notes), "")

    def keep(self, model: ModelInfo, text: str) -> None:
        """Keep a note; an empty one is dropped."""
        shortened = text.strip()[:MOST_CHARACTERS]
        if self.of(model) == shortened:
            return
        for key in _keys(model):
            self._notes.pop(key, None)
        if shortened:
            self._notes[_keys(model)[0]] = shortened
        self._file.put(encode_json(self._notes))

    def flush(self) -> None:
        """Write the notes if they have changed. Touches the disk."""
        self._file.flush()

    def close(self) -> None:
        """Write what is not on the disk yet."""
        self._file.flush()


def _keys(model: ModelInfo) -> tuple[str, ...]:
    """Return the content, if it was read, and the path: a note may be older than the reading."""
    return tuple(filter(None, (model.identity, model.path)))
