"""What every checkpoint reader produces: the names, shapes and places of tensors, no numbers."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from backends.base import FileSlice

WINDOWS = 128
WINDOW_BYTES = 4096


@dataclass(frozen=True, slots=True)
class TensorIndex:
    """The tensors of a file, or of a file in shards, under the names they have there.

    `digest` tells two files apart by content without reading them whole; see `sampled_digest`.
    """

    path: Path
    tensors: Mapping[str, FileSlice]
    metadata: Mapping[str, str]
    digest: str


def sampled_digest(file: BinaryIO, header: bytes, size: int) -> str:
    """SHA-256 over size, header and 128 windows of 4 KiB, spread evenly from first to last byte.

    Two fine-tunes share a header, so the header alone would not do; reading gigabytes would take
    seconds. A difference goes unseen only where it lies wholly between two neighbouring windows,
    under 0.8 % of the file: training changes every weight, and the smallest part that is swapped
    by itself (the VAE of an SDXL file in fp16) is 2.4 %. Small files are hashed whole.
    """
    digest = hashlib.sha256(size.to_bytes(8, "little"))
    digest.update(header)
    last = size - WINDOW_BYTES
    if size <= WINDOWS * WINDOW_BYTES:
        file.seek(0)
        digest.update(file.read(size))
        return digest.hexdigest()
    for window in range(WINDOWS):
        file.seek(last * window // (WINDOWS - 1))
        digest.update(file.read(WINDOW_BYTES))
    return digest.hexdigest()


def combined_digest(*digests: str) -> str:
    """One digest for what is made of several files, in this order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()
