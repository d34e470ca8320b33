"""Transformers of flow models in fp8: plain, scaled, and mixed with layers of 16 bits."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType
from engine.checkpoints.files import read_index
from engine.families import Component, identify
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.families.flow_models import MODELS
from tests.families.flux.files import drawn
from tests.thinned import thinned

_FP8, _F16, _F32, _U8 = DType.F8_E4M3, DType.F16, DType.F32, DType.U8
_NOTE = np.frombuffer(json.dumps({"format": "float8_e4m3fn"}).encode(), np.uint8)


def _scale(name: str) -> Array:
    return np.asarray([0.5 + len(name) % 5 / 8], np.float32)


def _is_mixed_out(name: str) -> bool:
    """Layers that ComfyUI's mixed files keep at 16 bits: the first and the last ones."""
    return not any(part in name for part in ("layers.", "blocks."))


@pytest.mark.parametrize(
    ("family", "way"),
    thinned(
        list(product(MODELS, ("plain", "scaled", "mixed"))),
        [*product(["chroma"], ("plain", "scaled", "mixed")), *product(MODELS, ["scaled"])],
    ),
)
def test_weights_are_the_numbers_times_their_scales(family: str, way: str, tmp_path: Path) -> None:
    numbers = drawn(MODELS[family].transformer)
    types: dict[str, DType] = {}
    beside: dict[str, Array] = {}
    for name, array in numbers.items():
        is_layer = array.ndim == 2 and name.endswith(".weight")
        types[name] = _FP8 if is_layer and not (way == "mixed" and _is_mixed_out(name)) else _F16
        layer = name.removesuffix(".weight")
        if types[name] is _FP8 and way == "scaled":
            beside |= {f"{layer}.scale_weight": _scale(layer), f"{layer}.scale_input": _scale("")}
        elif types[name] is _FP8 and way == "mixed":
            beside |= {f"{layer}.weight_scale": _scale(layer)[0], f"{layer}.comfy_quant": _NOTE}
    if way == "scaled":
        beside["scaled_fp8"] = np.zeros(2, np.float32)
        types["scaled_fp8"] = _FP8
    types |= {name: _U8 if array.dtype == np.uint8 else _F32 for name, array in beside.items()
              if name not in types}  # fmt: skip
    path = tmp_path / "fp8.safetensors"
    write_arrays(path, numbers | beside, types)
    found = identify(path)
    assert found.family == family
    whole = tmp_path / "whole.safetensors"
    stored = read_index(path).tensors
    wide = {name: as_source(stored[name]).read_as(_F32) for name in numbers}
    if way != "plain":
        for name in wide:
            if types[name] is _FP8:
                wide[name] = wide[name] * _scale(name.removesuffix(".weight"))
    write_arrays(whole, wide)
    expected = identify(whole).components[Component.DENOISER].weights
    weights = found.components[Component.DENOISER].weights
    assert weights.keys() == expected.keys()
    assert sum(weight.dtype is _FP8 for weight in weights.values()) > 5
    for name, weight in weights.items():
        read = as_source(weight).read_as(_F32)
        np.testing.assert_array_equal(read, as_source(expected[name]).read_as(_F32), name)
