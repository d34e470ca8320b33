"""The ways in which a UNet may differ from its checkpoint's own, as FreeU and guided attention."""

from dataclasses import dataclass, field

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.control_residuals import TokenResidualForm
from engine.graphs.free_u import FreeU
from engine.graphs.lllite import LlliteLayers, LlliteWriter
from engine.graphs.operators import GraphBuilder
from engine.graphs.reference_attention import ReferenceForm
from engine.graphs.unet_encoder import UNetBlock

# Inputs and outputs of changed graphs.
PERTURBED = "perturbed"
ATTENTION = "attention"
# The layer whose attention self-attention guidance looks at (Hong et al. 2023, section 5).
SEEN_LAYER = "mid_block.attentions.0.transformer_blocks.0.attn1"


class NetworkChanges(msgspec.Struct, frozen=True):
    """Changes to the graphs of a checkpoint's networks.

    `wraps`: the axes, height and width, along which convolutions of denoiser and VAE wrap around.
    `perturbed`: names of the self-attention layers, or beginnings of their names, in which the
    rows that the input `perturbed` marks attend to themselves alone. `shows_attention`: the output
    `attention` tells how much each cell of the middle is attended to. `lllite`: projections whose
    inputs are changed by the modules of ControlNet-LLLites. `reference`: the self-attention layers
    that attend to a reference picture, or show what they are given of it. `residuals`: the forms of
    residuals that control networks give a transformer, in an order without duplicates.
    """

    wraps: tuple[bool, bool] = (False, False)
    free_u: FreeU | None = None
    perturbed: tuple[str, ...] = ()
    shows_attention: bool = False
    lllite: LlliteLayers | None = None
    reference: ReferenceForm | None = None
    residuals: tuple[TokenResidualForm, ...] = ()

    def perturbs(self, layer: str) -> bool:
        """Return True if some rows of this self-attention layer attend to themselves alone."""
        return any(layer == name or layer.startswith(f"{name}.") for name in self.perturbed)


NO_CHANGES = NetworkChanges()


@dataclass(slots=True)
class SelfAttentionChanges:
    """Writes the self-attention layers that differ from the checkpoint's own."""

    g: GraphBuilder
    changes: NetworkChanges
    _marks: tuple[Value, Value] | None = field(default=None, init=False)

    def touch(self, layer: str) -> bool:
        """Return True if this layer is written by `write`."""
        seen = self.changes.shows_attention and layer == SEEN_LAYER
        return seen or self.changes.perturbs(layer)

    def write(self, x: Value, layer: str, block: UNetBlock) -> Value:
        """Emit self-attention of tokens [contexts, tokens, width] without its last projection.

        Perturbed rows keep their own values: the attention map is the identity (Ahn et al. 2024,
        section 4.2; diffusers' `PAGIdentitySelfAttnProcessor2_0`).
        """
        g, sizes = self.g, (block.width, block.width)
        modules = LlliteWriter(g, self.changes.lllite)
        names = [f"{layer}.to_{part}" for part in "qkv"]
        inputs = [modules.input_of(x, name, block.width) for name in names]
        q, k, v = (
            g.linear(given, name, sizes, bias=False)
            for given, name in zip(inputs, names, strict=True)
        )
        head_width = block.width // block.heads
        mixed = g.attention(q, k, v, block.heads, head_width)
        if self.changes.shows_attention and layer == SEEN_LAYER:
            seen = g.attention_received(q, k, block.heads, head_width)
            g.output(seen, ATTENTION, DType.F32, ("contexts", "cells"))
        if not self.changes.perturbs(layer):
            return mixed
        perturbed, others = self._rows()
        return g.op("Add", g.op("Mul", mixed, others), g.op("Mul", v, perturbed))

    def _rows(self) -> tuple[Value, Value]:
        """Declare the marks of perturbed rows, 1 each; return them and those of the others."""
        if self._marks is None:
            g = self.g
            marks = g.cast_to_element(g.input(PERTURBED, DType.F32, ("contexts", 1, 1)))
            self._marks = marks, g.op("Sub", g.constant(1.0), marks)
        return self._marks
