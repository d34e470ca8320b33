"""The transformer of Z-Image (Tongyi Lab 2025), named as diffusers' ZImageTransformer2DModel.

Tokens of the text and of 2 x 2 latent cells are refined apart, then attend to one another in equal
layers, which have one set of weights for both (Qin et al. 2025, Lumina-Image 2.0). Each layer but
the text's refiners is modulated by the timestep. Tokens are padded to multiples of 32.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.packed_latents import number_of_patches, size_in_patches
from engine.graphs.rotary_embeddings import rotary_angles, rotated_neighbours

# The side of a token in latent cells.
PATCH = 2
# Tokens of a text and of a picture are padded to a multiple of this number.
TOKEN_MULTIPLE = 32
# The numbers of a timestep's embedding.
WAVES = 256
# Most places of a text's tokens that the rotation has.
MOST_PLACES = 2048
_EMBEDDER, _LAST = "all_x_embedder.2-1", "all_final_layer.2-1"
_EPSILON, _LAST_EPSILON = 1e-5, 1e-6
_ROTATION_BASE = 256.0
_MOST_F16 = 65_504.0
# Added to the scores of what is not attended to; finite in float16.
_HIDDEN = -1e4
# Numbers beside each head, so that scores are those of tokens that are attended to: kernels of
# attention take no mask everywhere, and scores of all tokens would take gigabytes.
_BESIDE = 8


class ZImageConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of a transformer of Z-Image.

    `channels` are those of the latent; `axes` the shares of a head's width rotated by the three
    coordinates of a token: place in the text, row and column.
    """

    channels: int
    width: int
    heads: int
    mlp_width: int
    context_width: int
    embedded_width: int
    embedding_width: int
    layers: int
    refiners: int
    axes: tuple[int, int, int] = (32, 48, 48)

    @property
    def head_width(self) -> int:
        """The width of each head."""
        return self.width // self.heads


def zimage(g: GraphBuilder, config: ZImageConfig) -> None:
    """Emit the network: one evaluation of the denoiser.

    Inputs: sample float32 [batch, channels, height, width], of even height and width;
    timestep_embedding float32 [1, 256], of the share of the way to the picture, in thousandths;
    context float32 [contexts, tokens, context_width], where contexts is a multiple of batch;
    is_token and is_seen float32 [contexts, tokens], 1 for tokens of the text, and for those and
    their padding to a multiple of 32; frame int64 [contexts, 1], the number of the latter plus 1;
    cosines, sines, places and is_filling, made by `size_inputs`. Output: prediction float32
    [contexts, channels, height, width], the flow from picture to noise.
    """
    writer = _ZImageWriter(g, config)
    text = writer.text()
    image = writer.image()
    for layer in range(config.refiners):
        image = writer.block(image, f"noise_refiner.{layer}", writer.of_image)
    for layer in range(config.refiners):
        text = writer.block(text, f"context_refiner.{layer}", writer.of_text)
    x = g.op("Concat", image, text, axis=1)
    for layer in range(config.layers):
        x = writer.block(x, f"layers.{layer}", writer.of_both)
    prediction = writer.cells(x)
    cells = ("contexts", config.channels, "height", "width")
    g.output(prediction, "prediction", DType.F32, cells)


def size_inputs(config: ZImageConfig, cells: tuple[int, int]) -> dict[str, Array]:
    """Return the inputs that depend on a latent's even `cells` alone.

    cosines and sines, float32 [image tokens, width of the last two axes], of the rotary embedding
    of row and column; places, int64 [image tokens], has each token's number, and that after the
    last for padding, for which is_filling, int64 [image tokens], is 1.
    """
    rows, columns = (side // PATCH for side in cells)
    patches = rows * columns
    filling = -patches % TOKEN_MULTIPLE
    row, column = np.divmod(np.arange(patches, dtype=np.float64), columns)
    every = np.concatenate(
        [
            rotary_angles(place, width, _ROTATION_BASE)
            for place, width in zip((row, column), config.axes[1:], strict=True)
        ],
        axis=1,
    )
    # Padding has the position of the origin.
    every = np.pad(every, ((0, filling), (0, 0)))
    numbers = np.minimum(np.arange(patches + filling), patches)
    return {
        "cosines": np.cos(every).astype(np.float32),
        "sines": np.sin(every).astype(np.float32),
        "places": numbers,
        "is_filling": (numbers == patches).astype(np.int64),
    }


class _Tokens(msgspec.Struct, frozen=True):
    """The rotary embedding of a kind of tokens, and what hides some of them from attention.

    `cosines` and `sines` are [contexts, tokens, 1, head width]. `score_bias` is added to scores,
    `beside` to keys: [contexts, tokens, heads, 8]. `modulated`: by the timestep.
    """

    cosines: Value
    sines: Value
    modulated: bool = True
    score_bias: Value | None = None
    beside: Value | None = None


class _ZImageWriter:
    """Emits the layers; what all of them share is emitted once."""

    def __init__(self, g: GraphBuilder, config: ZImageConfig) -> None:
        self.g, self.config = g, config
        cells = ("height", "width")
        self._sample = g.input("sample", DType.F32, ("batch", config.channels, *cells))
        width = config.context_width
        self._context = g.input("context", DType.F32, ("contexts", "tokens", width))
        self._contexts = g.op("Shape", self._context, start=0, end=1)
        self._tokens = g.op("Shape", self._context, start=1, end=2)
        self._embedding = self._embedded()
        self._is_seen = self._marks("is_seen")
        self._filling = g.input("is_filling", DType.I64, ("image_tokens",))
        self._count = g.op("Shape", self._filling, start=0, end=1)
        cosines, sines = self._rotary("cosines", 1.0), self._rotary("sines", 0.0)
        hidden = g.op("Mul", g.op("Sub", self._is_seen, g.constant(1.0)), g.constant(-_HIDDEN))
        bias = g.op("Reshape", hidden, g.integers([0, 1, 1, -1]))
        self.of_image = _Tokens(cosines[0], sines[0])
        self.of_text = _Tokens(cosines[1], sines[1], modulated=False, score_bias=bias)
        both = [g.op("Concat", *parts, axis=1) for parts in (cosines, sines)]
        self.of_both = _Tokens(both[0], both[1], beside=self._beside_keys(hidden))

    def text(self) -> Value:
        """Return the tokens of the text, padded: [contexts, tokens, width]."""
        g, config = self.g, self.config
        x = g.rms_norm(
            g.cast_to_element(self._context), "cap_embedder.0", config.context_width, _EPSILON
        )
        x = g.linear(x, "cap_embedder.1", (config.context_width, config.width))
        mark = g.op("Reshape", self._marks("is_token"), g.integers([0, -1, 1]))
        filled = g.op("Mul", g.weight("cap_pad_token", (1, config.width)),
                      g.op("Sub", g.constant(1.0), mark))  # fmt: skip
        return g.op("Add", g.op("Mul", x, mark), filled)

    def image(self) -> Value:
        """Return the latent's tokens for each context, padded: [contexts, image tokens, width].

        A token's linear layer is a convolution whose windows touch, with its columns in another
        order.
        """
        g, config, kernel = self.g, self.config, (PATCH, PATCH)
        cut = g.op(
            "Conv",
            g.cast_to_element(self._sample),
            g.derived_weight(
                [f"{_EMBEDDER}.weight"],
                (config.width, PATCH**2 * config.channels),
                (config.width, config.channels, *kernel),
                _columns_by_channel,
                "patches",
            ),
            g.weight(f"{_EMBEDDER}.bias", (config.width,)),
            kernel_shape=kernel,
            strides=kernel,
            pads=(0, 0, 0, 0),
        )
        flat = g.op("Reshape", cut, g.integers([0, config.width, -1]))
        tokens = self._beside_embedder(g.op("Transpose", flat, perm=[0, 2, 1]))
        batch = g.op("Shape", self._sample, start=0, end=1)
        filler = g.op("Reshape", g.weight("x_pad_token", (1, config.width)),
                      g.integers([1, 1, config.width]))  # fmt: skip
        tokens = g.op("Concat", tokens, g.repeat_batch(filler, 3, batch), axis=1)
        tokens = g.op("Gather", tokens, g.input("places", DType.I64, ("image_tokens",)), axis=1)
        return g.repeat_batch(tokens, 3, g.op("Div", self._contexts, batch))

    def _beside_embedder(self, tokens: Value) -> Value:
        """Add the side branch of the latent's first layer, if it has one, to the tokens."""
        g, config = self.g, self.config
        if not g.has_branch(_EMBEDDER):
            return tokens
        numbers = PATCH**2 * config.channels
        # Cells come first, as in the branch.
        cut = g.op("SpaceToDepth", g.cast_to_element(self._sample), blocksize=PATCH)
        cut = g.op("Transpose", g.op("Reshape", cut, g.integers([0, numbers, -1])), perm=[0, 2, 1])
        return g.beside_linear(tokens, cut, _EMBEDDER, (numbers, config.width))

    def block(self, x: Value, name: str, tokens: _Tokens) -> Value:
        """Emit attention and MLP, each between two norms and with a residual."""
        g, width = self.g, self.config.width
        parts = self._modulations(name) if tokens.modulated else ()
        h = g.rms_norm(x, f"{name}.attention_norm1", width, _EPSILON)
        h = self._attention(self._scaled(h, *parts[:1]), f"{name}.attention", tokens)
        h = g.rms_norm(self._within_f16(h), f"{name}.attention_norm2", width, _EPSILON)
        x = g.op("Add", x, self._gated(h, *parts[1:2]))
        h = g.rms_norm(x, f"{name}.ffn_norm1", width, _EPSILON)
        h = self._mlp(self._scaled(h, *parts[2:3]), f"{name}.feed_forward")
        h = g.rms_norm(self._within_f16(h), f"{name}.ffn_norm2", width, _EPSILON)
        return self._within_f16(g.op("Add", x, self._gated(h, *parts[3:])))

    def cells(self, x: Value) -> Value:
        """Emit the last layer, and put the cells of each token in their places."""
        g, config = self.g, self.config
        numbers = PATCH**2 * config.channels
        patches = number_of_patches(g, self._sample, PATCH)
        x = g.op("Slice", x, g.integers([0]), patches, g.integers([1]))
        widths = (config.embedding_width, config.width)
        scale = g.linear(g.silu(self._embedding), f"{_LAST}.adaLN_modulation.1", widths)
        h = g.plain_layer_norm(x, config.width, _LAST_EPSILON)
        h = g.op("Mul", h, g.op("Add", scale, g.constant(1.0)))
        weight = g.derived_weight(
            [f"{_LAST}.linear.weight"], (numbers, config.width), (numbers, config.width),
            _rows_by_channel, "cells",
        )  # fmt: skip
        bias = g.derived_weight(
            [f"{_LAST}.linear.bias"], (numbers,), (numbers,), _rows_by_channel, "cells"
        )
        h = self._beside_last(g.op("Add", g.times_transposed(h, weight), bias), h, numbers)
        grid = size_in_patches(g, self._sample, PATCH)
        shape = g.op("Concat", g.integers([0, numbers]), grid, axis=0)
        h = g.op("Reshape", g.op("Transpose", h, perm=[0, 2, 1]), shape)
        # The network predicts the way from noise to picture.
        return g.op("Neg", g.op("DepthToSpace", h, blocksize=PATCH, mode="CRD"))

    def _beside_last(self, y: Value, x: Value, numbers: int) -> Value:
        """Add the side branch of the last layer of `x`, if it has one, to its output `y`."""
        g, name = self.g, f"{_LAST}.linear"
        if not g.has_branch(name):
            return y
        wide = g.widened(g.narrowed(x, name, self.config.width), name, numbers)
        order = np.arange(numbers).reshape(PATCH**2, -1).T.reshape(-1)
        return g.op("Add", y, g.op("Gather", wide, g.integers(order.tolist()), axis=2))

    def _embedded(self) -> Value:
        g, config = self.g, self.config
        waves = g.cast_to_element(g.input("timestep_embedding", DType.F32, (1, WAVES)))
        h = g.silu(g.linear(waves, "t_embedder.mlp.0", (WAVES, config.embedded_width)))
        return g.linear(h, "t_embedder.mlp.2", (config.embedded_width, config.embedding_width))

    def _marks(self, name: str) -> Value:
        return self.g.cast_to_element(self.g.input(name, DType.F32, ("contexts", "tokens")))

    def _rotary(self, name: str, still: float) -> tuple[Value, Value]:
        """Emit cosines or sines for the image's tokens and for the text's.

        Tokens of the text are rotated by their places from 1 on, those of the image by row, column
        and the place after the text's.
        """
        g, config = self.g, self.config
        first, rest = config.axes[0], sum(config.axes[1:])
        places = rotary_angles(np.arange(MOST_PLACES + 2.0), first, _ROTATION_BASE)
        table = g.constant(np.cos(places) if still else np.sin(places))
        frame = g.op("Gather", table, self._frame(), axis=0)
        origin = g.repeat_batch(g.constant(np.full((1, 1, first), still)), 3, self._contexts)
        of_image = g.op("Concat", frame, origin, axis=1)
        of_image = g.op("Gather", of_image, self._filling, axis=1)
        rotary = g.cast_to_element(g.input(name, DType.F32, ("image_tokens", rest)))
        rotary = g.op("Reshape", rotary, g.integers([1, -1, rest]))
        rotary = g.repeat_batch(rotary, 3, self._contexts)
        end = g.op("Add", self._tokens, g.integers([1]))
        words = g.op("Slice", table, g.integers([1]), end, g.integers([0]))
        times = g.op("Concat", self._tokens, g.integers([1]), axis=0)
        unrotated = g.op("Tile", g.constant(np.full((1, rest), still)), times)
        words = g.op("Concat", words, unrotated, axis=1)
        words = g.repeat_batch(
            g.op("Reshape", words, g.integers([1, -1, first + rest])), 3, self._contexts
        )
        image = g.op("Concat", of_image, rotary, axis=2)
        shape = g.integers([0, -1, 1, first + rest])
        return g.op("Reshape", image, shape), g.op("Reshape", words, shape)

    def _frame(self) -> Value:
        return self.g.input_once("frame", DType.I64, ("contexts", 1))

    def _beside_keys(self, hidden: Value) -> Value:
        """Return the numbers beside the keys of image and text: [contexts, tokens, heads, 8]."""
        g, heads = self.g, self.config.heads
        seen = g.op("Tile", g.constant([[0.0]]),
                    g.op("Concat", self._contexts, self._count, axis=0))  # fmt: skip
        whole = g.op("Concat", seen, hidden, axis=1)
        whole = g.op("Reshape", whole, g.integers([0, -1, 1, 1]))
        kept = g.constant(np.eye(1, _BESIDE).reshape(1, 1, 1, _BESIDE))
        every = g.op("Mul", whole, kept)
        return g.op("Tile", every, g.integers([1, 1, heads, 1]))

    def _modulations(self, name: str) -> list[Value]:
        """Emit scale and gate of attention, then of the MLP: [1, 1, width] each."""
        g, width = self.g, self.config.width
        layer = f"{name}.adaLN_modulation.0"
        every = g.linear(self._embedding, layer, (self.config.embedding_width, 4 * width))
        every = g.op("Reshape", every, g.integers([1, 1, 4 * width]))
        cuts = [(g.integers([width * i]), g.integers([width * (i + 1)])) for i in range(4)]
        return [g.op("Slice", every, *cut, g.integers([2])) for cut in cuts]

    def _scaled(self, x: Value, scale: Value = "") -> Value:
        g = self.g
        return g.op("Mul", x, g.op("Add", scale, g.constant(1.0))) if scale else x

    def _gated(self, x: Value, gate: Value = "") -> Value:
        return self.g.op("Mul", x, self.g.op("Tanh", gate)) if gate else x

    def _mlp(self, x: Value, name: str) -> Value:
        g, config = self.g, self.config
        sizes, back = (config.width, config.mlp_width), (config.mlp_width, config.width)
        gate = g.silu(g.linear(x, f"{name}.w1", sizes, bias=False))
        h = g.op("Mul", gate, g.linear(x, f"{name}.w3", sizes, bias=False))
        return g.linear(self._within_f16(h), f"{name}.w2", back, bias=False)

    def _attention(self, x: Value, name: str, tokens: _Tokens) -> Value:
        g, config = self.g, self.config
        width, split = config.width, g.integers([0, 0, config.heads, config.head_width])
        q, k, v = (
            g.op("Reshape", g.linear(x, f"{name}.to_{part}", (width, width), bias=False), split)
            for part in "qkv"
        )
        q, k = (
            rotated_neighbours(
                g,
                g.rms_norm(rows, f"{name}.norm_{part}", config.head_width, _EPSILON),
                config.heads,
                config.head_width,
                tokens.cosines,
                tokens.sines,
            )
            for rows, part in ((q, "q"), (k, "k"))
        )
        if tokens.beside is not None:
            mixed = self._attention_to_seen(q, k, v, tokens.beside)
        else:
            q, k, v = (g.op("Reshape", rows, g.integers([0, 0, width])) for rows in (q, k, v))
            bias = tokens.score_bias
            mixed = g.attention(q, k, v, config.heads, config.head_width, score_bias=bias)
        return g.linear(mixed, f"{name}.to_out.0", (width, width), bias=False)

    def _attention_to_seen(self, q: Value, k: Value, v: Value, beside: Value) -> Value:
        """Emit attention whose scores have a number of each key added, by wider heads."""
        g, config = self.g, self.config
        head, wide = config.head_width, config.head_width + _BESIDE
        none = g.op("Mul", beside, g.constant(0.0))
        unit = g.op("Add", none, g.constant(np.eye(1, _BESIDE).reshape(1, 1, 1, _BESIDE)))
        # Scores are divided by the root of the wider head.
        q = g.op("Mul", q, g.constant((wide / head) ** 0.5))
        whole = g.integers([0, 0, config.heads * wide])
        q, k, v = (
            g.op("Reshape", g.op("Concat", x, more, axis=3), whole)
            for x, more in ((q, unit), (k, beside), (v, none))
        )
        mixed = g.attention(q, k, v, config.heads, wide)
        mixed = g.op("Reshape", mixed, g.integers([0, 0, config.heads, wide]))
        mixed = g.op("Slice", mixed, g.integers([0]), g.integers([head]), g.integers([3]))
        return g.op("Reshape", mixed, g.integers([0, 0, config.width]))

    def _within_f16(self, x: Value) -> Value:
        """Limit numbers to float16's range where they are held so, as ComfyUI does."""
        g = self.g
        if g.element is not DType.F16:
            return x
        return g.op("Clip", x, g.constant(-_MOST_F16), g.constant(_MOST_F16))


def _columns_by_channel(weights: Sequence[Array], out: Array) -> None:
    """Order the columns of a token's layer by channel, then by cell: the file has cells first."""
    width, channels = out.shape[:2]
    by_cell = weights[0].reshape(width, PATCH, PATCH, channels)
    out[:] = by_cell.transpose(0, 3, 1, 2)


def _rows_by_channel(weights: Sequence[Array], out: Array) -> None:
    """Order the rows of the last layer by channel, then by cell: the file has cells first."""
    rest = out.shape[1:]
    channels = out.shape[0] // PATCH**2
    by_cell = weights[0].reshape(PATCH**2, channels, *rest)
    out[:] = np.moveaxis(by_cell, 0, 1).reshape(out.shape)
