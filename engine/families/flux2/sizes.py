"""Sizes of FLUX.2's transformer, read off the shapes of its weights under canonical names."""

from collections.abc import Mapping
from pathlib import Path

from engine.families.shared.keys.shapes import Shapes, check_divides
from engine.graphs.flux2 import AXES, Flux2Config
from engine.weights.stored import StoredWeight


def flux2_config(weights: Mapping[str, StoredWeight], path: Path) -> Flux2Config:
    """Read the sizes of a transformer. Raises EngineError for inconsistent shapes."""
    shapes = Shapes(weights, path)
    width, channels = shapes.of("x_embedder.weight", 2)
    head = shapes.of("transformer_blocks.0.attn.norm_q.weight", 1)[0]
    check_divides(path, width, head, "numbers of a head")
    check_divides(path, head, 2 * AXES, "numbers of the coordinates")
    return Flux2Config(
        in_channels=channels,
        out_channels=shapes.of("proj_out.weight", 2)[0],
        width=width,
        heads=width // head,
        mlp_width=shapes.of("transformer_blocks.0.ff.linear_out.weight", 2)[1],
        context_width=shapes.of("context_embedder.weight", 2)[1],
        double_blocks=shapes.blocks("transformer_blocks", "attn.norm_q.weight"),
        single_blocks=shapes.blocks("single_transformer_blocks", "attn.norm_q.weight"),
    )
