"""T2I-Adapters in files: TencentARC's original names, and diffusers'.

The original numbers all residual blocks in a row (`ldm/modules/encoders/adapter.py`); a level of
the light adapter has its own. Which levels halve their image is not in the file: all after the
first, but in SDXL's only the third.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from backends.base import DType, OperatorSet, Precision
from engine.api.sentences import sentence
from engine.checkpoints.index import TensorIndex
from engine.control.guesses import kind_by_name
from engine.control.network import ControlForm, ControlNetwork
from engine.families.checkpoint import Component
from engine.families.shared.keys.layout import KeyLayout, NetworkKeys, Rename
from engine.families.shared.keys.numbering import Numbering, damaged
from engine.families.shared.keys.shapes import Shapes
from engine.graphs.operators import GraphBuilder
from engine.graphs.t2i_adapter import AdapterBlock, AdapterConfig, t2i_adapter
from engine.weights.sources import Weight

_PREFIX = "adapter."
_LEVELS = 4
# Channels of pictures, and the pixels along a side of a cell that become channels.
_COLOURS, _UNSHUFFLES = (3, 1), {8: "sd1", 16: "sdxl"}
# The level of SDXL's adapter that halves its image.
_HALVED_IN_SDXL = 2
# Places of the images among the blocks of a denoiser, counted from the middle, where Forge's code
# has them; SDXL's last image enters the middle itself, which has the weight of the third place.
_PLACES = {"sd1": (3, 6, 9, 12), "sdxl": (6, 8, 11, 3)}
_GRAMMAR = re.compile(
    r"adapter\.(conv_in|body\.\d+\.(in_conv|out_conv|down_opt\.op|resnets\.\d+\.block[12]))"
    r"\.(weight|bias)"
)
_SIGNS = ("body.0.resnets.0.block1.weight", "body.0.block1.weight", "body.0.body.0.block1.weight")
_BODY = re.compile(r"body\.(\d+)\.(.+)")
_LIGHT = re.compile(r"body\.(\d+)\.(.+)")


def image_places(family: str) -> tuple[int, ...]:
    """Return the places of an adapter's images, outermost first, by which Forge weakens them."""
    return _PLACES[family]


def read_adapter(index: TensorIndex, path: Path) -> ControlNetwork | None:
    """Read a T2I-Adapter; None for other files.

    Raises EngineError where tensors are missing or contradict each other.
    """
    tensors = {name.removeprefix(_PREFIX): tensor for name, tensor in index.tensors.items()}
    if not any(name in tensors for name in _SIGNS):
        return None
    weights = _LAYOUT.canonical(Component.DENOISER, tensors, index.path).weights
    config = _config(weights, index.path)
    g = GraphBuilder("T2I-Adapter", weights, OperatorSet(opset=20), DType.F32, Precision.F32)
    t2i_adapter(g, config)
    return ControlNetwork(
        path,
        ControlForm.ADAPTER,
        _UNSHUFFLES[config.unshuffle],
        index.digest,
        weights,
        config,
        kind=kind_by_name(path),
    )


def _renaming(names: Collection[str], path: Path) -> Rename:
    if any(".resnets." in name for name in names):
        return _PREFIX.__add__
    if any(name.startswith("body.0.body.") for name in names):
        return lambda name: _PREFIX + name.replace(".body.", ".resnets.", 1)
    layers = max(1, Numbering(names, path).count("body") // _LEVELS)

    def rename(name: str) -> str:
        match = _BODY.fullmatch(name)
        if match is None:
            return _PREFIX + name
        level, layer = divmod(int(match[1]), layers)
        inner = f"resnets.{layer}." if match[2].startswith("block") else ""
        return f"{_PREFIX}body.{level}.{inner}{match[2]}"

    return rename


_LAYOUT = KeyLayout(
    labels={Component.DENOISER: sentence("T2I-Adapter")},
    networks={
        Component.DENOISER: NetworkKeys(
            grammar=_GRAMMAR, leftovers=re.compile(r"(?!)"), renaming=_renaming
        )
    },
    prefixes={},
)


def _config(weights: Mapping[str, Weight], path: Path) -> AdapterConfig:
    shapes = Shapes(weights, path)
    light = "adapter.conv_in.weight" not in shapes
    first = "adapter.body.0.in_conv.weight" if light else "adapter.conv_in.weight"
    inner = shapes.of(first, 4)[1]
    fits = ((c, f) for f in _UNSHUFFLES for c in _COLOURS if c * f * f == inner)
    channels, unshuffle = next(fits, (0, 0))
    if not channels:
        raise damaged(path, sentence("its first layer takes {inner} channels", inner=inner))
    levels = shapes.blocks("adapter.body", "resnets.0.block1.weight")
    blocks = (_block(shapes, level, unshuffle, light=light) for level in range(levels))
    kernel = shapes.of("adapter.body.0.resnets.0.block2.weight", 4)[2]
    return AdapterConfig(tuple(blocks), channels, unshuffle, kernel, light)


def _block(shapes: Shapes, level: int, unshuffle: int, *, light: bool) -> AdapterBlock:
    name = f"adapter.body.{level}"
    inner = shapes.of(f"{name}.resnets.0.block1.weight", 4)[0]
    return AdapterBlock(
        width=shapes.of(f"{name}.out_conv.weight", 4)[0] if light else inner,
        inner=inner,
        layers=shapes.count(f"{name}.resnets"),
        halves=level > 0 if _UNSHUFFLES[unshuffle] == "sd1" else level == _HALVED_IN_SDXL,
        strided=f"{name}.down_opt.op.weight" in shapes,
    )
