"""Tells LoRA files from checkpoints by a look at their first bytes, without the engine."""

import re
import stat
from functools import lru_cache
from pathlib import Path

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


def looks_like_lora(path: Path) -> bool:
    """Return True if a safetensors file has the keys of a LoRA. Reads its header; never raises."""
    try:
        facts = path.stat()
    # A path with a null character raises a ValueError.
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(facts.st_mode) and _has_lora_keys(path, facts.st_size, facts.st_mtime_ns)


# A file that is dragged over the window is asked about at every move of the mouse.
@lru_cache(maxsize=4)
def _has_lora_keys(path: Path, _size: int, _modified_ns: int) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(_LENGTH_BYTES)
            length = int.from_bytes(start, "little")
            if len(start) < _LENGTH_BYTES or not 2 <= length <= _MOST_BYTES:
                return False
            header = file.read(length)
    except OSError:
        return False
    return header.startswith(b"{") and _KEYS.search(header) is not None
