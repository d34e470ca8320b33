"""The network that devices run in a trial: the layers that take most of a picture's time.

A UNet that is only its middle block, as wide as SD 1.5's first level: a transformer block (320
wide, 8 heads, a context of 77 x 768) between residual blocks (320 channels, a time embedding of
1280), on a latent of 64 x 64 with a batch of two. Emitted, bound and loaded like every other
network.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from backends.base import Array, DimensionRange, DType, FileSlice
from engine.compile.network import Network
from engine.graphs.unet import UNetBlock, UNetConfig, timestep_embedding, unet
from engine.weights.rounding import Role
from engine.weights.weight_set import WeightSet

OUTPUT = "prediction"
_BATCH, _SIDE, _TOKENS, _TEXT = 2, 64, 77, 768
_WIDTH, _CHANNELS, _HEADS = 320, 4, 8
_TIMESTEP = 500
_CONFIG = UNetConfig(
    in_channels=_CHANNELS,
    out_channels=_CHANNELS,
    context_width=_TEXT,
    down=(UNetBlock(_WIDTH, (), _HEADS, resample=False),),
    mid=UNetBlock(_WIDTH, (1,), _HEADS, resample=False),
    up=(),
)
_SIZES = {"batch": _BATCH, "contexts": _BATCH, "tokens": _TOKENS, "height": _SIDE, "width": _SIDE}
_DIMENSIONS = {name: DimensionRange(size, size, size) for name, size in _SIZES.items()}


def network(folder: Path) -> Network:
    """Return the network; its random weights are written to the folder unless they are there.

    The weights keep activations near unit size. Raises OSError.
    """
    path = folder / "weights.f32"
    shapes = dict(_shapes())
    if not path.exists():
        with path.open("wb") as file:
            for array in _arrays(shapes):
                file.write(array.tobytes())
    slices: dict[str, FileSlice] = {}
    offset = 0
    for name, shape in shapes.items():
        slices[name] = FileSlice(path, offset, DType.F32, shape)
        offset += slices[name].nbytes
    emit = partial(unet, config=_CONFIG, halves_evenly=True)
    weights = WeightSet("trial", slices, role=Role.DENOISER)
    return Network("trial", emit, weights, _DIMENSIONS)


def feeds() -> Mapping[str, Array]:
    """Return the network's inputs, equal at each call."""
    random = np.random.default_rng(1)
    return {
        "sample": random.standard_normal((_BATCH, _CHANNELS, _SIDE, _SIDE), np.float32),
        "timestep_embedding": timestep_embedding(_CONFIG, _TIMESTEP),
        "context": random.standard_normal((_BATCH, _TOKENS, _TEXT), np.float32),
    }


def _arrays(shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Array]:
    """Yield weights that keep activations near unit size: norms around one, small biases."""
    random = np.random.default_rng(0)
    for name, shape in shapes.items():
        array = random.standard_normal(shape, np.float32)
        if name.endswith(".bias"):
            yield array * np.float32(0.1)
        elif len(shape) == 1:
            yield 1 + array * np.float32(0.1)
        else:
            yield array / np.float32(np.sqrt(np.prod(shape[1:])))


def _shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield every weight's name, as in diffusers, and its shape; the graph takes each once."""
    attention = "mid_block.attentions.0"
    block = f"{attention}.transformer_blocks.0"
    layers: dict[str, tuple[int, ...]] = {
        "conv_in": (_WIDTH, _CHANNELS, 3, 3),
        "time_embedding.linear_1": (4 * _WIDTH, _WIDTH),
        "time_embedding.linear_2": (4 * _WIDTH, 4 * _WIDTH),
        f"{attention}.norm": (_WIDTH,),
        f"{attention}.proj_in": (_WIDTH, _WIDTH, 1, 1),
        f"{attention}.proj_out": (_WIDTH, _WIDTH, 1, 1),
        f"{block}.ff.net.0.proj": (8 * _WIDTH, _WIDTH),
        f"{block}.ff.net.2": (_WIDTH, 4 * _WIDTH),
        "conv_norm_out": (_WIDTH,),
        "conv_out": (_CHANNELS, _WIDTH, 3, 3),
    }
    for number in range(2):
        resnet = f"mid_block.resnets.{number}"
        layers |= {f"{resnet}.norm{n}": (_WIDTH,) for n in (1, 2)}
        layers |= {f"{resnet}.conv{n}": (_WIDTH, _WIDTH, 3, 3) for n in (1, 2)}
        layers[f"{resnet}.time_emb_proj"] = (_WIDTH, 4 * _WIDTH)
    layers |= {f"{block}.norm{number}": (_WIDTH,) for number in (1, 2, 3)}
    layers |= {f"{block}.attn{number}.to_out.0": (_WIDTH, _WIDTH) for number in (1, 2)}
    for name, shape in layers.items():
        yield f"{name}.weight", shape
        yield f"{name}.bias", shape[:1]
    for number, source in ((1, _WIDTH), (2, _TEXT)):
        yield f"{block}.attn{number}.to_q.weight", (_WIDTH, _WIDTH)
        yield f"{block}.attn{number}.to_k.weight", (_WIDTH, source)
        yield f"{block}.attn{number}.to_v.weight", (_WIDTH, source)
