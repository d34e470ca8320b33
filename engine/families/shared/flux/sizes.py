"""Sizes of Flux.1's blocks, read off the shapes of their weights under canonical names."""

from pathlib import Path

from engine.families.shared.keys.shapes import Shapes, check_divides
from engine.graphs.flux import FluxSizes


def flux_sizes(shapes: Shapes, path: Path, axes: tuple[int, int, int] | None = None) -> FluxSizes:
    """Read the sizes of a transformer's blocks. Raises EngineError for inconsistent shapes.

    `axes` are the stated parts of a head that turn with each coordinate; None: those of Flux.1, an
    eighth and two equal halves of the rest.
    """
    width, channels = shapes.of("x_embedder.weight", 2)
    head = shapes.of("transformer_blocks.0.attn.norm_q.weight", 1)[0]
    check_divides(path, width, head, "numbers of a head")
    if axes is None:
        check_divides(path, head, 32, "numbers of the coordinates")
        axes = (head // 8, head * 7 // 16, head * 7 // 16)
    return FluxSizes(
        in_channels=channels,
        out_channels=shapes.of("proj_out.weight", 2)[0],
        width=width,
        heads=width // head,
        mlp_width=shapes.of("transformer_blocks.0.ff.net.0.proj.weight", 2)[0],
        context_width=shapes.of("context_embedder.weight", 2)[1],
        double_blocks=shapes.blocks("transformer_blocks", "attn.norm_q.weight"),
        single_blocks=shapes.blocks("single_transformer_blocks", "attn.norm_q.weight"),
        axes=axes,
    )
