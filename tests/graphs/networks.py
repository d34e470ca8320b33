"""Networks of small random weights: the weights a network asks for, listed by emitting it."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from backends.base import Array, ComputedArray, DType, FileSlice, Graph, OperatorSet, Precision
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet import UNetBlock, UNetConfig
from engine.graphs.vae import VaeConfig
from engine.weights.derived import DerivedWeight
from engine.weights.side_branches import SideBranches
from engine.weights.sources import FileWeight, WeightSource

Emit = Callable[[GraphBuilder], None]
PLAIN = OperatorSet(opset=20)


class _Asking(dict[str, FileSlice]):
    """Has whatever weight is asked for next, in the shape it is asked in."""

    shape: tuple[int, ...] = ()

    def get(self, key: str, default: object = None) -> FileSlice:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.setdefault(key, FileSlice(Path("nowhere"), 0, DType.F32, self.shape))


class _Listing(GraphBuilder):
    def __init__(self) -> None:
        self.asking = _Asking()
        super().__init__("listing", self.asking, PLAIN, DType.F32, Precision.F32)

    def source(self, name: str, shape: tuple[int, ...]) -> WeightSource:
        self.asking.shape = shape
        return super().source(name, shape)


def wanted(emit: Emit) -> dict[str, FileSlice]:
    """The weights a network asks for, in no file."""
    return dict(_asked(emit))


# Tests bind the same networks again and again.
@lru_cache(maxsize=64)
def _asked(emit: Emit) -> dict[str, FileSlice]:
    g = _Listing()
    emit(g)
    return g.asking


def random_weights(emit: Emit, seed: int = 0) -> dict[str, Array]:
    """Weights that keep activations near unit size: as a network is initialised."""
    random = np.random.default_rng(seed)
    arrays: dict[str, Array] = {}
    for name, ref in wanted(emit).items():
        drawn = random.standard_normal(ref.shape, np.float32)
        if len(ref.shape) > 1:
            arrays[name] = drawn / np.float32(np.sqrt(np.prod(ref.shape[1:])))
        else:
            is_norm_scale = "norm" in name and name.endswith("weight")
            arrays[name] = 0.1 * drawn + np.float32(is_norm_scale)
    return arrays


def graph_in_memory(
    emit: Emit,
    arrays: dict[str, Array],
    operators: OperatorSet,
    element: DType = DType.F32,
    precision: Precision = Precision.F32,
    branches: SideBranches | None = None,
) -> Graph:
    """A network with its weights in memory, in the element type."""
    # As if they followed one another in a file: an offset tells which one, and where in it.
    parts = [np.empty(0, np.float32), *(array.reshape(-1) for array in arrays.values())]
    flat = np.concatenate(parts).astype(element.numpy)
    slices: dict[str, FileSlice] = {}
    offset = 0
    for name, array in arrays.items():
        slices[name] = FileSlice(Path("nowhere"), offset, element, array.shape)
        offset += slices[name].nbytes
    g = GraphBuilder("network", slices, operators, element, precision, branches)
    emit(g)
    assert not g.unused()
    return g.build({name: ComputedArray(_read(s, flat), element) for name, s in g.used.items()})


def _read(source: WeightSource, flat: Array) -> Array:
    if isinstance(source, DerivedWeight):
        derived = np.empty(source.shape, flat.dtype)
        source.derive([_read(part, flat) for part in source.sources], derived)
        return derived
    assert isinstance(source, FileWeight)
    start = source.slice.offset // flat.itemsize
    return flat[start : start + source.elements].reshape(source.shape)


def small_unet(
    *, in_channels: int = 4, linear: bool = False, depth: int = 1, layers: int = 1
) -> UNetConfig:
    """A UNet of three levels, like SD 1's but narrow."""

    def level(width: int, heads: int, deep: int, count: int, *, resample: bool) -> UNetBlock:
        return UNetBlock(width, (deep,) * count, heads, resample)

    return UNetConfig(
        in_channels=in_channels,
        out_channels=4,
        context_width=24,
        down=(
            level(32, 2, 0, layers, resample=True),
            level(64, 4, depth, layers, resample=True),
            level(96, 4, depth, layers, resample=False),
        ),
        mid=UNetBlock(96, (depth,), 4, False),
        up=(
            level(96, 4, depth, layers + 1, resample=True),
            level(64, 4, depth, layers + 1, resample=True),
            level(32, 2, 0, layers + 1, resample=False),
        ),
        norm_groups=16,
        linear_projection=linear,
    )


def wide_unet() -> UNetConfig:
    """One level as wide as SD 1's first, where the fused kernels that have few widths serve."""
    level = UNetBlock(320, (1,), 8, False)
    return UNetConfig(
        in_channels=4,
        out_channels=4,
        context_width=24,
        down=(level,),
        mid=level,
        up=(UNetBlock(320, (1, 1), 8, False),),
    )


def sd15_unet() -> UNetConfig:
    """SD 1.5's own."""

    def block(width: int, depth: int, layers: int, *, resample: bool) -> UNetBlock:
        return UNetBlock(width, (depth,) * layers, 8, resample)

    return UNetConfig(
        in_channels=4,
        out_channels=4,
        context_width=768,
        down=(
            block(320, 1, 2, resample=True),
            block(640, 1, 2, resample=True),
            block(1280, 1, 2, resample=True),
            block(1280, 0, 2, resample=False),
        ),
        mid=block(1280, 1, 1, resample=False),
        up=(
            block(1280, 0, 3, resample=True),
            block(1280, 1, 3, resample=True),
            block(640, 1, 3, resample=True),
            block(320, 1, 3, resample=False),
        ),
    )


SMALL_VAE = VaeConfig(latent_channels=4, widths=(16, 32, 32), layers=1, norm_groups=8)
SMALL_CLIP = ClipTextConfig(vocabulary=60, width=32, mlp_width=64, layers=3, heads=4)
