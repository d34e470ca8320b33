"""The file in which the list of downloads outlives a session."""

import logging
from collections.abc import Iterable
from pathlib import Path

import msgspec

from app.downloads.entries import Download
from app.storage.document import DocumentKind, text_to_path
from engine.api.sentences import sentence
from engine.api.texts import encode_json
from engine.durable import replace_file

VERSION = 1
FILE = "downloads.json"
_MOST_BYTES = 16 << 20
_log = logging.getLogger(__name__)


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
        self._path = folder / FILE
        content, self.problem = _KIND.read(self._path)
        self.entries = content.downloads if content else ()

    def write(self, entries: Iterable[Download]) -> None:
        """Keep the list; if the file cannot be written, it is lost when the session ends."""
        try:
            content = encode_json(_Content(downloads=tuple(entries)), enc_hook=str)
            replace_file(self._path, content)
        except OSError as error:
            _log.warning("the list of downloads cannot be kept: %s", error)
