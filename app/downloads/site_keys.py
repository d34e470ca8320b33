"""A person's own keys for sites that give some files only to people who have signed in."""

from pathlib import Path

import msgspec

from app.storage.document import DocumentKind
from app.storage.kept_file import KeptFile
from engine.api.sentences import sentence
from engine.api.texts import encode_json

_FILE = "site-keys.json"
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
        keys, self.problem = _KIND.read(folder / _FILE)
        # Its files can be read by this user alone.
        self._file = KeptFile(folder / _FILE, durable=True)
        self._keys = keys or {}

    def of(self, host: str) -> str:
        """Return the key for a host; empty without one."""
        return self._keys.get(host, "")

    def keep(self, host: str, key: str) -> None:
        """Keep a key; an empty one is forgotten. Raises ValueError for one that is no token."""
        plain = key.strip()
        if not plain.isascii() or not plain.isprintable() or " " in plain:
            raise ValueError("this is no key")
        keys = {name: kept for name, kept in self._keys.items() if name != host}
        self._keys = keys | {host: plain} if plain else keys
        self._file.write(encode_json(self._keys))

    def close(self) -> None:
        """Write what the disk did not take."""
        self._file.flush()
