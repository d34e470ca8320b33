"""The answers to offers of packs, and the installations that were begun, kept between sessions."""

from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from app.storage.kept_file import KeptFile
from engine.api.sentences import sentence
from engine.api.texts import encode_json

_FILE = "packs.json"
# Installations that begin by themselves at the start; one that ended the computer must not go on.
_MOST_BEGUN = 2


class _Kept(msgspec.Struct, frozen=True):
    is_answered: bool = False
    begun: dict[str, int] = {}


_KIND = DocumentKind(
    msgspec.json.Decoder(_Kept),
    1 << 16,
    sentence("The list of begun installations of runtimes could not be read."),
)


class PackMemory:
    """The file of the state folder; `problem` says what is wrong with it."""

    def __init__(self, folder: Path) -> None:
        kept, self.problem = _KIND.read(folder / _FILE)
        self._file = KeptFile(folder / _FILE, durable=True)
        self._kept = kept or _Kept()

    @property
    def is_answered(self) -> bool:
        """True once a person answered the offer."""
        return self._kept.is_answered

    def answer(self) -> None:
        """Offer nothing by itself any more."""
        self._keep(msgspec.structs.replace(self._kept, is_answered=True))

    def begin(self, pack: str) -> None:
        """Count an installation that begins."""
        begun = self._kept.begun | {pack: self._kept.begun.get(pack, 0) + 1}
        self._keep(msgspec.structs.replace(self._kept, begun=begun))

    def end(self, pack: str) -> None:
        """Forget an installation that ended, well or not."""
        begun = {name: count for name, count in self._kept.begun.items() if name != pack}
        self._keep(msgspec.structs.replace(self._kept, begun=begun))

    def may_go_on(self, pack: str) -> bool:
        """Return False if the installation was interrupted too often to go on by itself."""
        return self._kept.begun.get(pack, 0) < _MOST_BEGUN

    def _keep(self, kept: _Kept) -> None:
        if kept == self._kept:
            return
        self._kept = kept
        self._file.write(encode_json(kept))

    def close(self) -> None:
        """Write what the disk did not take."""
        self._file.flush()
