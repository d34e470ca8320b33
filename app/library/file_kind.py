"""Tells LoRAs and embeddings from checkpoints by their first bytes, without the engine."""

import re
import stat
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path

from engine.regular_file import open_regular

# The bytes before a safetensors file's header are the header's length.
_LENGTH_BYTES = 8
# The engine refuses longer headers.
_MOST_BYTES = 16 << 20
# The ends of keys by which LoRA files of every trainer are recognised, in the header's JSON.
_KEYS = re.compile(
    rb'"[^"]{1,300}(?:'
    rb"[._]lora(?:_(?:down|up|A|B|linear_layer)|\.(?:down|up))\b"
    rb"|\.(?:hada_w1|lokr_w1|oft_blocks|oft_diag|on_input|dora_scale|a1\.weight|diff|set_weight)"
    rb"(?![A-Za-z0-9])"
    rb')[^"]{0,60}"\s*:'
)
# The names of an embedding's tensors as kohya, SDXL's trainers, A1111 and diffusers give them; such
# a file has few others.
_EMBEDDED = re.compile(
    rb'"(?:emb_params|clip_[lg]|string_to_param(?:\.[^"]{1,20})?|<[^"<>]{1,100}>)"\s*:\s*\{'
)
_EMBEDDING_BYTES = 20_000
_OPAQUE = frozenset({".pt", ".pth", ".bin", ".ckpt"})


class FileKind(Enum):
    """The kind of a file that is no picture."""

    LORA = auto()
    EMBEDDING = auto()
    # A PyTorch file, which only the engine reads: it may be any kind.
    OPAQUE = auto()
    OTHER = auto()


def kind_of(path: Path) -> FileKind:
    """Return the kind of a file; of safetensors files the header is read. Never raises."""
    if path.suffix.lower() in _OPAQUE:
        return FileKind.OPAQUE
    try:
        facts = path.stat()
    # A path with a null character raises a ValueError.
    except (OSError, ValueError):
        return FileKind.OTHER
    if not stat.S_ISREG(facts.st_mode):
        return FileKind.OTHER
    return _kind_by_header(path, facts.st_size, facts.st_mtime_ns)


# A file that is dragged over the window is asked about at every move of the mouse.
@lru_cache(maxsize=4)
def _kind_by_header(path: Path, _size: int, _modified_ns: int) -> FileKind:
    header = _header(path)
    if _KEYS.search(header):
        return FileKind.LORA
    is_short = len(header) <= _EMBEDDING_BYTES
    return FileKind.EMBEDDING if is_short and _EMBEDDED.search(header) else FileKind.OTHER


def _header(path: Path) -> bytes:
    """Return the header of a safetensors file; empty for any other file."""
    try:
        with open_regular(path) as file:
            start = file.read(_LENGTH_BYTES)
            length = int.from_bytes(start, "little")
            if len(start) < _LENGTH_BYTES or not 2 <= length <= _MOST_BYTES:
                return b""
            header = file.read(length)
    except OSError:
        return b""
    return header if header.startswith(b"{") else b""
