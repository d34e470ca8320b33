"""Numbers of packed weights, which working copies of earlier versions hold by the same names."""

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from backends.base import DType, FileSlice
from backends.forms import BlockForm
from engine.weights.packing import Field, PackedWeight, packing_of
from engine.weights.sources import FileWeight
from tests.checkpoints.gguf_files import blocks
from tests.weights.test_dequantization import written

SHAPE = (24, 512)
# By the type in the file and the form of blocks: the digest of integers, scales and zeros.
DIGESTS = {
    (DType.Q4_0, BlockForm()): "eb071dda848ddfff",
    (DType.Q4_1, BlockForm()): "4c4fe4a0f250b5d3",
    (DType.Q5_0, BlockForm()): "1c7b8092dc4e1598",
    (DType.Q5_1, BlockForm()): "4f3899d154cc9e0c",
    (DType.Q8_0, BlockForm()): "6c95e33801476a5d",
    (DType.Q2_K, BlockForm()): "5d5d1d69979a2cf3",
    (DType.Q3_K, BlockForm()): "2d7cf19bf584095c",
    (DType.Q4_K, BlockForm()): "561b0340525d5a52",
    (DType.Q5_K, BlockForm()): "848f2c01a506e61a",
    (DType.Q6_K, BlockForm()): "0bfcef46cd2576a4",
    (DType.Q6_K, BlockForm(joined=True)): "aeff2c726c57dc06",
    (DType.F16, BlockForm(bits=8)): "9239cbda26582a30",
    (DType.F16, BlockForm(bits=4)): "56e46cd6d9ec562f",
}


def stored(folder: Path, dtype: DType) -> FileWeight:
    if dtype is not DType.F16:
        return written(folder, blocks(dtype, SHAPE))
    numbers = np.random.default_rng(0).integers(-999, 1000, SHAPE).astype(np.float16)
    (folder / "plain").write_bytes(numbers.tobytes())
    return FileWeight(FileSlice(folder / "plain", 0, dtype, SHAPE))


def digest_of(weight: FileWeight, form: BlockForm) -> str:
    packing, digest = packing_of(weight, form), sha256()
    assert packing is not None
    for field in Field:
        for element in (DType.F32, DType.BF16):
            digest.update(PackedWeight(weight, packing, field, element).read().tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.parametrize(("dtype", "form"), DIGESTS, ids=str)
def test_packed_numbers_stay_as_they_are(dtype: DType, form: BlockForm, tmp_path: Path) -> None:
    """Others need another name of their copies (`engine.compile.weight_binding`)."""
    assert digest_of(stored(tmp_path, dtype), form) == DIGESTS[dtype, form]
