"""The tiny autoencoder of Ollin Boer Bohan, TAESD, named as diffusers' `AutoencoderTiny`.

Sources: github.com/madebyollin/taesd (`taesd.py`), diffusers `models/autoencoders`. Its latents are
the denoiser's own, of about unit variance; its colours are from 0 to 1 inside.
"""

from dataclasses import dataclass

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

# Latents are squashed to this magnitude.
_MAGNITUDE = 3.0


@dataclass(frozen=True, slots=True)
class TinyVaeConfig:
    """Sizes of a tiny autoencoder; blocks per level in the order they run. One side may be None."""

    latent_channels: int
    width: int
    encoder_blocks: tuple[int, ...] | None
    decoder_blocks: tuple[int, ...] | None
    image_channels: int = 3

    @property
    def downscale(self) -> int:
        """Pixels per latent cell along each axis."""
        return 2 ** (len(self.decoder_blocks or self.encoder_blocks or ()) - 1)


def tiny_decoder(g: GraphBuilder, config: TinyVaeConfig) -> None:
    """Emit the decoder: latent float32 [batch, latent_channels, height, width] to image.

    The latent is the denoiser's, neither scaled nor shifted; image is float32
    [batch, 3, height * downscale, width * downscale], nominally in [-1, 1].
    """
    channels, width = config.latent_channels, config.width
    levels = config.decoder_blocks or ()
    latent = g.input("latent", DType.F32, ("batch", channels, "height", "width"))
    x = g.op("Mul", g.cast_to_element(latent), g.constant(1 / _MAGNITUDE))
    x = g.op("Mul", g.op("Tanh", x), g.constant(_MAGNITUDE))
    x = g.conv(g.from_planes(x), "decoder.layers.0", (channels, width))
    x, place = g.op("Relu", x), 2
    for level, blocks in enumerate(levels):
        x, place = _blocks(g, x, "decoder", place, blocks, width)
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
    width, channels = config.width, config.latent_channels
    pixels = ("batch", config.image_channels, "height", "width")
    image = g.cast_to_element(g.input("image", DType.F32, pixels))
    colours = g.op("Mul", g.op("Add", image, g.constant(1.0)), g.constant(0.5))
    x = g.conv(g.from_planes(colours), "encoder.layers.0", (config.image_channels, width))
    place = 1
    for level, blocks in enumerate(config.encoder_blocks or ()):
        if level:
            name = f"encoder.layers.{place}"
            x, place = g.conv(x, name, (width, width), stride=2, bias=False), place + 1
        x, place = _blocks(g, x, "encoder", place, blocks, width)
    latent = g.to_planes(g.conv(x, f"encoder.layers.{place}", (width, channels)))
    size = (f"height/{config.downscale}", f"width/{config.downscale}")
    g.output(latent, "latent", DType.F32, ("batch", channels, *size))


def _blocks(
    g: GraphBuilder, x: Value, side: str, place: int, count: int, width: int
) -> tuple[Value, int]:
    """Emit `count` residual blocks from layer number `place` on; return the next layer number."""
    for layer in range(place, place + count):
        h = x
        for i in (0, 2, 4):
            h = g.conv(h, f"{side}.layers.{layer}.conv.{i}", (width, width))
            h = h if i == 4 else g.op("Relu", h)
        x = g.op("Relu", g.add(h, x))
    return x, place + count
