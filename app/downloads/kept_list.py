"""The file in which the list of downloads outlives a session."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from app.downloads.entries import Download
from app.storage.document import DocumentKind, text_to_path
from app.storage.kept_file import KeptFile
from engine.api.sentences import sentence
from engine.api.texts import encode_json

VERSION = 1
FILE = "downloads.json"
_MOST_BYTES = 16 << 20


class _Content(msgspec.Struct, frozen=True, kw_only=True):
    downloads: tuple[Download, ...] = ()
    version: int = VERSION


_KIND = DocumentKind(
    msgspec.json.Decoder(_Content, dec_hook=text_to_path),
    _MOST_BYTES,
    damaged=sentence(
        "The list of downloads cannot be read; it begins anew. What has arrived is kept."
    ),
    newer=sentence(
        "The list of downloads was left by a newer version of Safelight; this one begins anew."
    ),
    version=VERSION,
)


class KeptList:
    """The list as it was left: `entries` in their order; `problem` if it could not be read."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist. A file that cannot be read is put aside, as `problem` says."""
        self._file = KeptFile(folder / FILE)
        content, self.problem = _KIND.read(folder / FILE)
        self.entries = content.downloads if content else ()

    def write(self, entries: Iterable[Download]) -> None:
        """Keep the list."""
        self._file.write(encode_json(_Content(downloads=tuple(entries)), enc_hook=str))

    def close(self) -> None:
        """Write what the disk did not take."""
        self._file.flush()
