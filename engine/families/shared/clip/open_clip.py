"""Renaming OpenCLIP's text transformer to Hugging Face's names.

The fused projection of query, key and value becomes three slices.

Reference: diffusers `loaders/single_file_utils.py`, `convert_open_clip_checkpoint`.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from engine.api.sentences import sentence
from engine.families.shared.keys.numbering import damaged
from engine.weights.stored import StoredWeight

# The names of layers outside the blocks, and within a block.
TOPS = {
    "token_embedding.weight": "embeddings.token_embedding.weight",
    "positional_embedding": "embeddings.position_embedding.weight",
    "ln_final.weight": "final_layer_norm.weight",
    "ln_final.bias": "final_layer_norm.bias",
}
_BLOCK = re.compile(r"transformer\.resblocks\.(\d+)\.(.+)")
LEAVES = {
    "ln_1": "layer_norm1",
    "ln_2": "layer_norm2",
    "attn.out_proj": "self_attn.out_proj",
    "mlp.c_fc": "mlp.fc1",
    "mlp.c_proj": "mlp.fc2",
}
_FUSED = re.compile(r"attn\.in_proj_(weight|bias)")


def is_open_clip(tensors: Mapping[str, StoredWeight]) -> bool:
    """Tell whether a text encoder's tensors have OpenCLIP's names."""
    return any(name.startswith("transformer.resblocks.") for name in tensors)


def hugging_face_names(tensors: Mapping[str, StoredWeight], path: Path) -> dict[str, StoredWeight]:
    """Rename the tensors to the names of CLIPTextModel, except `text_projection`.

    `text_projection` keeps its name, because OpenCLIP stores it as [width, projection], transposed.
    """
    named: dict[str, StoredWeight] = {}
    for name, tensor in tensors.items():
        block = _BLOCK.fullmatch(name)
        if block is None:
            top = TOPS.get(name)
            named[f"text_model.{top}" if top else name] = tensor
            continue
        layer, rest = f"text_model.encoder.layers.{block[1]}", block[2]
        fused = _FUSED.fullmatch(rest)
        if fused is not None:
            named |= _parts(tensor, f"{layer}.self_attn", fused[1], name, path)
            continue
        leaf, _, kind = rest.rpartition(".")
        named[f"{layer}.{LEAVES.get(leaf, leaf)}.{kind}"] = tensor
    return named


def _parts(
    tensor: StoredWeight, attention: str, kind: str, name: str, path: Path
) -> dict[str, StoredWeight]:
    """Cut a fused projection [3 * width, ...] into query, key and value, each under its name."""
    rows = tensor.shape[0] if tensor.shape else 0
    if not rows or rows % 3:
        raise damaged(
            path, sentence("{name!r} has the shape {list}", name=name, list=list(tensor.shape))
        )
    third = rows // 3
    return {
        f"{attention}.{part}_proj.{kind}": tensor.rows(i * third, (i + 1) * third)
        for i, part in enumerate("qkv")
    }
