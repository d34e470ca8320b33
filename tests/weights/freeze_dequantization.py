"""Freezes the numbers of random blocks as the package `gguf` gives them.

Run with the oracle environment: `python -m tests.weights.freeze_dequantization`.
"""
# pyright: basic, reportMissingImports=false

from pathlib import Path

import gguf
import numpy as np

from tests.checkpoints.gguf_files import QUANTIZED, blocks

FROZEN = Path(__file__).parent / "frozen" / "dequantized.npz"


def main() -> None:
    """Write two blocks of each type, and their numbers."""
    arrays = {}
    for dtype in QUANTIZED:
        assert dtype.block is not None
        raw = np.frombuffer(blocks(dtype, (2, dtype.block.elements), seed=5).raw, np.uint8)
        kind = gguf.GGMLQuantizationType[dtype.value]
        arrays[f"{dtype.value}_raw"] = raw
        arrays[dtype.value] = gguf.dequantize(raw.reshape(2, -1), kind)
    FROZEN.parent.mkdir(exist_ok=True)
    np.savez_compressed(FROZEN, **arrays)


if __name__ == "__main__":
    main()
