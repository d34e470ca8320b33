"""ControlNets of Flux.1 in files: diffusers' names (InstantX, Shakker Labs, alimama), and XLabs'.

XLabs' code is `src/flux/controlnet.py` of x-flux; ComfyUI reads both (`comfy/controlnet.py`,
`load_controlnet_flux_instantx` and `load_controlnet_flux_xlabs_mistoline`).
"""

import re
from collections.abc import Mapping
from pathlib import Path

from backends.base import DType, OperatorSet, Precision
from engine.api.preprocessors import ControlKind
from engine.api.sentences import sentence
from engine.checkpoints.index import TensorIndex
from engine.control.guesses import kind_by_name
from engine.control.network import ControlForm, ControlNetwork
from engine.families.checkpoint import Component
from engine.families.shared.flux.keys import FLUX_KEYS, JOINED, LAYERS, MODULES, FluxNames
from engine.families.shared.keys.layout import KeyLayout, NetworkKeys
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.keys.shapes import Shapes, check_divides
from engine.graphs.flux import PATCH
from engine.graphs.flux_control import FluxControlConfig, flux_control, map_tokens
from engine.graphs.operators import GraphBuilder
from engine.weights.sources import Weight

_FAMILY = "flux1"
_SIGNS = (
    ("controlnet_x_embedder.weight", "transformer_blocks.0.attn.add_q_proj.weight"),
    ("pos_embed_input.weight", "double_blocks.0.img_attn.qkv.weight"),
)
_PREFIX = "controlnet."
_HINT = re.compile(r"input_hint_block\.(\d+)\.(weight|bias)")
# The place of the last convolution among XLabs' layers, which are convolutions and SiLU in turn.
_LAST_HINT = 14
_GRAMMAR = re.compile(
    rf"(?:{FLUX_KEYS.grammar.pattern})"
    r"|(controlnet_x_embedder|controlnet_(single_)?blocks\.\d+"
    r"|input_hint_block\.(conv_in|conv_out|blocks\.\d+))\.(weight|bias)"
    r"|controlnet_mode_embedder\.weight"
)
_NAMES = FluxNames(
    {**MODULES, "pos_embed_input.": "controlnet_x_embedder."}, LAYERS, JOINED, measure="bias"
)
_LAYOUT = KeyLayout(
    labels={Component.DENOISER: sentence("ControlNet")},
    networks={
        Component.DENOISER: NetworkKeys(
            grammar=_GRAMMAR,
            leftovers=re.compile(r"(?!)"),
            renaming=FLUX_KEYS.renaming,
            unpacked=_NAMES.unpacked,
        )
    },
    prefixes={},
)


def read_flux_net(index: TensorIndex, path: Path) -> ControlNetwork | None:
    """Read a ControlNet of Flux.1; None for other files.

    Raises EngineError where tensors are missing or contradict each other.
    """
    tensors = {name.removeprefix(_PREFIX): tensor for name, tensor in index.tensors.items()}
    if not any(all(name in tensors for name in names) for names in _SIGNS):
        return None
    renamed = {_HINT.sub(_hint_name, name): tensor for name, tensor in tensors.items()}
    weights = _LAYOUT.canonical(Component.DENOISER, renamed, index.path).weights
    config = _config(weights, index.path)
    _require_weights(config, weights)
    return ControlNetwork(
        path,
        ControlForm.UNION if config.modes else ControlForm.CONTROL_NET,
        _FAMILY,
        index.digest,
        weights,
        config,
        kind=_kind(config, path),
    )


def _kind(config: FluxControlConfig, path: Path) -> ControlKind | None:
    """Return the kind of a network's maps, as far as tensors or names tell it."""
    if config.modes:
        return None
    return ControlKind.INPAINT if config.sees_mask else kind_by_name(path)


def _hint_name(match: re.Match[str]) -> str:
    number = int(match[1])
    place = {0: "conv_in", _LAST_HINT: "conv_out"}.get(number, f"blocks.{number // 2 - 1}")
    return f"input_hint_block.{place}.{match[2]}"


def _config(weights: Mapping[str, Weight], path: Path) -> FluxControlConfig:
    """Read the sizes. Raises EngineError(CHECKPOINT_CORRUPT) for inconsistent shapes."""
    shapes = Shapes(weights, path)
    width, channels = shapes.of("x_embedder.weight", 2)
    head = shapes.of("transformer_blocks.0.attn.norm_q.weight", 1)[0]
    check_divides(path, width, head, "numbers of a head")
    check_divides(path, head, 32, "numbers of the coordinates")
    given = shapes.of("controlnet_x_embedder.weight", 2)[1]
    mode, embedded = "controlnet_mode_embedder.weight", "time_text_embed"
    embeds_pixels = "input_hint_block.conv_in.weight" in shapes
    # The mask has a number for each cell of a token.
    sees_mask = given == channels + PATCH**2 and mode not in shapes and not embeds_pixels
    if given != channels and not sees_mask:
        raise damaged(path, sentence("it takes {count} numbers of a map", count=given))
    return FluxControlConfig(
        in_channels=channels,
        out_channels=channels,
        width=width,
        heads=width // head,
        mlp_width=shapes.of("transformer_blocks.0.ff.net.0.proj.weight", 2)[0],
        context_width=shapes.of("context_embedder.weight", 2)[1],
        double_blocks=shapes.blocks("transformer_blocks", "attn.norm_q.weight"),
        single_blocks=shapes.count("single_transformer_blocks"),
        axes=(head // 8, head * 7 // 16, head * 7 // 16),
        pooled_width=shapes.of(f"{embedded}.text_embedder.linear_1.weight", 2)[1],
        takes_guidance=f"{embedded}.guidance_embedder.linear_1.weight" in shapes,
        modes=shapes.of(mode, 2)[0] if mode in shapes else 0,
        embeds_pixels=embeds_pixels,
        sees_mask=sees_mask,
    )


def _require_weights(config: FluxControlConfig, weights: Mapping[str, Weight]) -> None:
    """Require all weights in the shapes that the graphs ask for.

    Raises EngineError(CHECKPOINT_MISMATCH).
    """
    for emit in (flux_control, *([map_tokens] if config.embeds_pixels else [])):
        g = GraphBuilder("ControlNet", weights, OperatorSet(opset=20), DType.F32, Precision.F32)
        emit(g, config)
