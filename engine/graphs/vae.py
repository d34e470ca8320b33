"""The KL autoencoder of latent diffusion (Rombach et al. 2022), named as in diffusers."""

from dataclasses import dataclass

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.attention import Projections


@dataclass(frozen=True, slots=True)
class VaeConfig:
    """Sizes of an autoencoder. `widths` runs from the full resolution down."""

    latent_channels: int
    widths: tuple[int, ...]
    # Residual blocks per level in the encoder; the decoder has one more.
    layers: int
    norm_groups: int = 32
    # 1x1 convolutions around the latent (quant_conv, post_quant_conv); Flux and SD 3 have none.
    quant_convolutions: bool = True
    mid_attention: bool = True
    image_channels: int = 3

    @property
    def downscale(self) -> int:
        """Pixels per latent cell along each axis."""
        return 2 ** (len(self.widths) - 1)


def vae_decoder(g: GraphBuilder, config: VaeConfig) -> None:
    """Emit the decoder: latent float32 [batch, latent_channels, height, width] to image.

    The latent is unscaled (divided by the family's factor); image is float32
    [batch, 3, height * downscale, width * downscale], nominally in [-1, 1].
    """
    vae, channels = _Vae(g, config, "decoder"), config.latent_channels
    latent = g.input("latent", DType.F32, ("batch", channels, "height", "width"))
    x = g.from_planes(g.cast_to_element(latent))
    if config.quant_convolutions:
        x = g.conv(x, "post_quant_conv", (channels, channels), kernel=1)
    width = config.widths[-1]
    x = vae.mid(g.conv(x, "decoder.conv_in", (channels, width)), width)
    for i, out in enumerate(reversed(config.widths)):
        name = f"decoder.up_blocks.{i}"
        x = vae.resnets(x, name, (width, out), config.layers + 1)
        width = out
        if i < len(config.widths) - 1:
            x = g.doubled_conv(x, f"{name}.upsamplers.0.conv", (width, width))
    x = vae.norm_silu(x, "decoder.conv_norm_out", width)
    x = g.conv(x, "decoder.conv_out", (width, config.image_channels))
    size = (f"{config.downscale}*height", f"{config.downscale}*width")
    g.output(g.to_planes(x), "image", DType.F32, ("batch", config.image_channels, *size))


def vae_encoder(g: GraphBuilder, config: VaeConfig) -> None:
    """Emit the encoder: image float32 [batch, 3, height, width] in [-1, 1] to its latent's moments.

    moments is float32 [batch, 2 * latent_channels, height / downscale, width / downscale]: means,
    then logarithms of variances, unscaled. Height and width are multiples of `downscale`.
    """
    vae, width = _Vae(g, config, "encoder"), config.widths[0]
    pixels = ("batch", config.image_channels, "height", "width")
    image = g.cast_to_element(g.input("image", DType.F32, pixels))
    x = g.conv(g.from_planes(image), "encoder.conv_in", (config.image_channels, width))
    for i, out in enumerate(config.widths):
        name = f"encoder.down_blocks.{i}"
        x = vae.resnets(x, name, (width, out), config.layers)
        width = out
        if i < len(config.widths) - 1:
            # Padded below and to the right only, as the original's asymmetric padding.
            down, pads = f"{name}.downsamplers.0.conv", (0, 0, 1, 1)
            x = g.conv(x, down, (width, width), stride=2, pads=pads)
    x = vae.mid(x, width)
    x = vae.norm_silu(x, "encoder.conv_norm_out", width)
    moments = 2 * config.latent_channels
    x = g.conv(x, "encoder.conv_out", (width, moments))
    if config.quant_convolutions:
        x = g.conv(x, "quant_conv", (moments, moments), kernel=1)
    size = (f"height/{config.downscale}", f"width/{config.downscale}")
    g.output(g.to_planes(x), "moments", DType.F32, ("batch", moments, *size))


class _Vae:
    """The blocks that encoder and decoder share; `side` is the prefix of their weights."""

    def __init__(self, g: GraphBuilder, config: VaeConfig, side: str) -> None:
        self.g, self.config, self.side = g, config, side

    def norm_silu(self, x: Value, name: str, width: int) -> Value:
        return self.g.norm_silu(x, name, width, self.config.norm_groups, 1e-6)

    def resnets(self, x: Value, name: str, channels: tuple[int, int], count: int) -> Value:
        for j in range(count):
            x = self._resnet(x, f"{name}.resnets.{j}", channels)
            channels = (channels[1], channels[1])
        return x

    def _resnet(self, x: Value, name: str, channels: tuple[int, int]) -> Value:
        g, width = self.g, channels[1]
        h = self.norm_silu(x, f"{name}.norm1", channels[0])
        h = g.conv(h, f"{name}.conv1", channels)
        h = self.norm_silu(h, f"{name}.norm2", width)
        h = g.conv(h, f"{name}.conv2", (width, width))
        if channels[0] != width:
            x = g.conv(x, f"{name}.conv_shortcut", channels, kernel=1)
        return g.add(x, h)

    def mid(self, x: Value, width: int) -> Value:
        name = f"{self.side}.mid_block"
        x = self._resnet(x, f"{name}.resnets.0", (width, width))
        if self.config.mid_attention:
            x = self._attention(x, f"{name}.attentions.0", width)
        return self._resnet(x, f"{name}.resnets.1", (width, width))

    def _attention(self, x: Value, name: str, width: int) -> Value:
        """Self-attention with one head over the cells of the latent."""
        g = self.g
        h = g.group_norm(x, f"{name}.group_norm", width, self.config.norm_groups, 1e-6)
        h = g.to_tokens(h, width)
        names = (f"{name}.to_q", f"{name}.to_k", f"{name}.to_v")
        h = g.attend(h, h, Projections(names, width, width, heads=1))
        h = g.linear(h, f"{name}.to_out.0", (width, width))
        return g.add(x, g.to_image(h, x))
