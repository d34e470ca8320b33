"""GGUF files and the package `gguf`: its files, its types and its names."""
# pyright: basic, reportMissingImports=false

from pathlib import Path

import numpy as np
import pytest

gguf = pytest.importorskip("gguf")

from backends.base import DType  # noqa: E402
from engine.checkpoints.files import read_index  # noqa: E402
from engine.checkpoints.gguf_header import TYPES  # noqa: E402
from engine.checkpoints.gguf_names import authors_names  # noqa: E402
from engine.weights.dequantization import dequantized  # noqa: E402
from engine.weights.sources import FileWeight  # noqa: E402
from tests.checkpoints.gguf_files import QUANTIZED  # noqa: E402

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("dtype", QUANTIZED)
def test_any_blocks_have_the_numbers_of_the_package(dtype: DType) -> None:
    """65,536 random numbers and more, with every scale that float16 has, bit for bit."""
    block = dtype.block
    assert block is not None
    raw = np.random.default_rng(0).integers(0, 256, (4096, block.nbytes), dtype=np.uint8)
    with np.errstate(all="ignore"):
        want = gguf.dequantize(raw, gguf.GGMLQuantizationType[dtype.value])
    found = dequantized(raw.reshape(-1), dtype)
    same = found.view(np.uint32) == want.reshape(-1).view(np.uint32)
    assert (same | (np.isnan(found) & np.isnan(want.reshape(-1)))).all()


def test_types_have_the_numbers_and_sizes_of_the_package() -> None:
    for number, dtype in TYPES.items():
        kind = gguf.GGMLQuantizationType(number)
        assert kind.name == dtype.value
        elements, nbytes = gguf.GGML_QUANT_SIZES[kind]
        assert dtype.bytes_of(elements) == nbytes


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"])
def test_a_file_of_the_package_is_read(kind: str, tmp_path: Path) -> None:
    numbers = np.random.default_rng(1).standard_normal((24, 64), np.float32)
    stored = gguf.GGMLQuantizationType[kind]
    raw = gguf.quantize(numbers, stored)
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "flux")
    writer.add_array("tokenizer.ggml.tokens", ["a", "b", "c"])
    writer.add_array("comfy.gguf.orig_shape.w", [24, 16, 2, 2])
    writer.add_tensor("w", raw, raw_dtype=stored)
    writer.add_tensor("bias", numbers[0])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    tensors = read_index(tmp_path / "a.gguf").tensors
    assert tensors["w"].shape == (24, 16, 2, 2)
    want = gguf.dequantize(raw, stored).reshape(24, 16, 2, 2)
    assert (FileWeight(tensors["w"]).read_as(DType.F32) == want).all()
    assert (FileWeight(tensors["bias"]).read() == numbers[0]).all()


_T5 = [
    "shared.weight",
    "encoder.final_layer_norm.weight",
    "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
    *(f"encoder.block.7.layer.0.SelfAttention.{part}.weight" for part in "qkvo"),
    *(f"encoder.block.7.layer.1.DenseReluDense.{part}.weight" for part in ("wi_0", "wi_1", "wo")),
    *(f"encoder.block.7.layer.{place}.layer_norm.weight" for place in (0, 1)),
]
_QWEN3 = [
    "model.embed_tokens.weight",
    "model.norm.weight",
    "lm_head.weight",
    *(
        f"model.layers.7.{layer}.weight"
        for layer in (
            *(f"self_attn.{part}_proj" for part in "qkvo"),
            *(f"self_attn.{part}_norm" for part in "qk"),
            *(f"mlp.{part}_proj" for part in ("gate", "up", "down")),
            "input_layernorm",
            "post_attention_layernorm",
        )
    ),
]


@pytest.mark.parametrize(
    ("architecture", "kind", "names"), [("t5encoder", "T5ENCODER", _T5), ("qwen3", "QWEN3", _QWEN3)]
)
def test_llama_cpps_names_are_turned_back(architecture: str, kind: str, names: list[str]) -> None:
    table = gguf.get_tensor_name_map(gguf.MODEL_ARCH[kind], 36)
    stored = [table.get_name(name, (".weight",)) for name in names]
    assert all(stored)
    assert list(authors_names(architecture, stored).values()) == names
