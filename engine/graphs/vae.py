"""The KL autoencoder of latent diffusion (Rombach et al. 2022), named as in diffusers.

Each side has two parts. The *core* works at the latent's size and has attention over all of it. The
*shell* works at larger sizes, uses only convolutions and group normalisations, and takes nearly all
of the memory. `engine.graphs.vae_tiles` emits the shell for one tile at a time.
"""

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.attention import Projections
from engine.graphs.packed_latents import packed, unpacked

NORM_EPSILON = 1e-6
# That of the normalisation of packed latents (`VaeConfig.patch`).
_BATCH_EPSILON = 1e-4
_STATISTICS = "bn.running_"


class VaeConfig(msgspec.Struct, frozen=True):
    """Sizes of an autoencoder. `widths` runs from the full resolution down.

    The decoder may be narrower, with `decoder_widths` (FLUX.2's small decoder); None: it is not.
    With a `patch` above 1 the latent that others see is packed: so many cells a side are the
    channels of one, each normalised by the mean and variance that the file has (FLUX.2).
    """

    # The channels of the latent as others see it.
    latent_channels: int
    widths: tuple[int, ...]
    # Residual blocks per level in the encoder; the decoder has one more.
    layers: int
    norm_groups: int = 32
    # 1x1 convolutions around the latent (quant_conv, post_quant_conv); Flux and SD 3 have none.
    quant_convolutions: bool = True
    mid_attention: bool = True
    image_channels: int = 3
    patch: int = 1
    decoder_widths: tuple[int, ...] | None = None

    def widths_of(self, side: str) -> tuple[int, ...]:
        """Return the widths of the side "encoder" or "decoder", from the full resolution down."""
        return self.decoder_widths or self.widths if side == "decoder" else self.widths

    @property
    def downscale(self) -> int:
        """Pixels per latent cell along each axis, as others see the latent."""
        return self.patch * self.core_downscale

    @property
    def core_downscale(self) -> int:
        """Pixels per cell of the core along each axis."""
        return 2 ** (len(self.widths) - 1)

    @property
    def core_channels(self) -> int:
        """The channels of the latent in the core."""
        return self.latent_channels // self.patch**2


def vae_decoder(g: GraphBuilder, config: VaeConfig) -> None:
    """Emit the decoder: latent float32 [batch, latent_channels, height, width] to image.

    The latent is unscaled (divided by the family's factor); image is float32
    [batch, 3, height * downscale, width * downscale], nominally in [-1, 1].
    """
    vae = VaeBlocks(g, config, "decoder")
    image = vae.decoder_shell(vae.decoder_core(latent_input(g, config)))
    image_output(g, config, image, config.downscale)


def vae_encoder(g: GraphBuilder, config: VaeConfig) -> None:
    """Emit the encoder: image float32 [batch, 3, height, width] in [-1, 1] to its latent's moments.

    moments is float32 [batch, 2 * latent_channels, height / downscale, width / downscale]: means,
    then logarithms of variances, unscaled; of a packed latent the means alone. Height and width are
    multiples of `downscale`.
    """
    vae = VaeBlocks(g, config, "encoder")
    moments = vae.encoder_core(vae.encoder_shell(image_input(g, config)))
    size = (f"height/{config.downscale}", f"width/{config.downscale}")
    moments_output(g, config, moments, size)


def latent_input(g: GraphBuilder, config: VaeConfig) -> Value:
    """Declare the latent as the input, in the layout of images."""
    shape = ("batch", config.latent_channels, "height", "width")
    x = g.cast_to_element(g.input("latent", DType.F32, shape))
    return g.from_planes(_unpacked(g, config, x) if config.patch > 1 else x)


def image_input(g: GraphBuilder, config: VaeConfig) -> Value:
    """Declare the picture as the input, in the layout of images."""
    shape = ("batch", config.image_channels, "height", "width")
    return g.from_planes(g.cast_to_element(g.input("image", DType.F32, shape)))


def image_output(g: GraphBuilder, config: VaeConfig, image: Value, scale: int) -> None:
    """Declare the decoder's output, `scale` times `height` and `width` of its input."""
    size = (f"{scale}*height", f"{scale}*width")
    g.output(g.to_planes(image), "image", DType.F32, ("batch", config.image_channels, *size))


def moments_output(
    g: GraphBuilder, config: VaeConfig, moments: Value, size: tuple[str, str]
) -> None:
    """Declare the encoder's output, of this height and width."""
    x, channels = g.to_planes(moments), 2 * config.latent_channels
    if config.patch > 1:
        x, channels = _packed(g, config, x), config.latent_channels
    g.output(x, "moments", DType.F32, ("batch", channels, *size))


def _statistics(g: GraphBuilder, config: VaeConfig) -> tuple[Value, Value]:
    """Return means and deviations of the packed latent: [1, latent_channels, 1, 1] each."""
    shape = config.latent_channels, (1, config.latent_channels, 1, 1)
    mean, variance = (
        g.weight_as(f"{_STATISTICS}{name}", (shape[0],), shape[1], "channels")
        for name in ("mean", "var")
    )
    return mean, g.op("Sqrt", g.op("Add", variance, g.constant(_BATCH_EPSILON)))


def _unpacked(g: GraphBuilder, config: VaeConfig, x: Value) -> Value:
    """Emit the latent of the core from the packed one, in planes."""
    mean, deviation = _statistics(g, config)
    return unpacked(g, g.op("Add", g.op("Mul", x, deviation), mean), config.patch)


def _packed(g: GraphBuilder, config: VaeConfig, moments: Value) -> Value:
    """Emit the packed latent from the moments of the core, in planes: their means."""
    mean, deviation = _statistics(g, config)
    channels = config.core_channels
    x = g.op("Slice", moments, g.integers([0]), g.integers([channels]), g.integers([1]))
    x = packed(g, x, channels, config.patch)
    return g.op("Div", g.op("Sub", x, mean), deviation)


class VaeBlocks:
    """The blocks of one side; `side`, "encoder" or "decoder", is the prefix of its weights."""

    def __init__(self, g: GraphBuilder, config: VaeConfig, side: str) -> None:
        self.g, self.config, self.side = g, config, side

    def decoder_core(self, x: Value) -> Value:
        """Emit the layers at the latent's size, from the latent to the first level's features."""
        g, config = self.g, self.config
        channels, width = config.core_channels, config.widths_of("decoder")[-1]
        if config.quant_convolutions:
            x = g.conv(x, "post_quant_conv", (channels, channels), kernel=1)
        x = self._mid(g.conv(x, "decoder.conv_in", (channels, width)), width)
        return self._resnets(x, "decoder.up_blocks.0", (width, width), config.layers + 1)

    def decoder_shell(self, x: Value) -> Value:
        """Emit the other levels, each twice as large as the one before, up to the picture."""
        g, config = self.g, self.config
        widths = config.widths_of("decoder")[::-1]
        for i in range(1, len(widths)):
            before, width = widths[i - 1], widths[i]
            up = f"decoder.up_blocks.{i - 1}.upsamplers.0.conv"
            x = g.doubled_conv(x, up, (before, before))
            x = self._resnets(x, f"decoder.up_blocks.{i}", (before, width), config.layers + 1)
        x = self.norm_silu(x, "decoder.conv_norm_out", widths[-1])
        return g.conv(x, "decoder.conv_out", (widths[-1], config.image_channels))

    def encoder_shell(self, x: Value) -> Value:
        """Emit the levels from the picture down to the latent's size."""
        g, config = self.g, self.config
        width = config.widths[0]
        x = g.conv(x, "encoder.conv_in", (config.image_channels, width))
        for i, out in enumerate(config.widths[:-1]):
            name = f"encoder.down_blocks.{i}"
            x = self._resnets(x, name, (width, out), config.layers)
            width = out
            # Padded only below and to the right, as in the original.
            down, pads = f"{name}.downsamplers.0.conv", (0, 0, 1, 1)
            x = g.conv(x, down, (width, width), stride=2, pads=pads)
        return x

    def encoder_core(self, x: Value) -> Value:
        """Emit the layers at the latent's size, from the last level's features to the moments."""
        g, config = self.g, self.config
        last = len(config.widths) - 1
        width, moments = config.widths[-1], 2 * config.core_channels
        before = config.widths[max(0, last - 1)]
        x = self._resnets(x, f"encoder.down_blocks.{last}", (before, width), config.layers)
        x = self.norm_silu(self._mid(x, width), "encoder.conv_norm_out", width)
        x = g.conv(x, "encoder.conv_out", (width, moments))
        if config.quant_convolutions:
            x = g.conv(x, "quant_conv", (moments, moments), kernel=1)
        return x

    def norm_silu(self, x: Value, name: str, width: int) -> Value:
        """Emit group normalisation, then SiLU."""
        return self.g.norm_silu(x, name, width, self.config.norm_groups, NORM_EPSILON)

    def _resnets(self, x: Value, name: str, channels: tuple[int, int], count: int) -> Value:
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

    def _mid(self, x: Value, width: int) -> Value:
        name = f"{self.side}.mid_block"
        x = self._resnet(x, f"{name}.resnets.0", (width, width))
        if self.config.mid_attention:
            x = self._attention(x, f"{name}.attentions.0", width)
        return self._resnet(x, f"{name}.resnets.1", (width, width))

    def _attention(self, x: Value, name: str, width: int) -> Value:
        """Emit self-attention with one head over the cells of the latent."""
        g = self.g
        h = g.group_norm(x, f"{name}.group_norm", width, self.config.norm_groups, NORM_EPSILON)
        h = g.to_tokens(h, width)
        names = (f"{name}.to_q", f"{name}.to_k", f"{name}.to_v")
        h = g.attend(h, h, Projections(names, width, width, heads=1))
        h = g.linear(h, f"{name}.to_out.0", (width, width))
        return g.add(x, g.to_image(h, x))
