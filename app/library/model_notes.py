"""The user's notes on models, kept in a file and found again after a model was moved."""

import logging
from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from engine.api.model_files import ModelInfo
from engine.api.sentences import sentence
from engine.api.texts import encode_json
from engine.durable import replace_file

_FILE = "model-notes.json"
_MOST_BYTES = 16 << 20
MOST_CHARACTERS = 4000
_log = logging.getLogger(__name__)

_KIND = DocumentKind(
    msgspec.json.Decoder(dict[str, str]),
    _MOST_BYTES,
    damaged=sentence("Your notes on models cannot be read."),
)


class ModelNotes:
    """A text for each model, written at every change; by content, else by path."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist. A file that cannot be read is put aside, as `problem` says."""
        self._path = folder / _FILE
        notes, self.problem = _KIND.read(self._path)
        self._notes: dict[str, str] = notes or {}

    def of(self, model: ModelInfo) -> str:
        """Return the note on a model; empty without one."""
        return self._notes.get(_key(model), "")

    def keep(self, model: ModelInfo, text: str) -> None:
        """Keep a note; an empty one is dropped. Touches the disk."""
        key, shortened = _key(model), text.strip()[:MOST_CHARACTERS]
        if self._notes.get(key, "") == shortened:
            return
        self._notes.pop(key, None)
        if shortened:
            self._notes[key] = shortened
        try:
            replace_file(self._path, encode_json(self._notes), durable=True)
        except OSError as error:
            _log.warning("notes on models cannot be kept: %s", error)


def _key(model: ModelInfo) -> str:
    return model.identity or model.path
