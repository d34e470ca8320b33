"""Parts of models as GGUF files, as converters write them, and what their pictures are held to."""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Device, DType, OperatorSet
from backends.cpu import CpuBackend
from engine.checkpoints.files import read_index
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.gguf_files import Stored, blocks, plain, quantized

# Names of text encoders' layers by their authors, and by llama.cpp.
_T5 = {
    "layer.0.SelfAttention.relative_attention_bias": "attn_rel_b",
    "layer.0.SelfAttention.": "attn_",
    "layer.0.layer_norm": "attn_norm",
    "layer.1.layer_norm": "ffn_norm",
    "layer.1.DenseReluDense.wi_0": "ffn_gate",
    "layer.1.DenseReluDense.wi_1": "ffn_up",
    "layer.1.DenseReluDense.wo": "ffn_down",
    "encoder.block.": "enc.blk.",
    "encoder.final_layer_norm": "enc.output_norm",
    "shared.": "token_embd.",
}
_QWEN3 = {
    "model.layers.": "blk.",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
}


def _pattern(names: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))


_TABLES = {"t5encoder": (_pattern(_T5), _T5), "qwen3": (_pattern(_QWEN3), _QWEN3)}


def llama_cpps_name(name: str, architecture: str) -> str:
    pattern, names = _TABLES[architecture]
    return pattern.sub(lambda match: names[match[0]], name)


def stored_as(
    numbers: Mapping[str, Array], dtype: DType, plain_names: str = "", *, lists: bool = False
) -> dict[str, Stored]:
    """Matrices in blocks, the rest as it is; converters leave matrices of few columns, too.

    They also leave what matches `plain_names`. `lists`: lists of numbers in blocks but biases and
    scales, as stable-diffusion.cpp writes them.
    """

    def stored(name: str, array: Array) -> Stored:
        block = dtype.block
        is_list = lists and array.ndim == 1 and not name.endswith((".bias", ".scale"))
        is_plain = plain_names and re.search(plain_names, name)
        if block is None or is_plain or (array.ndim != 2 and not is_list):
            return plain(array)
        if array.shape[-1] % block.elements:
            return plain(array)
        if dtype in (DType.Q8_0, DType.Q4_0):
            return quantized(array, dtype)
        return blocks(dtype, array.shape, len(name), scale=0.003)

    return {name: stored(name, array) for name, array in numbers.items()}


def dequantised(file: Path) -> dict[str, Array]:
    """The numbers of a file under their authors' names."""
    return {
        name: as_source(tensor).read_as(DType.F32)
        for name, tensor in read_index(file).tensors.items()
    }


def write_dequantised(path: Path, file: Path, shapes: Mapping[str, tuple[int, ...]]) -> Path:
    """Write the numbers of a file in float32, in the shapes that their authors gave them."""
    numbers = dequantised(file)
    write_arrays(path, {name: array.reshape(shapes[name]) for name, array in numbers.items()})
    return path


class WideBackend(CpuBackend):
    """The processor with weights of 32 bits, whatever the file has."""

    def operators(self, device: Device) -> OperatorSet:
        return msgspec.structs.replace(super().operators(device), blocks=None)


def decibels(found: NDArray[np.uint8], expected: NDArray[np.uint8]) -> float:
    error = np.mean((found.astype(float) - expected.astype(float)) ** 2)
    return float("inf") if error == 0 else float(10 * np.log10(255**2 / error))
