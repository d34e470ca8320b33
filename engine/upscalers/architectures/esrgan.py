"""ESRGAN and its relatives: RRDBNet in the names of the first ESRGAN, of BSRGAN and of BasicSR."""

import math
import re
from functools import partial

from engine.api.sentences import sentence
from engine.graphs.upscalers.rrdb import RrdbConfig, rrdb, rrdb_body, rrdb_tail
from engine.upscalers.network import Needs, Tail, UpscalerArchitecture, UpscalerNetwork
from engine.upscalers.tensors import Tensors

# The first tensor of the blocks in each of the layouts: ESRGAN's old one, its new one (also
# BSRGAN's and RealSR's), and BasicSR's (Real-ESRGAN's).
_SIGNS = (
    "model.1.sub.0.RDB1.conv1.0.weight",
    "RRDB_trunk.0.RDB1.conv1.weight",
    "body.0.rdb1.conv1.weight",
)
_OLD = re.compile(
    r"model\.(\d{1,3})(?:\.sub\.(\d{1,4}))?(?:\.RDB(\d)\.(conv\w+?)(?:\.0)?)?\.(weight|bias)"
)
_NEW = {"trunk_conv": "conv_body", "HRconv": "conv_hr"}
_TRUNK = re.compile(r"RRDB_trunk\.(\d+)\.RDB(\d)\.")
_UNSHUFFLES = (1, 2, 4)
_MOST_DOUBLINGS = 4
_REACH = 32


def recognises(tensors: Tensors) -> bool:
    """Tell whether the tensors are an RRDBNet's."""
    return any(tensors.has(sign) for sign in _SIGNS)


def read(tensors: Tensors) -> UpscalerNetwork:
    """Read an RRDBNet. Raises EngineError(CHECKPOINT_MISMATCH)."""
    tensors = _canonical(tensors)
    width, inner, *_ = tensors.shape("conv_first.weight", 4)
    channels = tensors.picture_channels(tensors.shape("conv_last.weight", 4)[0])
    unshuffle = math.isqrt(inner // channels)
    if unshuffle not in _UNSHUFFLES or channels * unshuffle**2 != inner:
        raise tensors.misfit(sentence("its first layer has {inner} channels", inner=inner))
    doublings = 0
    while tensors.has(f"conv_up{doublings + 1}.weight"):
        doublings += 1
    if not unshuffle <= 2**doublings <= 2**_MOST_DOUBLINGS:
        raise tensors.misfit(sentence("it has {count} layers that enlarge", count=doublings))
    config = RrdbConfig(
        channels=channels,
        width=width,
        growth=tensors.shape("body.0.rdb1.conv1.weight", 4)[0],
        blocks=tensors.count("body."),
        doublings=doublings,
        unshuffle=unshuffle,
        plus=tensors.has("body.0.rdb1.conv1x1.weight"),
    )
    needs = Needs(multiple=unshuffle, reach=_REACH * unshuffle)
    # The features of a dense block, twice while they are joined, and the inputs of the network and
    # of three dense blocks.
    numbers = (2 * (width + 4 * config.growth) + 2 * width) // unshuffle**2
    tail = Tail(
        body=partial(rrdb_body, config=config),
        emit=partial(rrdb_tail, config=config),
        channels=width,
        numbers=2 * width * 4**doublings,
        shrinks=unshuffle,
    )
    emit = partial(rrdb, config=config)
    return UpscalerNetwork(channels, config.scale, emit, tensors.found, needs, numbers, tail=tail)


def _canonical(tensors: Tensors) -> Tensors:
    """Return the tensors under BasicSR's names."""
    if tensors.has(_SIGNS[2]):
        return tensors
    if tensors.has(_SIGNS[1]):
        return tensors.renamed(_from_new)
    last, trunk = tensors.count("model.") - 1, tensors.count("model.1.sub.") - 1
    return tensors.renamed(partial(_from_old, last=last, trunk=trunk))


def _from_new(name: str) -> str:
    """Return BasicSR's name for one of ESRGAN's new layout."""
    layer, _, kind = name.rpartition(".")
    if layer.startswith("upconv"):
        return f"conv_up{layer.removeprefix('upconv')}.{kind}"
    blocks = _TRUNK.sub(lambda match: f"body.{match[1]}.rdb{match[2]}.", name)
    return f"{_NEW[layer]}.{kind}" if layer in _NEW else blocks


def _from_old(name: str, last: int, trunk: int) -> str:
    """Return BasicSR's name for one of ESRGAN's old layout, a sequence of layers up to `last`.

    The blocks are numbered up to `trunk`, which is the convolution after them.
    """
    match = _OLD.fullmatch(name)
    if match is None:
        return name
    place, block, dense, conv, kind = match.groups()
    if dense is not None:
        return f"body.{block}.rdb{dense}.{conv}.{kind}"
    if block is not None:
        return f"conv_body.{kind}" if int(block) == trunk else name
    layers = {0: "conv_first", last - 2: "conv_hr", last: "conv_last"}
    if int(place) in layers:
        return f"{layers[int(place)]}.{kind}"
    # Upsampling, convolution, nonlinearity for each doubling.
    return f"conv_up{int(place) // 3}.{kind}" if int(place) % 3 == 0 else name


ARCHITECTURE = UpscalerArchitecture("ESRGAN", recognises, read)
