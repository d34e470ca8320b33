"""ControlNets of Stable Diffusion 3 and 3.5, by diffusers' names: SD3ControlNetModel.

To the tokens of the latent, such a network adds those of a map's latent. InstantX' has some of the
transformer's first joint blocks, reads the text and ignores its pooled state. Stability AI's for
SD 3.5 large has blocks without text, and takes the latent's tokens from the transformer's own first
layer (Stability AI's sd3.5, `dit_embedder.py`). alimama's for inpainting is like InstantX', and
sees a mask beside the latent of the picture that is kept. What each block makes of the picture's
tokens leaves it through a linear layer, as a residual for some of the transformer's blocks.
"""

from backends.base import DType
from engine.graphs.control_residuals import JointForm, TokenResidualWriter
from engine.graphs.operators import GraphBuilder
from engine.graphs.packed_latents import size_in_patches
from engine.graphs.sd3 import PATCH, Sd3Blocks, Sd3Config


class Sd3ControlConfig(Sd3Config, frozen=True, kw_only=True):
    """Sizes of a ControlNet of Stable Diffusion 3 or 3.5.

    `joint`: its blocks read the text. `ignores_pooled`: it sees zeros for the pooled text.
    `borrows_tokens`: the latent's tokens, with their places, are the transformer's. `sees_mask`:
    its map has a channel more than a latent, 1 in the cells that are kept and 0 in those that are
    painted (`extra_conditioning_channels`).
    """

    joint: bool = True
    ignores_pooled: bool = True
    borrows_tokens: bool = False
    sees_mask: bool = False


def sd3_control(g: GraphBuilder, config: Sd3ControlConfig, form: JointForm) -> None:
    """Emit one evaluation of a ControlNet, whose residuals have a form.

    Inputs: those of `engine.graphs.sd3.sd3`, without the context where it reads no text;
    map_embedding float32 [1, channels, height, width], the scaled latent of a map, with one channel
    more where it `sees_mask`. The other inputs and the outputs are those of `TokenResidualWriter`.
    """
    writer = Sd3Blocks(g, config, ignores_pooled=config.ignores_pooled)
    text = first = None
    if config.joint:
        context = g.input("context", DType.F32, ("contexts", "tokens", config.context_width))
        text, first = writer.text(context)
    sample, image = writer.patches(writer.pooled)
    masks, sides = int(config.sees_mask), ("height", "width")
    shown = g.input("map_embedding", DType.F32, (1, config.channels + masks, *sides))
    image = g.op("Add", image, writer.cut(shown, "pos_embed_input.proj", masks=masks))
    grid = size_in_patches(g, sample, PATCH)
    residuals = TokenResidualWriter(g, form, config.width, grid)
    for block in range(config.blocks):
        if text is None or first is None:
            image = writer.alone(image, block)
        else:
            text, image = writer.joint(text, image, block, first)
        residuals.write(image, f"controlnet_blocks.{block}")
