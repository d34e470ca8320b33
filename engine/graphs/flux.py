"""The transformer of Flux.1 (Black Forest Labs 2024), named as diffusers' FluxTransformer2DModel.

Tokens of the text and of 2 x 2 latent cells attend to one another. In *double* blocks the two kinds
have weights of their own, in *single* blocks they share them, and attention and MLP run side by
side. Each block is modulated by the timestep, the pooled text and, in networks distilled with it,
the guidance (Peebles & Xie 2023, adaLN-Zero; Esser et al. 2024, section 4).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol, TypeVar

import msgspec
import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.control_residuals import TokenResidualForm, TokenResiduals
from engine.graphs.modulation import EPSILON, embedded, gated, modulated, modulations, widened
from engine.graphs.operators import GraphBuilder
from engine.graphs.packed_latents import number_of_patches, size_in_patches
from engine.graphs.rotary_embeddings import rotated_neighbours

# The side of a token in latent cells.
PATCH = 2
# The numbers of a timestep's or of a guidance's embedding.
WAVES = 256
_MOST_F16 = 65_504.0
# The end of an axis, as ONNX's Slice has it.
_END = 2**62


class BlockSizes(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of double and single blocks.

    `in_channels` and `out_channels` count the numbers of a token, those of all its cells.
    """

    in_channels: int
    out_channels: int
    width: int
    heads: int
    mlp_width: int
    context_width: int
    double_blocks: int
    single_blocks: int

    @property
    def head_width(self) -> int:
        """The width of each head."""
        return self.width // self.heads


SizesT = TypeVar("SizesT", bound=BlockSizes)
SizesContraT = TypeVar("SizesContraT", bound=BlockSizes, contravariant=True)


class FluxSizes(BlockSizes, frozen=True, kw_only=True):
    """Sizes of blocks whose tokens have three coordinates: an unused one, row and column.

    `axes` are the shares of a head's width that are rotated by each.
    """

    axes: tuple[int, int, int] = (16, 56, 56)


class FluxConfig(FluxSizes, frozen=True, kw_only=True):
    """Sizes of a transformer of Flux.1."""

    pooled_width: int
    # True for networks distilled with guidance as an input (dev), False for others (schnell).
    takes_guidance: bool = True


def flux(
    g: GraphBuilder,
    config: FluxConfig,
    *,
    references: bool = False,
    residuals: Sequence[TokenResidualForm] = (),
) -> None:
    """Emit the network: one evaluation of the denoiser.

    Inputs: sample float32 [batch, in_channels / 4, height, width], of even height and width;
    timestep_embedding float32 [1, 256] and, where it `takes_guidance`, guidance_embedding float32
    [1, 256], made by `wave_embedding`; context float32 [contexts, tokens, context_width] and pooled
    float32 [contexts, pooled_width], where contexts is a multiple of batch; cosines and sines
    float32 [patches, head width], made by `rotations`. Output: prediction float32 [contexts,
    out_channels / 4, height, width].

    With `references` the network also sees the tokens of other pictures: references float32 [1,
    in_channels / 4, 2, reference_cells], made by `side_by_side`, whose patches follow those of the
    latent. Nothing is predicted for them.

    With `residuals` of control networks it has optional inputs float32 [contexts, height / 2,
    width / 2, width], named by their form and a number, which are added to what blocks make of the
    latent's tokens.
    """
    emit_transformer(g, config, EmbeddedBlocks, references=references, residuals=residuals)


def emit_transformer(
    g: GraphBuilder,
    config: SizesT,
    blocks: "EmitsBlocks[SizesT]",
    *,
    references: bool = False,
    residuals: Sequence[TokenResidualForm] = (),
) -> None:
    """Emit a network of `blocks`; `flux` has the inputs that all have, and those of references."""
    cells, channels = ("height", "width"), config.in_channels // blocks.patch**2
    sample = g.input("sample", DType.F32, ("batch", channels, *cells))
    context = g.input("context", DType.F32, ("contexts", "tokens", config.context_width))
    writer = blocks(g, config, context)
    image = writer.patches(sample, context)
    if references:
        shape = (1, channels, blocks.patch, "reference_cells")
        shown = writer.patches(g.input("references", DType.F32, shape), context)
        image = g.op("Concat", image, shown, axis=1)
    names, widths = "context_embedder", (config.context_width, config.width)
    text = g.linear(g.cast_to_element(context), names, widths, bias=blocks.biased)
    led = TokenResiduals(g, config.width, residuals)
    for block in range(config.double_blocks):
        text, image = writer.double(text, image, f"transformer_blocks.{block}")
        image = led.after_double(image, block, config.double_blocks)
    x = g.op("Concat", text, image, axis=1)
    for block in range(config.single_blocks):
        x = writer.single(x, f"single_transformer_blocks.{block}")
        x = led.after_single(x, block, config.single_blocks, writer.words)
    image = writer.image_of(x)
    if references:
        own = number_of_patches(g, sample, blocks.patch)
        image = g.op("Slice", image, g.integers([0]), own, g.integers([1]))
    prediction = writer.cells(image, size_in_patches(g, sample, blocks.patch))
    channels = config.out_channels // blocks.patch**2
    g.output(prediction, "prediction", DType.F32, ("contexts", channels, *cells))


def wave_embedding(value: float, waves: int = WAVES) -> Array:
    """Return the sinusoids of a number from 0 to some thousands, float32 [1, waves], cosines first.

    Timesteps and guidance are multiplied by 1000 before (diffusers `Timesteps` with
    flip_sin_to_cos).
    """
    half = waves // 2
    exponents = np.float32(-math.log(10_000)) * np.arange(half, dtype=np.float32) / np.float32(half)
    # Exponents in float32 as the tools have them: angles of thousands show their last digits.
    frequencies = np.exp(exponents.astype(np.float64)).astype(np.float32)
    angles = np.float32(value) * frequencies
    return np.concatenate([np.cos(angles), np.sin(angles)])[np.newaxis]


class EmitsBlocks(Protocol[SizesContraT]):
    """A class of `FluxBlocks` for sizes of one type."""

    @property
    def patch(self) -> int:
        """The side of a token in latent cells."""
        ...

    @property
    def biased(self) -> bool:
        """True where linear layers have biases."""
        ...

    def __call__(self, g: GraphBuilder, config: SizesContraT, context: Value, /) -> "FluxBlocks":
        """Make the writer of blocks."""
        ...


class FluxBlocks(ABC):
    """Emits the blocks; what all of them share is emitted once."""

    # The side of a token in latent cells.
    patch: ClassVar[int] = PATCH
    # True where linear layers have biases.
    biased: ClassVar[bool] = True

    def __init__(
        self, g: GraphBuilder, config: BlockSizes, context: Value, *, words: int = 0
    ) -> None:
        """Emit what all blocks share; `words` tokens are put before those of the text."""
        self.g, self.config = g, config
        # The number of the text's tokens.
        self.words = g.op("Shape", context, start=1, end=2)
        if words:
            self.words = g.op("Add", self.words, g.integers([words]))
        self._cosines, self._sines = (
            self._whole(name, without) for name, without in (("cosines", 1.0), ("sines", 0.0))
        )

    @abstractmethod
    def modulations(self, name: str, count: int) -> list[Value]:
        """Emit `count` vectors that modulate a layer: [contexts or 1, 1, width] each."""

    def patches(
        self, sample: Value, context: Value, layer: str = "x_embedder", *, masks: int = 0
    ) -> Value:
        """Return the latent's tokens for each context, [contexts, patches, width].

        A token's linear layer is a convolution whose windows touch, of the same numbers in the same
        order. `masks` is the number of channels that `sample` has beside those of a latent.
        """
        g, config = self.g, self.config
        width, kernel = config.width, (self.patch, self.patch)
        numbers = config.in_channels + masks * self.patch**2
        shape = (width, numbers // self.patch**2, *kernel)
        stored = (width, numbers)
        x = g.cast_to_element(sample)
        window = {"kernel_shape": kernel, "strides": kernel, "pads": (0, 0, 0, 0)}
        cut = g.op(
            "Conv",
            x,
            g.weight_as(f"{layer}.weight", stored, shape, "patches"),
            *([g.weight(f"{layer}.bias", (width,))] if self.biased else []),
            domain="",
            **window,
        )
        cut = g.beside_conv(cut, x, layer, (shape[1], width), window, planes=True)
        flat = g.op("Reshape", cut, g.integers([0, width, -1]))
        tokens = g.op("Transpose", flat, perm=[0, 2, 1])
        batch, contexts = (g.op("Shape", x, start=0, end=1) for x in (sample, context))
        return g.repeat_batch(tokens, 3, g.op("Div", contexts, batch))

    def cells(self, image: Value, grid: Value) -> Value:
        """Emit the last layer, and put the cells of each token in their places.

        `grid` is the height and width of the latent in tokens.
        """
        g, config = self.g, self.config
        scale, shift = (self.modulations(f"norm_out.{part}", 1)[0] for part in ("scale", "shift"))
        scale = g.op("Add", scale, g.constant(1.0))
        h = modulated(g, image, config.width, shift, scale)
        h = g.linear(h, "proj_out", (config.width, config.out_channels), bias=self.biased)
        shape = g.op("Concat", g.integers([0, config.out_channels]), grid, axis=0)
        h = g.op("Reshape", g.op("Transpose", h, perm=[0, 2, 1]), shape)
        return g.op("DepthToSpace", h, blocksize=self.patch, mode="CRD") if self.patch > 1 else h

    def image_of(self, x: Value) -> Value:
        """Return the tokens of the latent, which follow those of the text."""
        g = self.g
        return g.op("Slice", x, self.words, g.integers([_END]), g.integers([1]))

    def double(self, text: Value, image: Value, name: str) -> tuple[Value, Value]:
        """Emit a block in which text and image have weights of their own."""
        g, width = self.g, self.config.width
        of_image = self.modulations(f"{name}.norm1.linear", 6)
        of_text = self.modulations(f"{name}.norm1_context.linear", 6)
        attn = f"{name}.attn"
        layers = [f"{attn}.to_{part}" for part in "qkv"]
        added = [f"{attn}.add_{part}_proj" for part in "qkv"]
        qkv = self._heads(modulated(g, image, width, *of_image[:2]), layers, f"{attn}.norm_")
        others = self._heads(modulated(g, text, width, *of_text[:2]), added, f"{attn}.norm_added_")
        mixed = self.attention(
            *(
                g.op("Concat", text_part, image_part, axis=1)
                for text_part, image_part in zip(others, qkv, strict=True)
            )
        )
        of_words = g.op("Slice", mixed, g.integers([0]), self.words, g.integers([1]))
        h = g.linear(of_words, f"{attn}.to_add_out", (width, width), bias=self.biased)
        text = gated(g, text, h, of_text[2])
        text = self.widened(text, f"{name}.ff_context", of_text[3:])
        h = g.linear(self.image_of(mixed), f"{attn}.to_out.0", (width, width), bias=self.biased)
        image = gated(g, image, h, of_image[2])
        image = self.widened(image, f"{name}.ff", of_image[3:])
        return self.within_f16(text), image

    def widened(self, x: Value, name: str, shift_scale_gate: Sequence[Value]) -> Value:
        """Emit the MLP of a double block, and its residual."""
        widths = self.config.width, self.config.mlp_width
        return widened(self.g, x, name, widths, shift_scale_gate)

    def single(self, x: Value, name: str) -> Value:
        """Emit a block with attention and MLP side by side, on all tokens."""
        g, config, width = self.g, self.config, self.config.width
        shift, scale, gate = self.modulations(f"{name}.norm.linear", 3)
        h = modulated(g, x, width, shift, scale)
        layers = [f"{name}.attn.to_{part}" for part in "qkv"]
        mixed = self.attention(*self._heads(h, layers, f"{name}.attn.norm_"))
        wide = g.gelu_tanh(g.linear(h, f"{name}.proj_mlp", (width, config.mlp_width)))
        both = g.op("Concat", mixed, wide, axis=2)
        h = g.linear(both, f"{name}.proj_out", (width + config.mlp_width, width))
        return self.within_f16(gated(g, x, h, gate))

    def _whole(self, name: str, without: float) -> Value:
        """Declare cosines or sines of the patches, behind those of the text.

        Returns [tokens and patches, 1, head width].
        """
        g, width = self.g, self.config.head_width
        rotary = g.cast_to_element(g.input(name, DType.F32, ("patches", width)))
        whole = g.op("Concat", self.text_rotary(name, without), rotary, axis=0)
        return g.op("Reshape", whole, g.integers([-1, 1, width]))

    def text_rotary(self, name: str, without: float) -> Value:
        """Return cosines or sines of the text's tokens, which are not rotated: `without` each."""
        g = self.g
        times = g.op("Concat", self.words, g.integers([1]), axis=0)
        return g.op("Tile", g.constant(np.full((1, self.config.head_width), without)), times)

    def _heads(self, x: Value, layers: Sequence[str], norms: str) -> tuple[Value, Value, Value]:
        """Emit queries, keys and values, the first two normalised by head.

        Queries and keys are [contexts, tokens, heads, head width], values [contexts, tokens,
        width].
        """
        g, width = self.g, self.config.width
        q, k, v = (g.linear(x, layer, (width, width), bias=self.biased) for layer in layers)
        return self.normalised(q, f"{norms}q"), self.normalised(k, f"{norms}k"), v

    def normalised(self, x: Value, norm: str) -> Value:
        """Emit the norm of each head: [contexts, tokens, heads, head width]."""
        g, config = self.g, self.config
        split = g.integers([0, 0, config.heads, config.head_width])
        return g.rms_norm(g.op("Reshape", x, split), norm, config.head_width, EPSILON)

    def attention(self, q: Value, k: Value, v: Value) -> Value:
        """Emit attention of all tokens to all, with rotary embeddings of queries and keys."""
        g, config = self.g, self.config
        q, k = (
            g.op("Reshape", self._rotated(rows), g.integers([0, 0, config.width]))
            for rows in (q, k)
        )
        return self.attend(q, k, v)

    def attend(self, q: Value, k: Value, v: Value) -> Value:
        """Emit attention of turned queries and keys: all [contexts, tokens, width]."""
        return self.g.attention(q, k, v, self.config.heads, self.config.head_width)

    def _rotated(self, x: Value) -> Value:
        config = self.config
        return rotated_neighbours(
            self.g, x, config.heads, config.head_width, self._cosines, self._sines
        )

    def within_f16(self, x: Value) -> Value:
        """Limit the residual stream to float16's range where it is held so, as diffusers does."""
        g = self.g
        if g.element is not DType.F16:
            return x
        return g.op("Clip", x, g.constant(-_MOST_F16), g.constant(_MOST_F16))


class EmbeddedBlocks(FluxBlocks):
    """Blocks that are modulated by layers of their own, from one embedding."""

    def __init__(
        self, g: GraphBuilder, config: FluxConfig, context: Value, *, words: int = 0
    ) -> None:
        super().__init__(g, config, context, words=words)
        self._sizes = config
        # Every modulation applies SiLU to the embedding first; applying it once is enough.
        self._embedding = g.silu(self._embedded())

    def modulations(self, name: str, count: int) -> list[Value]:
        """Emit vectors of a linear layer of the embedding, as `modulation` has them."""
        return modulations(self.g, self._embedding, name, self.config.width, count)

    def _embedded(self) -> Value:
        """Emit the sum of the embeddings of timestep, guidance and pooled text."""
        g, config = self.g, self._sizes
        waves = ("timestep", "guidance") if config.takes_guidance else ("timestep",)
        pooled, width = config.pooled_width, config.width
        found = [
            embedded(g, g.input(f"{kind}_embedding", DType.F32, (1, WAVES)), kind, WAVES, width)
            for kind in waves
        ]
        whole = g.input("pooled", DType.F32, ("contexts", pooled))
        found.append(embedded(g, whole, "text", pooled, width))
        total = found[0]
        for part in found[1:]:
            total = g.op("Add", total, part)
        return total
