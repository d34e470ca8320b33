"""Files of int8 weights with a scale for each row, as ComfyUI's converters write them."""

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import numpy as np

from backends.base import Array, DType
from tests.checkpoints.arrays import write_arrays

GROUP = 256
_BASE = np.array([[1, 1, 1, -1], [1, 1, -1, 1], [1, -1, 1, 1], [-1, 1, 1, 1]])


class Way(StrEnum):
    """The forms in which a file has its integers."""

    ROWS = "a scale for each row"
    LIST = "a scale for each row, as a list"
    WHOLE = "a scale for all"
    BARE = "without notes"
    ROTATED = "rotated"
    METADATA = "rotated, as the metadata says"

    @property
    def rotates(self) -> bool:
        """True for ConvRot."""
        return self in (Way.ROTATED, Way.METADATA)


def rotation(side: int = GROUP) -> Array:
    """The regular Hadamard matrix of a side, in float64."""
    matrix = _BASE
    while len(matrix) < side:
        matrix = np.kron(matrix, _BASE)
    return matrix / np.sqrt(side)


def write_int8(
    path: Path, numbers: Mapping[str, Array], way: Way, prefix: str = ""
) -> dict[str, Array]:
    """Write matrices in int8, others as they are; return the numbers that they stand for.

    Layers whose rows are no whole groups are not rotated, as in ComfyUI.
    """
    stored: dict[str, Array] = {}
    types: dict[str, DType] = {}
    meant: dict[str, Array] = {}
    notes: dict[str, object] = {}
    for name, array in numbers.items():
        full = prefix + name
        if array.ndim != 2 or not name.endswith(".weight"):
            stored[full], types[full], meant[name] = array, DType.F32, array
            continue
        rotates = way.rotates and array.shape[1] % GROUP == 0
        integers, scales, meant[name] = quantised(array, way, rotates=rotates)
        layer = full.removesuffix(".weight")
        stored |= {full: integers, f"{layer}.weight_scale": scales}
        types |= {full: DType.I8, f"{layer}.weight_scale": DType.F32}
        notes[layer] = {"format": "int8_tensorwise"}
        if rotates:
            notes[layer] = {"format": "int8_tensorwise", "convrot": True}
        if way not in (Way.BARE, Way.METADATA):
            note = json.dumps(notes[layer]).encode()
            stored[f"{layer}.comfy_quant"] = np.frombuffer(note, np.uint8)
            types[f"{layer}.comfy_quant"] = DType.U8
    told = {"format_version": "1.0", "layers": notes}
    metadata = {"_quantization_metadata": json.dumps(told)} if way is Way.METADATA else None
    write_arrays(path, stored, types, metadata=metadata)
    return meant


def quantised(matrix: Array, way: Way, *, rotates: bool) -> tuple[Array, Array, Array]:
    """The integers and scales of a matrix, and the numbers that they stand for, in float32."""
    turned = matrix.reshape(-1, GROUP) @ rotation() if rotates else matrix
    turned = turned.reshape(matrix.shape)
    most = np.abs(turned).max(axis=None if way is Way.WHOLE else 1, keepdims=way is not Way.WHOLE)
    scales = np.asarray(most / 127, np.float32)
    integers = np.rint(turned / scales).astype(np.int8)
    meant = integers.astype(np.float32) * scales
    if rotates:
        meant = (meant.astype(np.float64).reshape(-1, GROUP) @ rotation()).reshape(matrix.shape)
    return integers, scales.reshape(-1) if way is Way.LIST else scales, meant.astype(np.float32)
