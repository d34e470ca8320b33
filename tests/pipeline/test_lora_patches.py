"""A LoRA's changes are checked by the shape of the layer that it was made for."""

from pathlib import Path

import pytest

from engine.api.lora_rules import LoraRules
from engine.errors import EngineError
from engine.families import Component, identify
from engine.lora.layers import fit
from engine.pipeline.lora_patches import ActingLora
from engine.text.lora_tags import LoraUse
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.lora.files import lora_file

WIDTH = 1024


@pytest.mark.parametrize("shape", [(3 * WIDTH, WIDTH), (3 * WIDTH, WIDTH, 2)])
def test_a_difference_of_a_fused_layer_has_that_layers_shape(
    shape: tuple[int, ...], tmp_path: Path
) -> None:
    checkpoint = identify(write_sparse(tmp_path / "sd2.safetensors", listings.sd2()))
    layer = "lora_te_transformer_resblocks_0_attn_in_proj"
    file = lora_file(tmp_path / "lora.safetensors", {f"{layer}.diff": shape})
    table = checkpoint.architecture.lora_layers
    assert table is not None
    acting = ActingLora(fit(file, table), LoraUse("", (1.0,), 1.0), LoraRules())
    if len(shape) > 2:
        with pytest.raises(EngineError, match=rf"do not fit the weight \[{3 * WIDTH}, {WIDTH}\]"):
            acting.changes(checkpoint, Component.TEXT_ENCODER, 1.0)
    else:
        assert len(acting.changes(checkpoint, Component.TEXT_ENCODER, 1.0)) == 3
