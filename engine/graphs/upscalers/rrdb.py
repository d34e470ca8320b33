"""RRDBNet, the network of ESRGAN, BSRGAN and Real-ESRGAN, named as in BasicSR.

Sources: github.com/xinntao/ESRGAN (`RRDBNet_arch.py`), github.com/XPixelGroup/BasicSR
(`archs/rrdbnet_arch.py`); the residual paths of ESRGAN+ are github.com/ncarraz/ESRGANplus.
"""

import msgspec

from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.upscalers.layers import Layers

_SLOPE, _SHARE = 0.2, 0.2


class RrdbConfig(msgspec.Struct, frozen=True):
    """Sizes of an RRDBNet.

    `doublings` is the number of upsampling layers. `unshuffle` pixels along each side become
    channels first, so that the picture grows by 2^doublings / unshuffle. `plus`: with the residual
    paths of ESRGAN+.
    """

    channels: int
    width: int
    growth: int
    blocks: int
    doublings: int
    unshuffle: int = 1
    plus: bool = False

    @property
    def scale(self) -> int:
        """The growth of each side of a picture."""
        return 2**self.doublings // self.unshuffle


def rrdb(g: GraphBuilder, config: RrdbConfig) -> None:
    """Emit the network; height and width are multiples of `unshuffle`."""
    on = Layers(g)
    on.upscaled(_enlarged(on, _body(on, config), config), config.channels, config.scale)


def rrdb_body(g: GraphBuilder, config: RrdbConfig) -> None:
    """Emit the layers up to those that enlarge, at the size of the picture or a part of it."""
    on = Layers(g)
    on.features(_body(on, config), config.width, config.unshuffle)


def rrdb_tail(g: GraphBuilder, config: RrdbConfig) -> None:
    """Emit the layers that enlarge, over what those before them found."""
    on = Layers(g)
    x = _enlarged(on, on.image(config.width), config)
    on.upscaled(x, config.channels, 2**config.doublings)


def _body(on: Layers, config: RrdbConfig) -> Value:
    width = config.width
    x = on.unshuffled(on.image(config.channels), config.channels, config.unshuffle)
    first = on.conv(x, "conv_first", (config.channels * config.unshuffle**2, width))
    x = first
    for block in range(config.blocks):
        inner = x
        for dense in (1, 2, 3):
            inner = _dense(on, inner, f"body.{block}.rdb{dense}", config)
        x = on.add(on.times(inner, _SHARE), x)
    return on.add(on.conv(x, "conv_body", (width, width)), first)


def _enlarged(on: Layers, x: Value, config: RrdbConfig) -> Value:
    width = config.width
    for level in range(1, config.doublings + 1):
        x = on.leaky(on.conv(on.nearest(x, 2), f"conv_up{level}", (width, width)), _SLOPE)
    x = on.leaky(on.conv(x, "conv_hr", (width, width)), _SLOPE)
    return on.conv(x, "conv_last", (width, config.channels))


def _dense(on: Layers, x: Value, name: str, config: RrdbConfig) -> Value:
    """Emit a residual dense block: each of five convolutions sees the input and all before it."""
    width, growth = config.width, config.growth
    found = [x]
    for place in range(1, 5):
        sizes = (width + (place - 1) * growth, growth)
        y = on.leaky(on.conv(on.join(*found), f"{name}.conv{place}", sizes), _SLOPE)
        if config.plus and place == 2:
            y = on.add(y, on.conv(x, f"{name}.conv1x1", (width, growth), 1, bias=False))
        if config.plus and place == 4:
            y = on.add(y, found[2])
        found.append(y)
    last = on.conv(on.join(*found), f"{name}.conv5", (width + 4 * growth, width))
    return on.add(on.times(last, _SHARE), x)
