"""The names that llama.cpp gives the tensors of text encoders, and those that authors give them.

llama.cpp renames tensors when it converts a network (`gguf-py/gguf/tensor_mapping.py`); the names
of authors are those of transformers. Denoisers keep their names in GGUF files.
"""

import re
from collections.abc import Callable, Mapping, Sequence

_T5 = {
    "attn_q": "layer.0.SelfAttention.q",
    "attn_k": "layer.0.SelfAttention.k",
    "attn_v": "layer.0.SelfAttention.v",
    "attn_o": "layer.0.SelfAttention.o",
    "attn_norm": "layer.0.layer_norm",
    "attn_rel_b": "layer.0.SelfAttention.relative_attention_bias",
    "ffn_gate": "layer.1.DenseReluDense.wi_0",
    "ffn_up": "layer.1.DenseReluDense.wi_1",
    "ffn_down": "layer.1.DenseReluDense.wo",
    "ffn_norm": "layer.1.layer_norm",
}
_T5_WHOLE = {
    "token_embd.weight": "shared.weight",
    "enc.output_norm.weight": "encoder.final_layer_norm.weight",
    "dec.output_norm.weight": "decoder.final_layer_norm.weight",
    "output.weight": "lm_head.weight",
}
_QWEN = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_QWEN_WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_BLOCK = re.compile(r"(?:(enc|dec)\.)?blk\.(\d+)\.([a-z_]+)\.(weight|bias)")
_STACKS = {"enc": "encoder", "dec": "decoder"}

Rename = Callable[[str], str]


def _t5(name: str) -> str:
    block = _BLOCK.fullmatch(name)
    if block is None or block[1] is None:
        return _T5_WHOLE.get(name, name)
    layer = _T5.get(block[3], block[3])
    return f"{_STACKS[block[1]]}.block.{block[2]}.{layer}.{block[4]}"


def _qwen(name: str) -> str:
    block = _BLOCK.fullmatch(name)
    if block is None or block[1] is not None:
        return _QWEN_WHOLE.get(name, name)
    return f"model.layers.{block[2]}.{_QWEN.get(block[3], block[3])}.{block[4]}"


# By `general.architecture`. Other language models have rows of queries and keys in another order.
_RENAMES: Mapping[str, Rename] = {
    "t5": _t5,
    "t5encoder": _t5,
    "qwen2": _qwen,
    "qwen3": _qwen,
}


def authors_names(architecture: str, names: Sequence[str]) -> dict[str, str]:
    """Return the authors' name of each tensor of a file, by its own name."""
    rename = _RENAMES.get(architecture)
    return {name: rename(name) if rename else name for name in names}
