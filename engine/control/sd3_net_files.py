"""ControlNets of Stable Diffusion 3 and 3.5 in files: diffusers' names, and Stability AI's.

Stability AI's names are those of sd3.5 (`sd3_infer.py`, `dit_embedder.py`), which ComfyUI reads.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np

from backends.base import DType, FileSlice, OperatorSet, Precision
from engine.api.preprocessors import ControlKind
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_configs import Sd3Constants, Sd3ControlFile, unusual
from engine.checkpoints.diffusers_folder import FolderPart
from engine.checkpoints.index import TensorIndex
from engine.control.guesses import kind_by_name
from engine.control.network import ControlForm, ControlNetwork, Sd3NetSizes
from engine.control.sd3_nets import BORROWED
from engine.errors import EngineError
from engine.families.checkpoint import Component
from engine.families.sd3.keys import SD3_KEYS
from engine.families.sd3.sizes import HEAD_WIDTH, places_of
from engine.families.shared.keys.layout import KeyLayout, NetworkKeys
from engine.families.shared.keys.rows import rows
from engine.families.shared.keys.shapes import Shapes, check_claims, check_divides, require_usual
from engine.graphs.control_residuals import JointForm
from engine.graphs.operators import GraphBuilder
from engine.graphs.sd3_control import Sd3ControlConfig, sd3_control
from engine.weights.sources import Weight, as_source
from engine.weights.stored import StoredWeight

_FAMILY = "sd3"
_SHOWN, _BLOCK = "pos_embed_input.proj", "transformer_blocks.0"
_SIGNS = f"{_SHOWN}.weight", "controlnet_blocks.0.weight"
# The places of tokens, and a layer that reads the text; Stability AI's modulation of a block.
_PLACES, _READS_TEXT = "pos_embed.pos_embed", f"{_BLOCK}.attn.add_k_proj.weight"
_ORIGINAL = f"{_BLOCK}.adaLN_modulation.1.weight"
# The tensor with the number of a kind of maps (`ControlNetEmbedder`).
_TYPE = "control_type"
_KINDS = ControlKind.TILE, ControlKind.CANNY, ControlKind.DEPTH
_PREFIX = "controlnet."
_LAYERS = {
    ".adaLN_modulation.1.": ".norm1.linear.",
    ".attn.proj.": ".attn.to_out.0.",
    ".mlp.fc1.": ".ff.net.0.proj.",
    ".mlp.fc2.": ".ff.net.2.",
}
_LAYER, _QKV = re.compile("|".join(map(re.escape, _LAYERS))), ".attn.qkv."
_GRAMMAR = re.compile(
    rf"(?:{SD3_KEYS.grammar.pattern})"
    r"|(pos_embed_input\.proj|controlnet_blocks\.\d+)\.(weight|bias)"
)


def _unpacked(tensors: Mapping[str, StoredWeight], path: Path) -> Mapping[str, StoredWeight]:
    """Rename the layers of Stability AI's blocks, and cut queries, keys and values apart."""
    if _ORIGINAL not in tensors:
        return SD3_KEYS.unpacked(tensors, path)
    found: dict[str, StoredWeight] = {}
    for name, tensor in tensors.items():
        if _QKV in name:
            names = [name.replace(_QKV, f".attn.to_{part}.") for part in "qkv"]
            width = tensor.shape[0] // 3 if tensor.shape else 0
            found |= rows(names, name, tensor, width, path)
        else:
            found[_LAYER.sub(lambda match: _LAYERS[match[0]], name)] = tensor
    return found


_LAYOUT = KeyLayout(
    labels={Component.DENOISER: sentence("ControlNet")},
    networks={
        Component.DENOISER: NetworkKeys(
            grammar=_GRAMMAR,
            leftovers=re.compile(r"(?!)"),
            renaming=SD3_KEYS.renaming,
            unpacked=_unpacked,
        )
    },
    prefixes={},
)


def read_sd3_net(index: TensorIndex, path: Path) -> ControlNetwork | None:
    """Read a ControlNet of SD 3 or 3.5; None for other files.

    Raises EngineError where tensors are missing or contradict each other, and for a network that
    takes more than a map and its mask.
    """
    tensors = {name.removeprefix(_PREFIX): tensor for name, tensor in index.tensors.items()}
    if not all(name in tensors for name in _SIGNS):
        return None
    stated = _stated_kind(tensors.pop(_TYPE, None))
    found = _LAYOUT.canonical(Component.DENOISER, tensors, index.path).weights
    weights = {
        name: tensor for name, tensor in found.items() if _PLACES in found or name not in BORROWED
    }
    config = _config(weights, index.path)
    _require_weights(config, weights)
    sizes = Sd3NetSizes(config, ControlKind.INPAINT if config.sees_mask else stated)
    return ControlNetwork(
        path,
        ControlForm.CONTROL_NET,
        _FAMILY,
        index.digest,
        weights,
        sizes,
        kind=sizes.kind or kind_by_name(path),
    )


def with_sd3_settings(network: ControlNetwork, part: FolderPart) -> ControlNetwork:
    """Return a ControlNet of SD 3 with the settings of its folder; another one as it is.

    Raises EngineError: CHECKPOINT_UNKNOWN_FAMILY for a setting that is not run,
    CHECKPOINT_MISMATCH for one that the weights contradict.
    """
    if not isinstance(network.sizes, Sd3NetSizes):
        return network
    file, stated = part.path / "config.json", part.config(Sd3ControlFile)
    advice = sentence("Choose another version of the ControlNet.")
    require_usual(file, unusual(stated, Sd3Constants), advice)
    config = network.sizes.config
    width = stated.num_attention_heads * stated.attention_head_dim
    text = stated.joint_attention_dim
    check_claims(
        file,
        (
            ("num_attention_heads x attention_head_dim", width, config.width),
            ("num_layers", stated.num_layers, config.blocks),
            ("joint_attention_dim", text, config.context_width or None),
            ("pooled_projection_dim", stated.pooled_projection_dim, config.pooled_width),
            ("use_pos_embed", stated.use_pos_embed, not config.borrows_tokens),
        ),
    )
    ignores = stated.force_zeros_for_pooled_projection
    config = msgspec.structs.replace(
        config, heads=stated.num_attention_heads, ignores_pooled=ignores
    )
    return msgspec.structs.replace(
        network, sizes=msgspec.structs.replace(network.sizes, config=config)
    )


def _stated_kind(number: FileSlice | None) -> ControlKind | None:
    """Return the kind of maps that a file states; None for none, or for one that is not known."""
    if number is None or number.elements != 1 or number.dtype not in (DType.I32, DType.I64):
        return None
    told = int(np.asarray(as_source(number).read()).reshape(-1)[0])
    return _KINDS[told] if 0 <= told < len(_KINDS) else None


def _config(weights: Mapping[str, Weight], path: Path) -> Sd3ControlConfig:
    """Read the sizes. Raises EngineError: CHECKPOINT_CORRUPT for inconsistent shapes."""
    shapes = Shapes(weights, path)
    width, shown, *side = shapes.of(f"{_SHOWN}.weight", 4)
    joint, borrows = _READS_TEXT in shapes, _PLACES not in shapes
    channels = shown if borrows else shapes.of("pos_embed.proj.weight", 4)[1]
    if shown - channels not in (0, 1):
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            sentence("{path} is a ControlNet of a kind that is not run.", path=path.name),
            sentence("Choose a ControlNet for the model's family."),
        )
    norm = f"{_BLOCK}.attn.norm_q.weight"
    head = shapes.of(norm, 1)[0] if norm in shapes else HEAD_WIDTH
    check_divides(path, width, head, "numbers of a head")
    blocks = shapes.blocks("transformer_blocks", "norm1.linear.weight")
    return Sd3ControlConfig(
        channels=channels,
        width=width,
        heads=width // head,
        mlp_width=shapes.of(f"{_BLOCK}.ff.net.0.proj.weight", 2)[0],
        context_width=shapes.of("context_embedder.weight", 2)[1] if joint else 0,
        pooled_width=shapes.of("time_text_embed.text_embedder.linear_1.weight", 2)[1],
        blocks=blocks,
        places=0 if borrows else places_of(shapes, side),
        normalised=norm in shapes,
        dual_blocks=tuple(
            n for n in range(blocks) if f"transformer_blocks.{n}.attn2.to_q.weight" in shapes
        ),
        joint=joint,
        ignores_pooled=joint,
        borrows_tokens=borrows,
        sees_mask=shown > channels,
    )


def _require_weights(config: Sd3ControlConfig, weights: Mapping[str, Weight]) -> None:
    """Require all weights in the shapes that the graph asks for.

    Raises EngineError(CHECKPOINT_MISMATCH).
    """
    # What the network borrows has the shapes of the layer for maps.
    stand_ins = {name: weights[name.replace("pos_embed", "pos_embed_input")] for name in BORROWED}
    whole = {**stand_ins, **weights}
    g = GraphBuilder("ControlNet", whole, OperatorSet(opset=20), DType.F32, Precision.F32)
    sd3_control(g, config, JointForm(config.blocks, 0))
