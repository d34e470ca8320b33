"""Packs T5's vocabulary into engine/text/assets/t5.

    python -m tests.text.pack_t5 tokenizer.json

where tokenizer.json is transformers' file for T5 (assets/README.md tells its source).
"""

import base64
import json
import lzma
import sys
from importlib import resources
from pathlib import Path

import numpy as np

_FIRST, _COUNT = 3, 32_000 - 3
# Those of several values of lc, lp and pb that make the smallest files.
_FILTER = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}


def main(path: Path) -> None:
    """Write the three files."""
    read = json.loads(path.read_text("utf-8"))
    pieces = read["model"]["vocab"][_FIRST : _FIRST + _COUNT]
    scores = np.array([score for _, score in pieces], np.float32)
    assert scores.tolist() == [score for _, score in pieces]
    bits = scores.view(np.uint32).astype(np.int64)
    differences = np.diff(bits, prepend=0).astype(np.uint32).astype("<u4")
    planes = np.ascontiguousarray(differences.view(np.uint8).reshape(-1, 4).T)
    charsmap = read["normalizer"]["normalizers"][0]["precompiled_charsmap"]
    _write("pieces.txt", "\n".join(piece for piece, _ in pieces).encode("utf-8"), 0)
    _write("scores", planes.tobytes(), 0)
    _write("charsmap", base64.b64decode(charsmap), 2)


def _write(name: str, data: bytes, position_bits: int) -> None:
    order = _FILTER | {"pb": position_bits, "lp": position_bits, "lc": 3 - position_bits}
    packed = lzma.compress(data, lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=[order])
    folder = resources.files("engine.text") / "assets" / "t5"
    Path(str(folder / f"{name}.xz")).write_bytes(packed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
