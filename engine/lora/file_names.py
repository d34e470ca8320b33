"""The names and hashes that LoRA files and the cards beside them state, and those of the content.

Only the metadata at the start of each file is read, and its cards.
"""

import re
from pathlib import Path

import msgspec

from engine.checkpoints.header import LENGTH_BYTES
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.safetensors import MAX_HEADER_BYTES
from engine.checkpoints.sidecars import cards_of
from engine.lora.hashes import LoraHashes
from engine.regular_file import open_regular

_MOST_CHARACTERS = 200
# kohya's older hash of a file; the newer one is on the metadata's card.
_LEGACY = "sshs_legacy_hash"
_LEGACY_HASH = re.compile(r"[0-9a-f]{8}")


class FileNames(msgspec.Struct, frozen=True, omit_defaults=True):
    """The name that a file's metadata give it, and its hashes as stated, in lower case.

    `whole` are SHA-256 of the file, `tensors` first digits of those of its tensors, `legacy` is
    kohya's older hash of 8 digits.
    """

    alias: str = ""
    whole: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    legacy: tuple[str, ...] = ()
    # All hashes were computed from the file, so that it has no other.
    is_hashed: bool = False

    def with_hashes(self, hashes: LoraHashes) -> "FileNames":
        """Return the names with the computed hashes beside the stated ones.

        A1111 believes a stated one, and writes it into pictures.
        """
        computed = (hashes.tensors,) if hashes.tensors else ()
        return msgspec.structs.replace(
            self,
            whole=(*self.whole, hashes.whole),
            tensors=(*self.tensors, *computed),
            legacy=(*self.legacy, hashes.legacy),
            is_hashed=True,
        )

    def has(self, digits: str) -> bool | None:
        """Return True if a hash in lower case is this file's, False if not, None if unknown.

        Tools write different numbers of digits: 10 of the file, 12 of the tensors, 8 of the older.
        """
        hashes = (*self.whole, *self.tensors, *self.legacy)
        if any(own.startswith(digits) or digits.startswith(own) for own in hashes):
            return True
        both = self.whole if self.tensors else ()
        alike = {10: self.whole, 12: self.tensors, 8: self.legacy}.get(len(digits), both)
        return False if alike or self.is_hashed else None


NO_NAMES = FileNames()


class _Start(msgspec.Struct, frozen=True):
    """A safetensors header without its tensors."""

    metadata: dict[str, str] = msgspec.field(name="__metadata__", default_factory=dict[str, str])


_START = msgspec.json.Decoder(_Start)


def read_names(path: Path) -> FileNames:
    """Return the names in a file's metadata and cards; none if there are none to be read."""
    metadata = _metadata(path)
    alias = metadata.get("ss_output_name", "")[:_MOST_CHARACTERS]
    legacy = metadata.get(_LEGACY, "").casefold()
    # A card needs no tensors.
    cards = cards_of(TensorIndex(path, {}, metadata, digest=""))
    return FileNames(
        alias,
        whole=tuple(sorted({digest for card in cards for digest in card.hashes})),
        tensors=tuple(sorted({digest for card in cards for digest in card.tensors_hashes})),
        legacy=(legacy,) if _LEGACY_HASH.fullmatch(legacy) else (),
    )


def _metadata(path: Path) -> dict[str, str]:
    try:
        with open_regular(path) as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            if 2 <= length <= MAX_HEADER_BYTES:
                return _START.decode(file.read(length)).metadata
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return {}
