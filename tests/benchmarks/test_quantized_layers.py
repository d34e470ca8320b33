"""The section `quantized_layers` on small matrices: a layer's run, and the types of a file."""

from collections import Counter
from pathlib import Path

from backends.base import DType
from benchmarks.peers.quantized_layer import QuantizedLayer
from benchmarks.quantized_models import write_zimage
from engine.checkpoints.files import read_index
from engine.families import identify
from tests.checkpoints.gguf_files import blocks, write_gguf
from tests.families.zimage.files import ZImageSizes


def test_a_layer_is_run_and_its_error_told(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "a.gguf", {"layer.weight": blocks(DType.Q6_K, (48, 256))})
    peer = QuantizedLayer(str(file), "cpu", ["f32"], 8)
    answer = peer.answer("run", {"precision": "f32"})
    peer.close()
    assert answer["processor_s"] > 0
    assert 0 < answer["relative_error"] < 1e-5
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_has_the_types_that_its_name_stands_for(tmp_path: Path) -> None:
    file = tmp_path / "zimage.gguf"
    write_zimage(file, ZImageSizes(256, 32, 512, 256, 256, 2, 1), "Q4_K_M")
    assert identify(file).family == "zimage"
    types = {name: tensor.dtype for name, tensor in read_index(file).tensors.items()}
    layer = "layers.1."
    assert types[f"{layer}attention.qkv.weight"] is DType.Q5_K
    assert types[f"{layer}feed_forward.w2.weight"] is DType.Q6_K
    assert types[f"{layer}feed_forward.w1.weight"] is DType.Q4_K
    assert types["x_embedder.weight"] is DType.F32
    # Two layers and two refiners, one of which has no modulation.
    counts = Counter(types.values())
    assert counts[DType.Q5_K] == counts[DType.Q6_K] == 4
    assert counts[DType.Q4_K] == 3 * 4 + 3
