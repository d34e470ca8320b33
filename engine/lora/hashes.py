"""The hashes by which tools and sites name a LoRA file.

A1111 writes `Lora hashes: "name: 0123456789ab"`: for safetensors the SHA-256 of the bytes after the
header (`hashes.addnet_hash_safetensors`, Civitai's AutoV3), else that of the whole file
(`extensions-builtin/Lora/network.py`, `NetworkOnDisk.read_hash`). The extension that it took over
from wrote the same, and before that eight digits of 64 KiB at 1 MiB
(`addnet_hash_legacy` in kohya's `library/train_util.py`).
"""

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import msgspec

from engine.checkpoints.files import is_archive
from engine.checkpoints.full_hash import TENSORS_HASH_DIGITS, hash_file
from engine.regular_file import open_regular

LEGACY_DIGITS = 8
_STATED = "sshs_model_hash"
_STATED_HASH = re.compile(r"[0-9a-f]{12}(?:[0-9a-f]{52})?")
_LEGACY_START, _LEGACY_BYTES = 0x100000, 0x10000


class LoraHashes(msgspec.Struct, frozen=True):
    """Hexadecimal hashes in lower case: SHA-256 of the file and of its tensors, and the legacy one.

    `tensors` is None for a PyTorch file.
    """

    whole: str
    tensors: str | None
    legacy: str


def stated_tensors_hash(metadata: Mapping[str, str]) -> str | None:
    """Return the 12 digits that kohya's trainer noted in a file's metadata; A1111 believes them."""
    stated = metadata.get(_STATED, "").strip().casefold().removeprefix("0x")
    return stated[:TENSORS_HASH_DIGITS] if _STATED_HASH.fullmatch(stated) else None


def hashes_of(path: Path, report: Callable[[int], None] = lambda _: None) -> LoraHashes:
    """Read a file to its end and return its hashes.

    `report` gets the number of bytes done, and may raise to stop. Raises OSError.
    """
    full = hash_file(path, report, tensors=not is_archive(path))
    return LoraHashes(full.whole, full.tensors, legacy_hash(path))


def legacy_hash(path: Path) -> str:
    """Return the older hash, of which nearly none of the file is read. Raises OSError."""
    with open_regular(path) as file:
        file.seek(_LEGACY_START)
        return sha256(file.read(_LEGACY_BYTES)).hexdigest()[:LEGACY_DIGITS]
