"""Claims of a diffusers folder about blocks as Flux.1 has them."""

from engine.checkpoints.diffusers_configs import FluxBlocksFile
from engine.graphs.flux import FluxSizes


def block_claims(
    stated: FluxBlocksFile, config: FluxSizes
) -> tuple[tuple[str, object, object], ...]:
    """Return what a configuration states of the blocks, beside the weights; see `check_claims`."""
    return (
        ("in_channels", stated.in_channels, config.in_channels),
        ("num_layers", stated.num_layers, config.double_blocks),
        ("num_single_layers", stated.num_single_layers, config.single_blocks),
        ("attention_head_dim", stated.attention_head_dim, config.head_width),
        ("num_attention_heads", stated.num_attention_heads, config.heads),
        ("joint_attention_dim", stated.joint_attention_dim, config.context_width),
    )
