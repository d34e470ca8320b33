"""Packs Qwen's vocabulary into engine/text/assets/qwen.

    python -m tests.text.pack_qwen qwen.tiktoken

where qwen.tiktoken is Qwen's list of tokens by rank (assets/README.md tells its source).
"""

import base64
import lzma
import sys
from importlib import resources
from itertools import pairwise
from pathlib import Path

import numpy as np

_BYTES = 256
# Those of several values of lc, lp and pb that make the smallest file.
_FILTER = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 3, "lp": 0, "pb": 0}


def main(path: Path) -> None:
    """Write the two ids that each token is merged from, each byte in a plane of its own."""
    ranks = ranks_of(path)
    pairs = [_merged_from(token, ranks) for token in list(ranks)[_BYTES:]]
    sides = np.array(pairs, "<u4").T.copy()
    planes = sides.view(np.uint8).reshape(2, -1, 4)[..., :3].transpose(0, 2, 1)
    packed = lzma.compress(planes.tobytes(), lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=[_FILTER])
    folder = resources.files("engine.text") / "assets" / "qwen"
    Path(str(folder / "pairs.xz")).write_bytes(packed)


def ranks_of(path: Path) -> dict[bytes, int]:
    """Return each token's rank, which is its id."""
    lines = (line.split() for line in path.read_bytes().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    assert list(ranks.values()) == list(range(len(ranks)))
    return ranks


def _merged_from(token: bytes, ranks: dict[bytes, int]) -> tuple[int, int]:
    """Return the ids of the two parts that the merges before a token's own leave of it."""
    parts = [bytes([byte]) for byte in token]
    while len(parts) > 2:
        pairs = [a + b for a, b in pairwise(parts)]
        place = min(range(len(pairs)), key=lambda i: ranks.get(pairs[i], len(ranks)))
        assert ranks[pairs[place]] < ranks[token]
        parts[place : place + 2] = [pairs[place]]
    return ranks[parts[0]], ranks[parts[1]]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
