"""Weights in integers with scales beside them, which are named and refused."""

from pathlib import Path

import pytest

from backends.base import DType
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families import identify
from tests.checkpoints.files import write_sparse
from tests.families.flux import files

LAYER = "double_blocks.0.img_attn.proj"
WEIGHT = f"{LAYER}.weight"
_ADDED = {
    "NF4": {f"{WEIGHT}.absmax": DType.F32, f"{WEIGHT}.quant_state.bitsandbytes__nf4": DType.U8},
    "SDNQ": {f"{LAYER}.scale": DType.F32},
    "NVFP4": {f"{WEIGHT}_scale": DType.F8_E4M3, f"{WEIGHT}_scale_2": DType.F32},
}
_STORED = {"NF4": DType.U8, "SDNQ": DType.U8, "NVFP4": DType.U8}


@pytest.mark.parametrize("kind", _ADDED)
def test_integers_with_scales_are_named_and_refused(kind: str, tmp_path: Path) -> None:
    names = files.original(files.SMALL)
    types = dict.fromkeys(names, DType.BF16) | {WEIGHT: _STORED[kind]} | _ADDED[kind]
    shapes = names | dict.fromkeys(_ADDED[kind], (64, 1))
    path = write_sparse(tmp_path / "flux.safetensors", shapes, types)
    with pytest.raises(EngineError) as caught:
        identify(path)
    assert caught.value.code is ErrorCode.CHECKPOINT_UNREADABLE
    assert kind in str(caught.value.message)
    assert "GGUF" in str(caught.value.hint)
