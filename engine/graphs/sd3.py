"""The transformers of Stable Diffusion 3 and 3.5, named as diffusers' SD3Transformer2DModel.

Tokens of the text and of 2 x 2 latent cells have weights of their own and attend to one another
(MMDiT, Esser et al. 2024, section 4). In some blocks of SD 3.5 medium the latent's tokens attend to
themselves once more (MMDiT-X). A vector for the place of each token comes from a table.
"""

from collections.abc import Sequence

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.control_residuals import JointForm, TokenResiduals
from engine.graphs.flux import WAVES
from engine.graphs.modulation import (
    EPSILON,
    embedded,
    gated,
    modulated,
    modulations,
    widened,
)
from engine.graphs.operators import GraphBuilder
from engine.graphs.packed_latents import size_in_patches

# The side of a token in latent cells.
PATCH = 2
# The end of an axis, as ONNX's Slice has it.
_END = 2**62


class Sd3Config(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of a transformer of Stable Diffusion 3 or 3.5."""

    channels: int
    width: int
    heads: int
    mlp_width: int
    context_width: int
    pooled_width: int
    blocks: int
    # The side of the table of places, in tokens.
    places: int
    # True for SD 3.5, whose queries and keys are normalised by head.
    normalised: bool = False
    # The blocks in which the latent's tokens attend to themselves once more.
    dual_blocks: tuple[int, ...] = ()

    @property
    def head_width(self) -> int:
        """The width of each head."""
        return self.width // self.heads


def sd3(g: GraphBuilder, config: Sd3Config, *, residuals: Sequence[JointForm] = ()) -> None:
    """Emit the network: one evaluation of the denoiser.

    Inputs: sample float32 [batch, channels, height, width], of even height and width;
    timestep_embedding float32 [1, 256], made by `wave_embedding`; context float32 [contexts,
    tokens, context_width] and pooled float32 [contexts, pooled_width], where contexts is a multiple
    of batch; places float32 [patches, width], a part of the table. Output: prediction float32
    [contexts, channels, height, width].

    With `residuals` of control networks it has optional inputs float32 [contexts, height / 2,
    width / 2, width], named by their form and a number, which are added to what blocks make of the
    latent's tokens.
    """
    writer = Sd3Blocks(g, config)
    context = g.input("context", DType.F32, ("contexts", "tokens", config.context_width))
    sample, image = writer.patches(context)
    text, first = writer.text(context)
    led = TokenResiduals(g, config.width, residuals)
    for block in range(config.blocks - 1):
        text, image = writer.joint(text, image, block, first)
        image = led.after_double(image, block, config.blocks)
    image = writer.last(text, image, first)
    image = led.after_double(image, config.blocks - 1, config.blocks)
    shape = ("contexts", config.channels, "height", "width")
    g.output(writer.cells(image, sample), "prediction", DType.F32, shape)


class Sd3Blocks:
    """Emits the blocks; the embedding of timestep and pooled text is emitted once.

    With `ignores_pooled` that text is zeros, whatever the input.
    """

    def __init__(self, g: GraphBuilder, config: Sd3Config, *, ignores_pooled: bool = False) -> None:
        self.g, self.config = g, config
        timestep = g.input("timestep_embedding", DType.F32, (1, WAVES))
        self.pooled = g.input("pooled", DType.F32, ("contexts", config.pooled_width))
        nothing = g.constant(0.0, DType.F32)
        seen = g.op("Mul", self.pooled, nothing) if ignores_pooled else self.pooled
        total = g.op(
            "Add",
            embedded(g, timestep, "timestep", WAVES, config.width),
            embedded(g, seen, "text", config.pooled_width, config.width),
        )
        # Every modulation applies SiLU to the embedding first; applying it once is enough.
        self._embedding = g.silu(total)

    def patches(self, of_contexts: Value) -> tuple[Value, Value]:
        """Declare the latent; return it and its tokens for each context.

        `of_contexts` has a row for each context.
        """
        g, config = self.g, self.config
        sample = g.input("sample", DType.F32, ("batch", config.channels, "height", "width"))
        tokens = self.cut(sample, "pos_embed.proj")
        places = g.input("places", DType.F32, ("patches", config.width))
        tokens = g.op("Add", tokens, g.cast_to_element(places))
        batch, contexts = (g.op("Shape", x, start=0, end=1) for x in (sample, of_contexts))
        return sample, g.repeat_batch(tokens, 3, g.op("Div", contexts, batch))

    def cut(self, latent: Value, layer: str, *, masks: int = 0) -> Value:
        """Emit the tokens of a latent, without places.

        `masks` is the number of channels that it has beside those of a latent.
        """
        g, config = self.g, self.config
        x = g.from_planes(g.cast_to_element(latent))
        channels = config.channels + masks, config.width
        cut = g.conv(x, layer, channels, kernel=PATCH, stride=PATCH, pads=(0, 0, 0, 0))
        flat = g.op("Reshape", g.to_planes(cut), g.integers([0, config.width, -1]))
        return g.op("Transpose", flat, perm=[0, 2, 1])

    def text(self, context: Value) -> tuple[Value, Value]:
        """Emit the tokens of the text; return them and their number."""
        g, widths = self.g, (self.config.context_width, self.config.width)
        text = g.linear(g.cast_to_element(context), "context_embedder", widths)
        return text, g.op("Shape", context, start=1, end=2)

    def cells(self, image: Value, sample: Value) -> Value:
        """Emit the last layer, and put the cells of each token in their places in the latent."""
        g, config = self.g, self.config
        numbers = PATCH**2 * config.channels
        h = modulated(g, image, config.width, *self._shift_and_scale("norm_out"))
        h = g.linear(h, "proj_out", (config.width, numbers))
        grid = size_in_patches(g, sample, PATCH)
        shape = g.op("Concat", g.integers([0, numbers]), grid, axis=0)
        h = g.op("Reshape", g.op("Transpose", h, perm=[0, 2, 1]), shape)
        return g.op("DepthToSpace", h, blocksize=PATCH, mode="DCR")

    def joint(self, text: Value, image: Value, block: int, first: Value) -> tuple[Value, Value]:
        """Emit a block after which both text and image go on; `first` is the text's length."""
        g, config, name = self.g, self.config, f"transformer_blocks.{block}"
        widths = config.width, config.mlp_width
        shift, scale, gate, *of_text = self._modulations(f"{name}.norm1_context.linear", 6)
        words = self._heads(
            modulated(g, text, config.width, shift, scale),
            [f"{name}.attn.add_{part}_proj" for part in "qkv"],
            f"{name}.attn.norm_added_",
        )
        image, mixed = self._image_attends(image, block, words, first)
        seen = g.op("Slice", mixed, g.integers([0]), first, g.integers([1]))
        h = g.linear(seen, f"{name}.attn.to_add_out", (config.width, config.width))
        text = gated(g, text, h, gate)
        return widened(g, text, f"{name}.ff_context", widths, of_text), image

    def alone(self, image: Value, block: int) -> Value:
        """Emit a block that has no text."""
        g, config, name = self.g, self.config, f"transformer_blocks.{block}"
        shift, scale, gate, *others = self._modulations(f"{name}.norm1.linear", 6)
        seen = modulated(g, image, config.width, shift, scale)
        image = gated(g, image, self._attends_to_itself(seen, f"{name}.attn"), gate)
        return widened(g, image, f"{name}.ff", (config.width, config.mlp_width), others)

    def last(self, text: Value, image: Value, first: Value) -> Value:
        """Emit the last block, from which the image alone goes on: the text asks nothing."""
        g, config = self.g, self.config
        name = f"transformer_blocks.{config.blocks - 1}"
        both = self._shift_and_scale(f"{name}.norm1_context")
        words = self._heads(
            modulated(g, text, config.width, *both),
            [f"{name}.attn.add_{part}_proj" for part in "kv"],
            f"{name}.attn.norm_added_",
        )
        return self._image_attends(image, config.blocks - 1, words, first)[0]

    def _image_attends(
        self, image: Value, block: int, words: Sequence[Value], first: Value
    ) -> tuple[Value, Value]:
        """Emit the image's part of a block; return its tokens and all that attention mixed.

        `words` are keys and values of the text, after queries unless the text asks nothing.
        """
        g, config, name = self.g, self.config, f"transformer_blocks.{block}"
        width = config.width
        dual = block in config.dual_blocks
        vectors = self._modulations(f"{name}.norm1.linear", 9 if dual else 6)
        attn = f"{name}.attn"
        layers = [f"{attn}.to_{part}" for part in "qkv"]
        own = self._heads(modulated(g, image, width, *vectors[:2]), layers, f"{attn}.norm_")
        asks = len(words) == len(own)
        joined = [
            g.op("Concat", of_text, of_image, axis=1)
            for of_text, of_image in zip(words, own if asks else own[1:], strict=True)
        ]
        q, k, v = joined if asks else (own[0], *joined)
        mixed = g.attention(q, k, v, config.heads, config.head_width)
        seen = mixed
        if asks:
            seen = g.op("Slice", mixed, first, g.integers([_END]), g.integers([1]))
        h = g.linear(seen, f"{attn}.to_out.0", (width, width))
        after = gated(g, image, h, vectors[2])
        if dual:
            again = modulated(g, image, width, *vectors[6:8])
            after = gated(g, after, self._attends_to_itself(again, f"{name}.attn2"), vectors[8])
        return widened(g, after, f"{name}.ff", (width, config.mlp_width), vectors[3:6]), mixed

    def _attends_to_itself(self, x: Value, attn: str) -> Value:
        config = self.config
        layers = [f"{attn}.to_{part}" for part in "qkv"]
        q, k, v = self._heads(x, layers, f"{attn}.norm_")
        mixed = self.g.attention(q, k, v, config.heads, config.head_width)
        return self.g.linear(mixed, f"{attn}.to_out.0", (config.width, config.width))

    def _heads(self, x: Value, layers: Sequence[str], norms: str) -> list[Value]:
        """Emit keys and values, and queries before them if there is a layer for them.

        Each is [contexts, tokens, width]; queries and keys are normalised where the network does.
        """
        g, config = self.g, self.config
        found = [g.linear(x, layer, (config.width, config.width)) for layer in layers]
        if config.normalised:
            parts = "qk"[-len(found) + 1 :]
            found[:-1] = [
                self._normed(rows, f"{norms}{part}")
                for rows, part in zip(found[:-1], parts, strict=True)
            ]
        return found

    def _normed(self, x: Value, name: str) -> Value:
        g, config = self.g, self.config
        split = g.op("Reshape", x, g.integers([0, 0, config.heads, config.head_width]))
        normal = g.rms_norm(split, name, config.head_width, EPSILON)
        return g.op("Reshape", normal, g.integers([0, 0, config.width]))

    def _modulations(self, name: str, count: int) -> list[Value]:
        return modulations(self.g, self._embedding, name, self.config.width, count)

    def _shift_and_scale(self, name: str) -> tuple[Value, Value]:
        """Emit the modulation of a layer without a gate, whose halves are stored apart."""
        shift, scale = (self._modulations(f"{name}.{half}", 1)[0] for half in ("shift", "scale"))
        return shift, self.g.op("Add", scale, self.g.constant(1.0))
