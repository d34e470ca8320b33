"""ControlNets in files: whole ones, control-LoRAs, and those that are differences of a denoiser.

A control-LoRA (Stability AI's) has low-rank changes of the denoiser's weights where a ControlNet
has weights, as ComfyUI's `comfy/controlnet.py` (`ControlLora`) reads it. A file of differences has
a tensor `difference`, and what is to be added to the denoiser's weights (sd-webui-controlnet
`scripts/global_state.py`; ComfyUI `load_controlnet`).
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from backends.base import DType, FileSlice, OperatorSet, Precision
from engine.api.sentences import sentence
from engine.checkpoints.index import TensorIndex
from engine.control.guesses import kind_by_name, pools_by_name
from engine.control.keys import canonical_weights, is_borrowed, without_prefix
from engine.control.network import BorrowedSizes, ControlForm, ControlNetSizes, ControlNetwork
from engine.control.sizes import control_net_config
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.unet.sizes import UNetFacts
from engine.graphs.control_net import ControlNetConfig, control_net, map_embedding
from engine.graphs.operators import GraphBuilder
from engine.weights.patched import FullDifference, LowRankDifference, Patch
from engine.weights.sources import Weight, as_source
from engine.weights.stored import StoredWeight

_HINTS = ("input_hint_block.0.weight", "controlnet_cond_embedding.conv_in.weight")
_OUTPUTS = ("zero_convs.0.0.weight", "controlnet_down_blocks.0.weight")
_LORA, _DIFFERENCE = "lora_controlnet", "difference"
_UP, _DOWN, _WEIGHT = ".up", ".down", ".weight"


def read_control_net(index: TensorIndex, path: Path) -> ControlNetwork | None:
    """Read a ControlNet in any of its forms; None for other files.

    Raises EngineError where tensors are missing or contradict each other.
    """
    tensors = without_prefix(index.tensors)
    if not _has(tensors, _HINTS) or not _has(tensors, _OUTPUTS):
        return None
    if tensors.pop(_LORA, None) is not None or any(name.endswith(_DOWN) for name in tensors):
        return _control_lora(index, tensors, path)
    return _whole(index, tensors, path)


def _whole(index: TensorIndex, tensors: dict[str, FileSlice], path: Path) -> ControlNetwork:
    """Return a ControlNet that has weights, or their differences, for all of its layers."""
    differs = _DIFFERENCE in index.tensors
    tensors.pop(_DIFFERENCE, None)
    weights = canonical_weights(tensors, index.path).weights
    config = control_net_config(weights, UNetFacts(heads=None), index.path)
    require_weights(config, weights)
    form = ControlForm.UNION if config.union else ControlForm.CONTROL_NET
    linear, adds_sizes = config.encoder.linear_projection, config.encoder.added_width > 0
    changes: dict[str, Patch] = {
        name: FullDifference(as_source(weight), 1.0)
        for name, weight in weights.items()
        if differs and is_borrowed(name)
    }
    return ControlNetwork(
        path,
        form,
        _family(linear=linear, adds_sizes=adds_sizes),
        index.digest,
        {name: weight for name, weight in weights.items() if name not in changes},
        _sizes(config, path, borrows=differs),
        changes,
        kind_by_name(path) if form is ControlForm.CONTROL_NET else None,
    )


def require_weights(config: ControlNetConfig, weights: Mapping[str, Weight]) -> None:
    """Require all weights in the shapes that the graphs ask for.

    Raises EngineError(CHECKPOINT_MISMATCH).
    """
    for emit in (map_embedding, control_net):
        g = GraphBuilder("ControlNet", weights, OperatorSet(opset=20), DType.F32, Precision.F32)
        emit(g, config)


def _sizes(
    config: ControlNetConfig, path: Path, *, borrows: bool
) -> ControlNetSizes | BorrowedSizes:
    pools = pools_by_name(path)
    if borrows:
        return BorrowedSizes(config.encoder.context_width, pools)
    return ControlNetSizes(msgspec.structs.replace(config, pools=pools))


def _control_lora(
    index: TensorIndex, tensors: Mapping[str, FileSlice], path: Path
) -> ControlNetwork:
    ups, downs = (_factors(index, tensors, ending) for ending in (_UP, _DOWN))
    others = {name: tensor for name, tensor in tensors.items() if not name.endswith((_UP, _DOWN))}
    weights = canonical_weights(others, index.path, tensors).weights
    for name in ups.keys() ^ downs.keys():
        raise damaged(index.path, sentence("it has half of the change of {name!r}", name=name))
    changes: dict[str, Patch] = {}
    for name, up in ups.items():
        try:
            changes[name] = LowRankDifference(as_source(up), as_source(downs[name]), 1.0)
        except ValueError:
            what = sentence("the halves of the change of {name!r} do not fit", name=name)
            raise damaged(index.path, what) from None
    linear = all(len(down.shape) == 2 for name, down in downs.items() if ".proj_in." in name)
    adds_sizes = any(name.startswith("add_embedding.") for name in (*downs, *weights))
    texts = (down.shape[1] for name, down in downs.items() if name.endswith("attn2.to_k.weight"))
    return ControlNetwork(
        path,
        ControlForm.CONTROL_LORA,
        _family(linear=linear, adds_sizes=adds_sizes),
        index.digest,
        weights,
        BorrowedSizes(next(texts, 0), pools_by_name(path)),
        changes,
        kind_by_name(path),
    )


def _factors(
    index: TensorIndex, tensors: Mapping[str, FileSlice], ending: str
) -> Mapping[str, StoredWeight]:
    """Return factors by the canonical names of the weights that they change."""
    named = {
        name.removesuffix(ending) + _WEIGHT: tensor
        for name, tensor in tensors.items()
        if name.endswith(ending)
    }
    return canonical_weights(named, index.path, tensors).weights


def _family(*, linear: bool, adds_sizes: bool) -> str:
    """Return the family by what its UNets alone have.

    SD 1 projects by convolution, SDXL adds the picture's size to the timestep.
    """
    if not linear:
        return "sd1"
    return "sdxl" if adds_sizes else "sd2"


def _has(tensors: Mapping[str, FileSlice], names: tuple[str, ...]) -> bool:
    return any(name in tensors for name in names)
