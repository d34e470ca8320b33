"""PLKSR and RealPLKSR: large kernels over a part of the channels (Lee et al. 2024).

Sources: github.com/dslisleedh/PLKSR (`plksr/models/PLKSR.py`), github.com/neosr-project/neosr
(`archs/realplksr_arch.py`).
"""

from enum import Enum, auto

import msgspec
import numpy as np

from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.upscalers.layers import Layers
from engine.graphs.upscalers.sampling import SamplingConfig, sampled

_CHANNELS = 3
_EPSILON = 1e-6
_GROUPS, _GROUP_EPSILON = 4, 1e-5


class PlkNorm(Enum):
    """Normalisations in the blocks of RealPLKSR."""

    # Over the channels of each pixel, before the block's layers.
    LAYER = auto()
    # Over four groups of channels of the whole picture, after them.
    GROUP = auto()


class PlksrConfig(msgspec.Struct, frozen=True):
    """Sizes of a PLKSR; of a RealPLKSR if `norm` is given.

    `mixer` has the kernels of the two convolutions that mix channels, `partial` the number of
    channels that the large kernel sees. `attends`: each block weighs its elements. `sampling`
    replaces the shuffle of pixels at the end by DySample.
    """

    width: int
    blocks: int
    scale: int
    kernel: int
    partial: int
    mixer: tuple[int, int] = (3, 3)
    attends: bool = True
    norm: PlkNorm | None = None
    sampling: SamplingConfig | None = None

    @property
    def mixer_name(self) -> str:
        """The name of the mixing layers, which the first authors misspelt."""
        return "channe_mixer" if self.norm is None else "channel_mixer"


def plksr(g: GraphBuilder, config: PlksrConfig) -> None:
    """Emit the network."""
    on, width, outer = Layers(g), config.width, _CHANNELS * config.scale**2
    image = on.image(_CHANNELS)
    x = on.conv(image, "feats.0", (_CHANNELS, width))
    for block in range(1, config.blocks + 1):
        x = _block(on, x, f"feats.{block}", config)
    # RealPLKSR has dropout, without weights, before its last layer.
    last = config.blocks + (1 if config.norm is None else 2)
    x = on.conv(x, f"feats.{last}", (width, outer))
    # Each channel of the picture is added to all those that become its pixels.
    repeated = on.conv_with(image, g.constant(_repeating(config.scale)), kernel=1)
    x = on.add(x, repeated)
    if config.sampling is None:
        x = on.shuffled(x, config.scale)
    else:
        x = sampled(on, x, "to_img", config.sampling)
    on.upscaled(x, _CHANNELS, config.scale)


def _block(on: Layers, x: Value, name: str, config: PlksrConfig) -> Value:
    g, width, skip = on.g, config.width, x
    if config.norm is PlkNorm.LAYER:
        x = on.planes_norm(x, f"{name}.layer_norm", width, _EPSILON)
    mixer, (first, second) = f"{name}.{config.mixer_name}", config.mixer
    x = on.conv(x, f"{mixer}.0", (width, 2 * width), first)
    x = g.gelu(x) if config.norm is None else _mish(g, x)
    x = on.conv(x, f"{mixer}.2", (2 * width, width), second)
    seen, rest = on.part(x, 0, config.partial), on.part(x, config.partial, None)
    sizes = (config.partial, config.partial)
    x = on.join(on.conv(seen, f"{name}.lk.conv", sizes, config.kernel), rest)
    if config.attends:
        x = g.op("Mul", x, g.op("Sigmoid", on.conv(x, f"{name}.attn.f.0", (width, width))))
    x = on.conv(x, f"{name}.refine", (width, width), 1)
    if config.norm is PlkNorm.GROUP:
        x = _group_norm(on, x, f"{name}.norm", width)
    return on.add(x, skip)


def _mish(g: GraphBuilder, x: Value) -> Value:
    """Emit x tanh(log(1 + e^x)) (Misra 2019)."""
    return g.op("Mul", x, g.op("Tanh", g.op("Softplus", x)))


def _group_norm(on: Layers, x: Value, name: str, width: int) -> Value:
    g = on.g
    grouped = g.op("Reshape", x, g.integers([0, _GROUPS, -1]))
    ones, zeros = g.constant(np.ones(_GROUPS)), g.constant(np.zeros(_GROUPS))
    normal = g.op("InstanceNormalization", grouped, ones, zeros, epsilon=_GROUP_EPSILON)
    y = g.op("Reshape", normal, g.op("Shape", x))
    y = g.op("Mul", y, on.per_channel(f"{name}.weight", width))
    return g.op("Add", y, on.per_channel(f"{name}.bias", width))


def _repeating(scale: int) -> np.ndarray:
    """Return the 1x1 kernel that repeats each channel scale^2 times."""
    return np.repeat(np.eye(_CHANNELS, dtype=np.float32), scale**2, axis=0)[:, :, None, None]
