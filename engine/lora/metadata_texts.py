"""Metadata texts of a file in full; the header's reader cuts long ones."""

import msgspec

from engine.checkpoints.header import LENGTH_BYTES, MAX_METADATA_CHARS
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.safetensors import MAX_HEADER_BYTES
from engine.regular_file import open_regular


def metadata_text(index: TensorIndex, name: str) -> str:
    """Return a metadata text, read anew where it was cut; empty if there is none."""
    text = index.metadata.get(name, "")
    if len(text) < MAX_METADATA_CHARS:
        return text
    try:
        with open_regular(index.path) as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            raw = file.read(min(length, MAX_HEADER_BYTES))
        header = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        metadata = msgspec.json.decode(header["__metadata__"], type=dict[str, str])
    except (OSError, KeyError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return ""
    return metadata.get(name, "")
