"""The declarations of a person on each checkpoint, and the parts it was given, kept in a file."""

import logging
from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from engine.api.request import NO_OVERRIDE, CheckpointOverride, ComponentFiles
from engine.api.texts import encode_json
from engine.durable import replace_file

_FILE = "checkpoints.json"
# The oldest are forgotten; a file of more was not written by us.
_MOST = 1000
_MOST_BYTES = 4 << 20

_log = logging.getLogger(__name__)


class CheckpointWords(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The declarations of a person on one checkpoint; by default its files decide."""

    override: CheckpointOverride = NO_OVERRIDE
    # None: as the checkpoint says.
    zero_terminal_snr: bool | None = None
    # Files for what it lacks.
    components: ComponentFiles = ComponentFiles()


NO_WORDS = CheckpointWords()
_KIND = DocumentKind(
    msgspec.json.Decoder(dict[str, CheckpointWords]),
    _MOST_BYTES,
    damaged="What you said of models cannot be read; they are taken for what their files say.",
)


class CheckpointMemory:
    """The words for each path, in a file that is written whenever they change."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist. A file that cannot be read is put aside, as `problem` says."""
        self._path = folder / _FILE
        said, self.problem = _KIND.read(self._path)
        self._said: dict[str, CheckpointWords] = said or {}

    def of(self, checkpoint: Path) -> CheckpointWords:
        """Return what was declared of a checkpoint."""
        return self._said.get(str(checkpoint), NO_WORDS)

    def keep(self, checkpoint: Path, words: CheckpointWords) -> None:
        """Remember what is said now; where the disk takes nothing, until the session ends."""
        self._said.pop(str(checkpoint), None)
        if words != NO_WORDS:
            self._said[str(checkpoint)] = words
        for path in tuple(self._said)[:-_MOST]:
            del self._said[path]
        try:
            replace_file(self._path, encode_json(self._said))
        except OSError as error:
            _log.warning("what was said of checkpoints cannot be kept: %s", error)
