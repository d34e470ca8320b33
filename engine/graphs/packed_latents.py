"""Packed latents: `patch` x `patch` cells are the channels of one, as FLUX.2's transformer has it.

Channels are in the order of FLUX.2's authors: for each channel of a cell the rows of cells, and in
each row the columns.
"""

from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder


def unpacked(g: GraphBuilder, x: Value, patch: int) -> Value:
    """Emit the latent [batch, channels, height * patch, width * patch] of a packed one, in planes.

    A `patch` of 1 packs nothing: `x` is returned.
    """
    return x if patch == 1 else g.op("DepthToSpace", x, blocksize=patch, mode="CRD")


def packed(g: GraphBuilder, x: Value, channels: int, patch: int) -> Value:
    """Emit the packed latent [batch, channels * patch^2, height / patch, width / patch], in planes.

    `x` is [batch, channels, height, width]; it is returned for a `patch` of 1.
    """
    if patch == 1:
        return x
    side = g.integers([patch])
    size = [g.op("Div", g.op("Shape", x, start=axis, end=axis + 1), side) for axis in (2, 3)]
    cut = g.op("Concat", g.integers([0, channels]), size[0], side, size[1], side, axis=0)
    x = g.op("Transpose", g.op("Reshape", x, cut), perm=[0, 1, 3, 5, 2, 4])
    return g.op("Reshape", x, g.op("Concat", g.integers([0, channels * patch**2]), *size, axis=0))
