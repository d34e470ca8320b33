"""The blocks of a UNet by the original implementation's numbers."""

import pytest

from engine.families.shared.unet.blocks import block_of


@pytest.mark.parametrize(
    ("layer", "block"),
    [
        ("conv_in", "IN00"),
        ("down_blocks.0.resnets.0.conv1", "IN01"),
        ("down_blocks.0.attentions.1.proj_in", "IN02"),
        ("down_blocks.0.downsamplers.0.conv", "IN03"),
        ("down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q", "IN04"),
        ("down_blocks.3.resnets.1.conv2", "IN11"),
        ("mid_block.attentions.0.proj_out", "M00"),
        ("up_blocks.0.resnets.0.conv1", "OUT00"),
        ("up_blocks.0.upsamplers.0.conv", "OUT02"),
        ("up_blocks.3.attentions.2.proj_in", "OUT11"),
        ("time_embedding.linear_1", None),
        ("conv_out", None),
    ],
)
def test_a_layer_belongs_to_a_block(layer: str, block: str | None) -> None:
    assert block_of(layer) == block
