"""The transformer of Chroma (lodestones 2025), named as diffusers' ChromaTransformer2DModel.

Flux.1's blocks, whose modulations come from one small network, the approximator, instead of a layer
in each block. Its input has a row for each modulation: sinusoids of the timestep, of a guidance of
0 and of the modulation's number. There is no pooled text.
"""

import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.flux import FluxBlocks, FluxSizes, emit_transformer, wave_embedding
from engine.graphs.modulation import ones_for_scales
from engine.graphs.operators import GraphBuilder
from engine.graphs.product_bias import ProductBias

APPROXIMATOR = "distilled_guidance_layer"
# torch's `RMSNorm` without an epsilon.
_EPSILON = float(np.finfo(np.float32).eps)
_THOUSAND = 1000
# Modulations of a stream of a double block, of a single block, and of the last layer.
_DOUBLE, _SINGLE = 6, 3


class ChromaConfig(FluxSizes, frozen=True, kw_only=True):
    """Sizes of a transformer of Chroma; `waves` are the numbers of a row of the approximator."""

    waves: int
    approximator_width: int
    approximator_layers: int

    @property
    def modulations(self) -> int:
        """The number of vectors by which blocks are modulated."""
        return _SINGLE * self.single_blocks + 2 * _DOUBLE * self.double_blocks + 2

    def place(self, layer: str) -> int:
        """Return the number of the first modulation of a layer, by its name in diffusers."""
        doubles = _SINGLE * self.single_blocks
        if layer.startswith("norm_out."):
            return self.modulations - (2 if layer == "norm_out.shift" else 1)
        kind, block, norm, *_ = layer.split(".")
        if kind == "single_transformer_blocks":
            return _SINGLE * int(block)
        of_text = norm == "norm1_context"
        return doubles + _DOUBLE * (self.double_blocks * of_text + int(block))


def chroma(g: GraphBuilder, config: ChromaConfig) -> None:
    """Emit the network: one evaluation of the denoiser.

    Inputs and output are those of `flux`, less pooled text and embeddings, and modulation_waves
    float32 [1, modulations, waves], made by `modulation_waves`; key_bias float32 [contexts, 1, 1,
    positions] and query_share float32 [contexts, 1, positions, 1], whose product is added to the
    scores of all attention. Positions are the tokens of the text, then those of the picture.
    """
    emit_transformer(g, config, _ApproximatedBlocks)


def modulation_waves(config: ChromaConfig, timestep: float) -> Array:
    """Return the approximator's input for a timestep from 0 to 1000: [1, modulations, waves].

    Half of a row is the modulation's number, a quarter each are the timestep and a guidance of 0
    (diffusers `ChromaCombinedTimestepTextProjEmbeddings`).
    """
    quarter = config.waves // 4
    step = np.concatenate([wave_embedding(timestep, quarter), wave_embedding(0.0, quarter)], axis=1)
    count = config.modulations
    numbers = [wave_embedding(float(_THOUSAND * i), 2 * quarter) for i in range(count)]
    rows = np.concatenate([np.repeat(step, count, axis=0), np.concatenate(numbers)], axis=1)
    return rows[np.newaxis]


class _ApproximatedBlocks(FluxBlocks):
    """Blocks that are modulated by the rows of the approximator's output."""

    def __init__(self, g: GraphBuilder, config: ChromaConfig, context: Value) -> None:
        super().__init__(g, config, context)
        self._sizes = config
        self._vectors = self._approximated()
        keys, queries = (
            g.cast_to_element(g.input(name, DType.F32, shape))
            for name, shape in (
                ("key_bias", ("contexts", 1, 1, "positions")),
                ("query_share", ("contexts", 1, "positions", 1)),
            )
        )
        self._bias = ProductBias(g, queries, keys, config.heads, config.head_width)

    def modulations(self, name: str, count: int) -> list[Value]:
        """Take vectors of the approximator's output: [1, 1, width] each."""
        g, first = self.g, self._sizes.place(name)
        cuts = [(g.integers([i]), g.integers([i + 1])) for i in range(first, first + count)]
        return [g.op("Slice", self._vectors, *cut, g.integers([1])) for cut in cuts]

    def attend(self, q: Value, k: Value, v: Value) -> Value:
        """Emit attention with the bias of its scores."""
        return self._bias.attention(q, k, v)

    def _approximated(self) -> Value:
        """Emit the approximator: [1, modulations, width]."""
        g, config = self.g, self._sizes
        inner = config.approximator_width
        shape = 1, config.modulations, config.waves
        waves = g.cast_to_element(g.input("modulation_waves", DType.F32, shape))
        x = g.linear(waves, f"{APPROXIMATOR}.in_proj", (config.waves, inner))
        for layer in range(config.approximator_layers):
            name = f"{APPROXIMATOR}.layers.{layer}.linear_"
            h = g.rms_norm(x, f"{APPROXIMATOR}.norms.{layer}", inner, _EPSILON)
            h = g.silu(g.linear(h, f"{name}1", (inner, inner)))
            x = g.op("Add", x, g.linear(h, f"{name}2", (inner, inner)))
        vectors = g.linear(x, f"{APPROXIMATOR}.out_proj", (inner, config.width))
        # The last two, of the layer at the end, have no gate.
        ones = np.append(ones_for_scales(config.modulations - 2), np.zeros(2, np.float32))
        return g.op("Add", vectors, g.constant(ones[:, None]))
