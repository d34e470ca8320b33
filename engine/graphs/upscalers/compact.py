"""SRVGGNetCompact, Real-ESRGAN's small network: convolutions in a row, and PReLU between them.

Source: github.com/xinntao/Real-ESRGAN (`realesrgan/archs/srvgg_arch.py`).
"""

import msgspec

from engine.graphs.operators import GraphBuilder
from engine.graphs.upscalers.layers import Layers


class CompactConfig(msgspec.Struct, frozen=True):
    """Sizes of a compact network; `layers` counts the convolutions between first and last."""

    channels: int
    width: int
    layers: int
    scale: int


def compact(g: GraphBuilder, config: CompactConfig) -> None:
    """Emit the network."""
    on, width, last = Layers(g), config.width, 2 * config.layers + 2
    image = on.image(config.channels)
    x, inner = image, config.channels
    for place in range(0, last, 2):
        x = on.conv(x, f"body.{place}", (inner, width))
        x, inner = g.op("PRelu", x, on.per_channel(f"body.{place + 1}.weight", width)), width
    x = on.conv(x, f"body.{last}", (width, config.channels * config.scale**2))
    # The network computes the difference from the enlarged picture.
    x = on.add(on.shuffled(x, config.scale), on.nearest(image, config.scale))
    on.upscaled(x, config.channels, config.scale)
