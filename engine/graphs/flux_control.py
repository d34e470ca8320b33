"""ControlNets of Flux.1, by diffusers' names: FluxControlNetModel.

A ControlNet has some of the transformer's first double and single blocks. To the tokens of the
latent it adds those of a map, which is the latent of a map (InstantX, Shakker Labs) or what layers
of its own make of the map's pixels (XLabs). A network for inpainting sees the latent of the picture
that is kept, and a mask beside it (alimama's `controlnet_flux.py`). What each block makes of the
picture's tokens leaves it through a linear layer, as a residual for one or more of the
transformer's blocks.
"""

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.control_residuals import TokenResidualForm, TokenResidualWriter
from engine.graphs.flux import PATCH, EmbeddedBlocks, FluxConfig
from engine.graphs.operators import GraphBuilder
from engine.graphs.packed_latents import size_in_patches

# The convolutions of XLabs' embedding of maps, each with its step; all have 16 channels.
_HINT_WIDTH = 16
_HINT_STEPS = (1, 1, 2, 1, 2, 1, 2, 1)


class FluxControlConfig(FluxConfig, frozen=True, kw_only=True):
    """Sizes of a ControlNet of Flux.1.

    `modes` is the number of kinds of maps that a union is told apart, 0 for other networks.
    `embeds_pixels`: it has layers of its own for the map's pixels, and its residuals go to the
    transformer's blocks in turn (XLabs). `sees_mask`: its map has a channel more than a latent, 1
    in the cells that are kept and 0 in those that are painted (alimama).
    """

    modes: int = 0
    embeds_pixels: bool = False
    sees_mask: bool = False

    @property
    def form(self) -> TokenResidualForm:
        """The form of its residuals."""
        return TokenResidualForm(self.double_blocks, self.single_blocks, self.embeds_pixels)


def map_tokens(g: GraphBuilder, config: FluxControlConfig) -> None:
    """Emit XLabs' embedding of a map, once per picture.

    Input: map float32 [maps, 3, map_height, map_width] in [0, 1]. Output: map_embedding float32
    [maps, 16, map_height / 8, map_width / 8], from which tokens are made as from a latent.
    """
    x = g.cast_to_element(g.input("map", DType.F32, ("maps", 3, "map_height", "map_width")))
    x = g.op("Sub", g.op("Mul", x, g.constant(2.0)), g.constant(1.0))
    x, inner = g.from_planes(x), 3
    last = len(_HINT_STEPS) - 1
    for number, step in enumerate(_HINT_STEPS):
        name = {0: "conv_in", last: "conv_out"}.get(number, f"blocks.{number - 1}")
        x = g.conv(
            x if number == 0 else g.silu(x),
            f"input_hint_block.{name}",
            (inner, _HINT_WIDTH),
            stride=step,
        )
        inner = _HINT_WIDTH
    shape = ("maps", _HINT_WIDTH, "map_height/8", "map_width/8")
    g.output(g.to_planes(x), "map_embedding", DType.F32, shape)


def flux_control(g: GraphBuilder, config: FluxControlConfig) -> None:
    """Emit one evaluation of a ControlNet.

    Inputs: those of `engine.graphs.flux.flux`; map_embedding float32 [1, in_channels / 4, height,
    width], the scaled latent of a map or what `map_tokens` makes of it, with one channel more where
    it `sees_mask`. A union has an input kind float32 [1, modes], 1 at the kind of the map and else
    0. The other inputs and the outputs are those of `TokenResidualWriter`.
    """
    channels, cells = config.in_channels // PATCH**2, ("height", "width")
    sample = g.input("sample", DType.F32, ("batch", channels, *cells))
    context = g.input("context", DType.F32, ("contexts", "tokens", config.context_width))
    writer = EmbeddedBlocks(g, config, context, words=1 if config.modes else 0)
    masks = int(config.sees_mask)
    shown = g.input("map_embedding", DType.F32, (1, channels + masks, *cells))
    image = writer.patches(sample, context)
    given = writer.patches(shown, shown, "controlnet_x_embedder", masks=masks)
    image = g.op("Add", image, given)
    widths = config.context_width, config.width
    text = g.linear(g.cast_to_element(context), "context_embedder", widths)
    if config.modes:
        text = g.op("Concat", _kind(g, config, context), text, axis=1)
    grid = size_in_patches(g, sample, PATCH)
    residuals = TokenResidualWriter(g, config.form, config.width, grid)
    for block in range(config.double_blocks):
        text, image = writer.double(text, image, f"transformer_blocks.{block}")
        residuals.write(image, f"controlnet_blocks.{block}")
    x = g.op("Concat", text, image, axis=1)
    for block in range(config.single_blocks):
        x = writer.single(x, f"single_transformer_blocks.{block}")
        residuals.write(writer.image_of(x), f"controlnet_single_blocks.{block}")


def _kind(g: GraphBuilder, config: FluxControlConfig, context: Value) -> Value:
    """Emit the token of the map's kind, [contexts, 1, width]."""
    told = g.cast_to_element(g.input("kind", DType.F32, (1, config.modes)))
    table = g.weight("controlnet_mode_embedder.weight", (config.modes, config.width))
    token = g.op("Reshape", g.op("MatMul", told, table), g.integers([1, 1, config.width]))
    contexts = g.op("Shape", context, start=0, end=1)
    return g.op("Tile", token, g.op("Concat", contexts, g.integers([1, 1]), axis=0))
