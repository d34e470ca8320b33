"""Sizes of Stable Diffusion 3's transformer, read off the shapes of its weights."""

import math
from collections.abc import Mapping
from pathlib import Path

from engine.api.sentences import sentence
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.keys.shapes import Shapes, check_divides
from engine.graphs.sd3 import PATCH, Sd3Config
from engine.weights.stored import StoredWeight

# The width of a head where no norm shows it (Stability AI's sd3_infer.py).
HEAD_WIDTH = 64
_BLOCKS = "transformer_blocks"


def sd3_config(
    weights: Mapping[str, StoredWeight], path: Path, heads: int | None = None
) -> Sd3Config:
    """Read the sizes of a transformer. Raises EngineError for inconsistent shapes.

    `heads` is the stated number of heads; None: as the norms of queries show, or one for each 64 of
    the width.
    """
    shapes = Shapes(weights, path)
    width, channels, *side = shapes.of("pos_embed.proj.weight", 4)
    norm = f"{_BLOCKS}.0.attn.norm_q.weight"
    normalised = norm in shapes
    if heads is None:
        head = shapes.of(norm, 1)[0] if normalised else HEAD_WIDTH
        check_divides(path, width, head, "numbers of a head")
        heads = width // head
    check_divides(path, width, heads, "heads")
    blocks = shapes.blocks(_BLOCKS, "norm1.linear.weight")
    return Sd3Config(
        channels=channels,
        width=width,
        heads=heads,
        mlp_width=shapes.of(f"{_BLOCKS}.0.ff.net.0.proj.weight", 2)[0],
        context_width=shapes.of("context_embedder.weight", 2)[1],
        pooled_width=shapes.of("time_text_embed.text_embedder.linear_1.weight", 2)[1],
        blocks=blocks,
        places=places_of(shapes, side),
        normalised=normalised,
        dual_blocks=tuple(n for n in range(blocks) if f"{_BLOCKS}.{n}.attn2.to_q.weight" in shapes),
    )


def places_of(shapes: Shapes, side: list[int]) -> int:
    """Return the side of the table of places. Raises EngineError where it is no square."""
    name = "pos_embed.pos_embed"
    table = shapes.of(name, 3)
    places = math.isqrt(table[1])
    if places**2 != table[1] or side != [PATCH, PATCH]:
        raise damaged(
            shapes.path, sentence("{name!r} has the shape {list}", name=name, list=list(table))
        )
    return places
