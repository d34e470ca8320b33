"""ControlNet-LLLites in files (kohya-ss, sd-scripts): modules by the names of SDXL's layers."""

import re
from pathlib import Path

from backends.base import DType, OperatorSet, Precision
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.index import TensorIndex
from engine.control.guesses import kind_by_name
from engine.control.network import ControlForm, ControlNetwork, LlliteSizes
from engine.errors import EngineError
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.keys.shapes import Shapes
from engine.graphs.lllite import LlliteModule, lllite_embedding
from engine.graphs.operators import GraphBuilder

PREFIX = "lllite_unet_"
_TENSOR = re.compile(
    rf"({PREFIX}\w+)\.(?:conditioning1\.(?:0|2|4)|down\.0|mid\.0|up\.0)\.(?:weight|bias)"
)
_LAYER = re.compile(r"\w+_transformer_blocks_\d+_attn[12]_to_[qkv]")
_FAMILY = "sdxl"


def read_lllite(index: TensorIndex, path: Path) -> ControlNetwork | None:
    """Read a ControlNet-LLLite; None for other files.

    Raises EngineError: CHECKPOINT_UNKNOWN_FAMILY for modules elsewhere than before attention,
    CHECKPOINT_CORRUPT for missing tensors.
    """
    if not any(name.startswith(PREFIX) for name in index.tensors):
        return None
    names = dict[str, None]()
    for tensor in index.tensors:
        match = _TENSOR.fullmatch(tensor)
        if match is None or not _LAYER.fullmatch(match[1].removeprefix(PREFIX)):
            raise _unknown(index.path, tensor)
        names[match[1]] = None
    shapes = Shapes(index.tensors, index.path)
    modules = tuple(_module(shapes, name) for name in names)
    plain = OperatorSet(opset=20)
    g = GraphBuilder("ControlNet-LLLite", index.tensors, plain, DType.F32, Precision.F32)
    lllite_embedding(g, modules, {})
    return ControlNetwork(
        path,
        ControlForm.LLLITE,
        _FAMILY,
        index.digest,
        dict(index.tensors),
        LlliteSizes(modules),
        kind=kind_by_name(path),
    )


def _module(shapes: Shapes, name: str) -> LlliteModule:
    places = (0, 2, 4) if f"{name}.conditioning1.4.weight" in shapes else (0, 2)
    convolutions = [shapes.of(f"{name}.conditioning1.{place}.weight", 4) for place in places]
    inner, width = shapes.of(f"{name}.down.0.weight", 2)
    if shapes.of(f"{name}.up.0.weight", 2) != (width, inner):
        raise damaged(shapes.path, sentence("the parts of {name!r} do not fit", name=name))
    for part, length in (("down", inner), ("up", width)):
        if shapes.of(f"{name}.{part}.0.bias", 1) != (length,):
            raise damaged(shapes.path, sentence("the parts of {name!r} do not fit", name=name))
    return LlliteModule(
        name,
        name.removeprefix(PREFIX),
        tuple(shape[2] for shape in convolutions),
        tuple(shape[0] for shape in convolutions),
        inner,
    )


def _unknown(path: Path, tensor: str) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence(
            "The ControlNet-LLLite {path} has a part this version does not know: {name!r}.",
            path=path.name,
            name=tensor,
        ),
        sentence("Choose one whose modules stand before attention, as kohya's own do."),
    )
