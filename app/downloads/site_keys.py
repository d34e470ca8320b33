"""A person's own keys for sites that give some files only to people who have signed in."""

import logging
from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from engine.api.sentences import sentence
from engine.api.texts import encode_json
from engine.durable import replace_file

_FILE = "site-keys.json"
_log = logging.getLogger(__name__)
# The sites that take a key as a Bearer token, and the pages where people make one.
PAGES = {
    "civitai.com": "https://civitai.com/user/account",
    "huggingface.co": "https://huggingface.co/settings/tokens",
}
_KIND = DocumentKind(
    msgspec.json.Decoder(dict[str, str]),
    1 << 16,
    damaged=sentence("Your keys for Civitai and Hugging Face cannot be read."),
)


class SiteKeys:
    """Keys by host, in a file that only the user can read. May be used from any thread."""

    def __init__(self, folder: Path) -> None:
        """`folder` need not exist. A file that cannot be read is put aside, as `problem` says."""
        self._path = folder / _FILE
        keys, self.problem = _KIND.read(self._path)
        self._keys = keys or {}

    def of(self, host: str) -> str:
        """Return the key for a host; empty without one."""
        return self._keys.get(host, "")

    def keep(self, host: str, key: str) -> None:
        """Keep a key; an empty one is forgotten. Raises ValueError for one that is no token."""
        plain = key.strip()
        if not plain.isascii() or not plain.isprintable() or " " in plain:
            raise ValueError("this is no key")
        keys = {one: kept for one, kept in self._keys.items() if one != host}
        self._keys = keys | {host: plain} if plain else keys
        try:
            replace_file(self._path, encode_json(self._keys), durable=True)
            self._path.chmod(0o600)
        except OSError as error:
            _log.warning("a key for a site cannot be kept: %s", error)
