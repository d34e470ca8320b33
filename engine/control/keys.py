"""The keys of ControlNets: canonical are diffusers' names; the original layout is renamed.

The original is that of `cldm/cldm.py` (Zhang et al. 2023), with or without its prefix. A union has
its author's names in both.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from backends.base import FileSlice
from engine.api.sentences import sentence
from engine.families.checkpoint import Component
from engine.families.shared.keys.layout import CanonicalWeights, KeyLayout, NetworkKeys, Rename
from engine.families.shared.unet.keys import UNET_KEYS

_PREFIX = "control_model."
_HINT = re.compile(r"input_hint_block\.(\d+)\.(weight|bias)")
_ZERO = re.compile(r"zero_convs\.(\d+)\.0\.(weight|bias)")
_LAYER = r"transformer_layes\.\d+\.(attn\.out_proj|ln_[12]|mlp\.c_fc|mlp\.c_proj)"
_GRAMMAR = re.compile(
    rf"(?:{UNET_KEYS.grammar.pattern})"
    r"|(controlnet_cond_embedding\.(conv_in|conv_out|blocks\.\d+)"
    r"|controlnet_down_blocks\.\d+|controlnet_mid_block"
    rf"|control_add_embedding\.linear_[12]|spatial_ch_projs|{_LAYER})\.(weight|bias)"
    r"|transformer_layes\.\d+\.attn\.in_proj_(weight|bias)|task_embedding"
)


def _renaming(names: Collection[str], path: Path) -> Rename:
    of_unet = UNET_KEYS.renaming(names, path)
    hints = [int(match[1]) for match in map(_HINT.fullmatch, names) if match]
    last = max(hints, default=0)

    def rename(name: str) -> str:
        if hint := _HINT.fullmatch(name):
            # Convolutions and activations in turn: the even numbers are convolutions.
            number = int(hint[1])
            inner = f"blocks.{number // 2 - 1}" if number % 2 == 0 else f"{number}"
            place = {0: "conv_in", last: "conv_out"}.get(number, inner)
            return f"controlnet_cond_embedding.{place}.{hint[2]}"
        if zero := _ZERO.fullmatch(name):
            return f"controlnet_down_blocks.{zero[1]}.{zero[2]}"
        if name.startswith("middle_block_out.0."):
            return name.replace("middle_block_out.0", "controlnet_mid_block", 1)
        return of_unet(name)

    return rename


def _layout(rename: Rename) -> KeyLayout:
    keys = NetworkKeys(
        grammar=_GRAMMAR, leftovers=re.compile(r"(?!)"), renaming=lambda _, __: rename
    )
    return KeyLayout(
        labels={Component.DENOISER: sentence("ControlNet")},
        networks={Component.DENOISER: keys},
        prefixes={},
    )


def without_prefix(tensors: Mapping[str, FileSlice]) -> dict[str, FileSlice]:
    """Return a ControlNet's tensors without their prefix, and none of a checkpoint beside it."""
    inside = {
        name.removeprefix(_PREFIX): tensor
        for name, tensor in tensors.items()
        if name.startswith(_PREFIX)
    }
    return inside or dict(tensors)


def is_borrowed(name: str) -> bool:
    """Tell whether a weight by its canonical name is one that a ControlNet copies from a UNet."""
    return UNET_KEYS.grammar.fullmatch(name) is not None


def canonical_weights(
    tensors: Mapping[str, FileSlice], path: Path, whole: Collection[str] = ()
) -> CanonicalWeights:
    """Return a ControlNet's weights, given without prefix, by diffusers' names.

    `whole` has the names of all tensors, if these are some of them: they show the levels. Raises
    EngineError as `KeyLayout.canonical`.
    """
    layout = _layout(_renaming(whole or tensors, path))
    return layout.canonical(Component.DENOISER, tensors, path)
