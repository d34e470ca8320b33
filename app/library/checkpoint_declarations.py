"""The user's declarations for each checkpoint, with the files for its parts, kept in a file."""

from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from app.storage.kept_file import KeptFile
from engine.api.request import NO_OVERRIDE, CheckpointOverride, ComponentFiles
from engine.api.sentences import sentence
from engine.api.texts import encode_json

_FILE = "checkpoints.json"
# Beyond _MOST entries the oldest are dropped; a file of more bytes was not written by us.
_MOST = 1000
_MOST_BYTES = 4 << 20


class CheckpointDeclaration(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The user's declarations for one checkpoint; by default its files decide."""

    override: CheckpointOverride = NO_OVERRIDE
    # None: as the checkpoint says.
    zero_terminal_snr: bool | None = None
    # Files for the parts that the checkpoint lacks.
    components: ComponentFiles = ComponentFiles()


NO_DECLARATION = CheckpointDeclaration()
_KIND = DocumentKind(
    msgspec.json.Decoder(dict[str, CheckpointDeclaration]),
    _MOST_BYTES,
    damaged=sentence(
        "What you said of models cannot be read; they are taken for what their files say."
    ),
)


class CheckpointMemory:
    """The declaration for each path, in a file that is written whenever one changes."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist. A file that cannot be read is put aside, as `problem` says."""
        declarations, self.problem = _KIND.read(folder / _FILE)
        self._file = KeptFile(folder / _FILE)
        self._declarations: dict[str, CheckpointDeclaration] = declarations or {}

    def of(self, checkpoint: Path) -> CheckpointDeclaration:
        """Return what was declared of a checkpoint."""
        return self._declarations.get(str(checkpoint), NO_DECLARATION)

    def keep(self, checkpoint: Path, declaration: CheckpointDeclaration) -> None:
        """Keep a declaration."""
        self._declarations.pop(str(checkpoint), None)
        if declaration != NO_DECLARATION:
            self._declarations[str(checkpoint)] = declaration
        for path in tuple(self._declarations)[:-_MOST]:
            del self._declarations[path]
        self._file.write(encode_json(self._declarations))

    def close(self) -> None:
        """Write what the disk did not take."""
        self._file.flush()
