"""The tiny autoencoder of Ollin Boer Bohan, TAESD, named as diffusers' `AutoencoderTiny`.

Sources: github.com/madebyollin/taesd (`taesd.py`), diffusers `models/autoencoders`. Its latents are
the denoiser's own, of about unit variance; its colours are from 0 to 1 inside. TAEF2, that of
FLUX.2, has a normalisation beside its blocks at the latent's size, which diffusers does not know.
"""

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.packed_latents import packed, unpacked

# Latents are squashed to this magnitude.
_MAGNITUDE = 3.0
# The branch of normalised blocks: so many times as wide, in so many groups.
_BRANCH, _GROUPS = 4, 4


class TinyVaeConfig(msgspec.Struct, frozen=True):
    """Sizes of a tiny autoencoder; blocks per level in the order they run. One side may be None.

    With a `patch` above 1 the latent that others see is packed: so many cells a side are the
    channels of one (FLUX.2). With `normalises` the blocks at the latent's size have a branch with a
    group normalisation.
    """

    # The channels of the latent as others see it.
    latent_channels: int
    width: int
    encoder_blocks: tuple[int, ...] | None
    decoder_blocks: tuple[int, ...] | None
    image_channels: int = 3
    patch: int = 1
    normalises: bool = False

    @property
    def downscale(self) -> int:
        """Pixels per latent cell along each axis, as others see the latent."""
        return self.patch * 2 ** (len(self.decoder_blocks or self.encoder_blocks or ()) - 1)

    @property
    def core_channels(self) -> int:
        """The channels of the latent that is not packed."""
        return self.latent_channels // self.patch**2


def tiny_decoder(g: GraphBuilder, config: TinyVaeConfig) -> None:
    """Emit the decoder: latent float32 [batch, latent_channels, height, width] to image.

    The latent is the denoiser's, neither scaled nor shifted; image is float32
    [batch, 3, height * downscale, width * downscale], nominally in [-1, 1].
    """
    width, levels = config.width, config.decoder_blocks or ()
    latent = g.input("latent", DType.F32, ("batch", config.latent_channels, "height", "width"))
    x = g.op("Mul", g.cast_to_element(latent), g.constant(1 / _MAGNITUDE))
    x = unpacked(g, g.op("Mul", g.op("Tanh", x), g.constant(_MAGNITUDE)), config.patch)
    x = g.conv(g.from_planes(x), "decoder.layers.0", (config.core_channels, width))
    x, place = g.op("Relu", x), 2
    for level, blocks in enumerate(levels):
        layers = range(place, place + blocks)
        x = _blocks(g, config, x, "decoder", layers, normalises=not level)
        place += blocks
        if level < len(levels) - 1:
            # The layer in between is the upsampling.
            name = f"decoder.layers.{place + 1}"
            x, place = g.doubled_conv(x, name, (width, width), bias=False), place + 2
    x = g.to_planes(g.conv(x, f"decoder.layers.{place}", (width, config.image_channels)))
    image = g.op("Add", g.op("Mul", x, g.constant(2.0)), g.constant(-1.0))
    size = (f"{config.downscale}*height", f"{config.downscale}*width")
    g.output(image, "image", DType.F32, ("batch", config.image_channels, *size))


def tiny_encoder(g: GraphBuilder, config: TinyVaeConfig) -> None:
    """Emit the encoder: image float32 [batch, 3, height, width] in [-1, 1] to its latent.

    latent is float32 [batch, latent_channels, height / downscale, width / downscale], scaled for
    the denoiser: a single latent, not a distribution. Height and width are multiples of
    `downscale`.
    """
    width, levels = config.width, config.encoder_blocks or ()
    pixels = ("batch", config.image_channels, "height", "width")
    image = g.cast_to_element(g.input("image", DType.F32, pixels))
    colours = g.op("Mul", g.op("Add", image, g.constant(1.0)), g.constant(0.5))
    x = g.conv(g.from_planes(colours), "encoder.layers.0", (config.image_channels, width))
    place = 1
    for level, blocks in enumerate(levels):
        if level:
            name = f"encoder.layers.{place}"
            x, place = g.conv(x, name, (width, width), stride=2, bias=False), place + 1
        layers = range(place, place + blocks)
        x = _blocks(g, config, x, "encoder", layers, normalises=level == len(levels) - 1)
        place += blocks
    x = g.to_planes(g.conv(x, f"encoder.layers.{place}", (width, config.core_channels)))
    size = (f"height/{config.downscale}", f"width/{config.downscale}")
    latent = packed(g, x, config.core_channels, config.patch)
    g.output(latent, "latent", DType.F32, ("batch", config.latent_channels, *size))


def _blocks(
    g: GraphBuilder,
    config: TinyVaeConfig,
    x: Value,
    side: str,
    layers: range,
    *,
    normalises: bool,
) -> Value:
    """Emit the blocks with these numbers; `normalises`: they have the branch, if any has."""
    width = config.width
    for layer in layers:
        name = f"{side}.layers.{layer}"
        if normalises and config.normalises:
            x = _normalised(g, x, f"{name}.pool", width)
        h = x
        for i in (0, 2, 4):
            h = g.conv(h, f"{name}.conv.{i}", (width, width))
            h = h if i == 4 else g.op("Relu", h)
        x = g.op("Relu", g.add(h, x))
    return x


def _normalised(g: GraphBuilder, x: Value, name: str, width: int) -> Value:
    """Emit the sum of an image and its branch, whose normalisation is over the whole image."""
    wide = _BRANCH * width
    h = g.conv(x, f"{name}.0", (width, wide), kernel=1, bias=False)
    h = g.op("Relu", g.group_norm(h, f"{name}.1", wide, _GROUPS))
    return g.add(g.conv(h, f"{name}.3", (wide, width), kernel=1, bias=False), x)
