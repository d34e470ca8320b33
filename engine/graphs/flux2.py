"""The transformer of FLUX.2 (Black Forest Labs 2025), named as diffusers' Flux2Transformer2DModel.

Flux.1's double and single blocks without biases. All blocks of a kind have one modulation. MLPs are
SwiGLU (Shazeer 2020), whose halves come from one layer; a single block has one layer before, and
one after, attention and MLP. A token is one cell of the latent, and tokens of the text have places,
too.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.flux import WAVES, BlockSizes, FluxBlocks, emit_transformer
from engine.graphs.modulation import gated, modulated, modulations
from engine.graphs.operators import GraphBuilder
from engine.graphs.rotary_embeddings import rotary_angles

_ROTATION_BASE = 2000
# The shares of a head that the four coordinates rotate: picture, row, column, place in the text.
AXES = 4
# The distance between the first coordinates of the latent and of each reference picture.
_APART = 10
_EMBEDDER = "time_guidance_embed.timestep_embedder.linear_"
# The modulation of each kind of layer, by the end of the name that Flux.1's own layers have.
_SHARED = {
    ".norm1.linear": "double_stream_modulation_img.linear",
    ".norm1_context.linear": "double_stream_modulation_txt.linear",
    ".norm.linear": "single_stream_modulation.linear",
}
# A latent's height and width in cells, each of which is a token.
Cells = tuple[int, int]


class Flux2Config(BlockSizes, frozen=True, kw_only=True):
    """Sizes of a transformer of FLUX.2; each of four coordinates rotates a quarter of a head."""


def flux2(g: GraphBuilder, config: Flux2Config, *, references: bool = False) -> None:
    """Emit the network: one evaluation of the denoiser.

    Inputs and output are those of `flux`, less pooled text and guidance, for a latent of
    `in_channels` channels; text_cosines and text_sines float32 [contexts, tokens, head width] are
    made by `text_rotations`, those of pictures by `rotations`. With `references` the network also
    sees references float32 [1, in_channels, 1, reference_cells], made by `side_by_side`.
    """
    emit_transformer(g, config, _SharedBlocks, references=references)


def rotations(
    config: Flux2Config, cells: Cells, references: Sequence[Cells] = ()
) -> dict[str, Array]:
    """Return cosines and sines of the tokens of a latent and of reference pictures that follow.

    Both are float32 [patches, head width] (diffusers `Flux2PosEmbed`, `_prepare_image_ids`).
    """
    places = [_places(cells, _APART * number) for number, cells in enumerate((cells, *references))]
    return _rotary(config, np.concatenate(places, axis=1), "")


def text_rotations(config: Flux2Config, contexts: int, tokens: int) -> dict[str, Array]:
    """Return cosines and sines of the tokens of texts: float32 [contexts, tokens, head width]."""
    places = np.zeros((AXES, tokens))
    places[3] = np.arange(tokens)
    rotary = _rotary(config, places, "text_")
    return {name: np.stack([array] * contexts) for name, array in rotary.items()}


def side_by_side(latents: Sequence[Array]) -> Array:
    """Return the cells of latents [1, channels, height, width] in one row, whatever their sizes."""
    return np.concatenate([latent.reshape(1, latent.shape[1], 1, -1) for latent in latents], axis=3)


def _places(cells: Cells, picture: int) -> Array:
    """Return the coordinates of the tokens of a picture, row by row: [4, patches]."""
    places = np.zeros((AXES, *cells))
    places[0] = picture
    places[1] = np.arange(cells[0])[:, np.newaxis]
    places[2] = np.arange(cells[1])
    return places.reshape(AXES, -1)


def _rotary(config: Flux2Config, places: Array, prefix: str) -> dict[str, Array]:
    share = config.head_width // AXES
    every = np.concatenate([rotary_angles(axis, share, _ROTATION_BASE) for axis in places], axis=1)
    return {
        f"{prefix}cosines": np.cos(every).astype(np.float32),
        f"{prefix}sines": np.sin(every).astype(np.float32),
    }


class _SharedBlocks(FluxBlocks):
    """Blocks of which all of a kind have one modulation."""

    patch: ClassVar[int] = 1
    biased: ClassVar[bool] = False

    def __init__(self, g: GraphBuilder, config: Flux2Config, context: Value) -> None:
        super().__init__(g, config, context)
        waves = g.cast_to_element(g.input("timestep_embedding", DType.F32, (1, WAVES)))
        width = config.width
        h = g.silu(g.linear(waves, f"{_EMBEDDER}1", (WAVES, width), bias=False))
        # Every modulation applies SiLU to the embedding first; applying it once is enough.
        self._embedding = g.silu(g.linear(h, f"{_EMBEDDER}2", (width, width), bias=False))
        self._emitted: dict[str, list[Value]] = {}

    def modulations(self, name: str, count: int) -> list[Value]:
        """Return vectors of the kind's layer, which is emitted once: [1, 1, width] each."""
        shared = next((own for end, own in _SHARED.items() if name.endswith(end)), name)
        if shared not in self._emitted:
            g, width = self.g, self.config.width
            found = modulations(g, self._embedding, shared, width, count, bias=False)
            self._emitted[shared] = found
        return self._emitted[shared]

    def text_rotary(self, name: str, without: float) -> Value:
        """Declare cosines or sines of the tokens of the texts, which are those of the first."""
        g, width = self.g, self.config.head_width
        rotary = g.input(f"text_{name}", DType.F32, ("contexts", "tokens", width))
        first = g.op("Slice", rotary, g.integers([0]), g.integers([1]), g.integers([0]))
        return g.cast_to_element(g.op("Reshape", first, g.integers([-1, width])))

    def widened(self, x: Value, name: str, shift_scale_gate: Sequence[Value]) -> Value:
        """Emit the MLP of a double block, and its residual."""
        g, width, inner = self.g, self.config.width, self.config.mlp_width
        shift, scale, gate = shift_scale_gate
        h = modulated(g, x, width, shift, scale)
        h = g.linear(h, f"{name}.linear_in", (width, 2 * inner), bias=False)
        h = g.linear(self._swiglu(h, 0), f"{name}.linear_out", (inner, width), bias=False)
        return gated(g, x, h, gate)

    def single(self, x: Value, name: str) -> Value:
        """Emit a block with attention and MLP side by side, on all tokens."""
        g, config, width = self.g, self.config, self.config.width
        shift, scale, gate = self.modulations(f"{name}.norm.linear", 3)
        attn, inner = f"{name}.attn", config.mlp_width
        h = modulated(g, x, width, shift, scale)
        h = g.linear(h, f"{attn}.to_qkv_mlp_proj", (width, 3 * width + 2 * inner), bias=False)
        q, k, v = (self._cut(h, width * i, width * (i + 1)) for i in range(3))
        mixed = self.attention(
            self.normalised(q, f"{attn}.norm_q"), self.normalised(k, f"{attn}.norm_k"), v
        )
        both = g.op("Concat", mixed, self._swiglu(h, 3 * width), axis=2)
        h = g.linear(both, f"{attn}.to_out", (width + inner, width), bias=False)
        return self.within_f16(gated(g, x, h, gate))

    def _swiglu(self, x: Value, start: int) -> Value:
        """Emit the product of two halves, of which the first one, from `start`, is the gate."""
        g, inner = self.g, self.config.mlp_width
        gate, value = (self._cut(x, start + inner * i, start + inner * (i + 1)) for i in (0, 1))
        return g.op("Mul", g.silu(gate), value)

    def _cut(self, x: Value, start: int, end: int) -> Value:
        g = self.g
        return g.op("Slice", x, g.integers([start]), g.integers([end]), g.integers([2]))
