"""Depth Anything's files: the sizes in them, and embeddings of positions for a picture's size."""

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from backends.base import FileSlice
from engine.graphs.annotators.depth_anything import DepthAnythingConfig
from engine.preprocessors.opencv.resizing import resize_cubic_by

ORIGINAL_SIGNS = ("pretrained.pos_embed", "depth_head.projects.0.weight")
POSITIONS = "backbone.embeddings.position_embeddings"
# Layers whose outputs the head reads, by the number of layers: small and base, large.
_TAPS = {12: (3, 6, 9, 12), 24: (5, 12, 18, 24)}
_HEAD_WIDTH = 64
_LAYER = re.compile(r"backbone\.encoder\.layer\.(\d+)\.norm1\.weight")
# The original adds this to the number of patches before it divides (DINOv2's
# `interpolate_offset`); transformers divides the numbers themselves.
ORIGINAL_OFFSET = 0.1


def read_config(tensors: Mapping[str, FileSlice]) -> DepthAnythingConfig | None:
    """Return the sizes of a file by transformers' names; None if it is none of our networks."""
    layers = sum(_LAYER.fullmatch(name) is not None for name in tensors)
    first, fusion = (
        tensors.get("backbone.encoder.layer.0.mlp.fc1.weight"),
        tensors.get("neck.convs.0.weight"),
    )
    last = tensors.get("head.conv2.weight")
    necks = [tensors.get(f"neck.convs.{number}.weight") for number in range(4)]
    if layers not in _TAPS or first is None or fusion is None or last is None:
        return None
    mlp_width, width = first.shape
    return DepthAnythingConfig(
        width=width,
        heads=max(1, width // _HEAD_WIDTH),
        mlp_width=mlp_width,
        layers=layers,
        taps=_TAPS[layers],
        necks=tuple(neck.shape[1] for neck in necks if neck is not None),
        fusion_width=fusion.shape[0],
        head_width=last.shape[0],
    )


def positions_for(
    embeddings: NDArray[np.float32], rows: int, columns: int, offset: float
) -> NDArray[np.float32]:
    """Return the embeddings of positions, [1, 1 + rows * columns, width], for so many patches.

    `embeddings`, [1, 1 + n * n, width], are those that were trained; they are interpolated as
    pictures. The first belongs to no patch.
    """
    count, width = embeddings.shape[1] - 1, embeddings.shape[2]
    if rows == columns and rows * columns == count:
        return embeddings
    side = round(count**0.5)
    grid = embeddings[0, 1:].reshape(side, side, width)
    steps = side / (columns + offset), side / (rows + offset)
    patches = resize_cubic_by(grid, columns, rows, steps).reshape(1, -1, width)
    return np.concatenate([embeddings[:, :1], patches], axis=1)
