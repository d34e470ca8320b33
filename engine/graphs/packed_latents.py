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
    side, size = g.integers([patch]), _sides(g, x, patch)
    cut = g.op("Concat", g.integers([0, channels]), size[0], side, size[1], side, axis=0)
    x = g.op("Transpose", g.op("Reshape", x, cut), perm=[0, 1, 3, 5, 2, 4])
    return g.op("Reshape", x, g.op("Concat", g.integers([0, channels * patch**2]), *size, axis=0))


def size_in_patches(g: GraphBuilder, x: Value, patch: int) -> Value:
    """Emit the height and width, int64 [2], of a latent in patches of `patch` x `patch` cells.

    `x` is the latent in planes, best as it enters the run: what a size is read from is held until
    then, and what is made of a latent's cells is many times as large.
    """
    return g.op("Concat", *_sides(g, x, patch), axis=0)


def number_of_patches(g: GraphBuilder, x: Value, patch: int) -> Value:
    """Emit the number of a latent's patches, int64 [1]; `x` is that of `size_in_patches`."""
    return g.op("Mul", *_sides(g, x, patch))


def _sides(g: GraphBuilder, x: Value, patch: int) -> list[Value]:
    """Emit the height and the width of a latent in patches, int64 [1] each."""
    sides = [g.op("Shape", x, start=axis, end=axis + 1) for axis in (2, 3)]
    return sides if patch == 1 else [g.op("Div", side, g.integers([patch])) for side in sides]
