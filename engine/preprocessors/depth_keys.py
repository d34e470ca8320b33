"""Names of Depth Anything's weights: those of the original files to those of transformers.

Source: transformers `models/depth_anything/convert_depth_anything_to_hf.py` (until version 4).
"""

import re
from collections.abc import Mapping

from backends.base import FileSlice

# Patterns of original names, and what they become; the first that matches counts.
_NAMES = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"pretrained\.cls_token", r"backbone.embeddings.cls_token"),
        (r"pretrained\.pos_embed", r"backbone.embeddings.position_embeddings"),
        (r"pretrained\.patch_embed\.proj", r"backbone.embeddings.patch_embeddings.projection"),
        (r"pretrained\.norm", r"backbone.layernorm"),
        (
            r"pretrained\.blocks\.(\d+)\.attn\.proj",
            r"backbone.encoder.layer.\1.attention.output.dense",
        ),
        (
            r"pretrained\.blocks\.(\d+)\.ls(\d)\.gamma",
            r"backbone.encoder.layer.\1.layer_scale\2.lambda1",
        ),
        (r"pretrained\.blocks\.(\d+)", r"backbone.encoder.layer.\1"),
        (r"depth_head\.projects\.(\d)", r"neck.reassemble_stage.layers.\1.projection"),
        (r"depth_head\.resize_layers\.(\d)", r"neck.reassemble_stage.layers.\1.resize"),
        (r"depth_head\.scratch\.output_conv1", r"head.conv1"),
        (r"depth_head\.scratch\.output_conv2\.0", r"head.conv2"),
        (r"depth_head\.scratch\.output_conv2\.2", r"head.conv3"),
    )
)
_NECK = re.compile(r"depth_head\.scratch\.layer([1-4])_rn")
_FUSION = re.compile(r"depth_head\.scratch\.refinenet([1-4])\.")
_UNIT = re.compile(r"resConfUnit(\d)\.conv(\d)")
_JOINED = re.compile(r"pretrained\.blocks\.(\d+)\.attn\.qkv\.(weight|bias)")
_PARTS = ("query", "key", "value")


def as_transformers(tensors: Mapping[str, FileSlice]) -> dict[str, FileSlice]:
    """Return an original file's tensors by transformers' names; others keep their names.

    The joined layer of queries, keys and values becomes three slices of it.
    """
    named: dict[str, FileSlice] = {}
    for name, tensor in tensors.items():
        joined = _JOINED.fullmatch(name)
        if joined is None:
            named[_renamed(name)] = tensor
            continue
        rows = tensor.shape[0] // len(_PARTS)
        layer = f"backbone.encoder.layer.{joined[1]}.attention.attention"
        for number, part in enumerate(_PARTS):
            cut = tensor.rows(number * rows, (number + 1) * rows)
            named[f"{layer}.{part}.{joined[2]}"] = cut
    return named


def _renamed(name: str) -> str:
    """Return the name of a tensor; necks count from 0, fusions from the smallest picture on."""
    for pattern, wanted in _NAMES:
        if pattern.match(name):
            return pattern.sub(wanted, name, count=1)
    if neck := _NECK.match(name):
        return f"neck.convs.{int(neck[1]) - 1}{name[neck.end() :]}"
    if fusion := _FUSION.match(name):
        rest = _UNIT.sub(r"residual_layer\1.convolution\2", name[fusion.end() :])
        rest = rest.replace("out_conv.", "projection.", 1)
        return f"neck.fusion_stage.layers.{4 - int(fusion[1])}.{rest}"
    return name
