"""The keys of a UNet: canonical are diffusers' names; the original layout is renamed."""

import re
from collections.abc import Collection
from pathlib import Path

from engine.families.shared.keys.layout import NetworkKeys, Rename
from engine.families.shared.keys.numbering import Numbering

_RESNET = r"resnets\.\d+\.(norm[12]|conv[12]|conv_shortcut|time_emb_proj)"
_TRANSFORMER = (
    r"attentions\.\d+\.(norm|proj_in|proj_out|transformer_blocks\.\d+\."
    r"(norm[123]|attn[12]\.to_(q|k|v|out\.0)|ff\.net\.(0\.proj|2)))"
)
_GRAMMAR = re.compile(
    r"(conv_in|conv_out|conv_norm_out|(time|add)_embedding\.linear_[12]|time_embedding\.cond_proj"
    rf"|((down|up)_blocks\.\d+|mid_block)\.({_RESNET}|{_TRANSFORMER})"
    r"|down_blocks\.\d+\.downsamplers\.0\.conv|up_blocks\.\d+\.upsamplers\.0\.conv"
    r")\.(weight|bias)"
)
# The original names of modules outside the blocks, and of the layers in a residual block.
MODULES = {
    "time_embed.0": "time_embedding.linear_1",
    "time_embed.2": "time_embedding.linear_2",
    "time_embed.cond_proj": "time_embedding.cond_proj",
    "label_emb.0.0": "add_embedding.linear_1",
    "label_emb.0.2": "add_embedding.linear_2",
    "input_blocks.0.0": "conv_in",
    "out.0": "conv_norm_out",
    "out.2": "conv_out",
}
LEAVES = {
    "in_layers.0": "norm1",
    "in_layers.2": "conv1",
    "emb_layers.1": "time_emb_proj",
    "out_layers.0": "norm2",
    "out_layers.3": "conv2",
    "skip_connection": "conv_shortcut",
    "op": "conv",
}
_STACKS = ("input_blocks", "output_blocks")
_NUMBERED_TWICE = (*_STACKS, "label_emb")


def _renaming(names: Collection[str], path: Path) -> Rename:
    if not any(name.startswith(_STACKS) for name in names):
        return str
    modules = MODULES | _Structure(names, path).modules()

    def rename(name: str) -> str:
        parts = name.split(".")
        length = 3 if parts[0] in _NUMBERED_TWICE else 2
        module = modules.get(".".join(parts[:length]))
        if module is None:
            return name
        leaf, kind = ".".join(parts[length:-1]), parts[-1]
        return ".".join(part for part in (module, LEAVES.get(leaf, leaf), kind) if part)

    return rename


class _Structure:
    """The levels of a UNet in the original layout, found in its flat lists of blocks.

    `input_blocks` is one list for all levels: residual blocks, each with or without a transformer,
    and a downsampling convolution between levels. `output_blocks` ends a level with an upsampling
    convolution. So the file determines the number of levels and the blocks in each.
    """

    def __init__(self, names: Collection[str], path: Path) -> None:
        self._numbering = Numbering(names, path)
        # The name of its first submodule shows the kind of a module.
        self._kinds: dict[str, str] = {}
        for name in names:
            parts = name.split(".")
            if parts[0] in _STACKS and len(parts) > 3:
                self._kinds[".".join(parts[:3])] = parts[3]

    def modules(self) -> dict[str, str]:
        """Map the original names of modules to diffusers' names."""
        return self._down() | self._middle() | self._up()

    def _down(self) -> dict[str, str]:
        modules: dict[str, str] = {}
        level = layer = 0
        for block in range(1, self._numbering.count("input_blocks")):
            first, second = f"input_blocks.{block}.0", f"input_blocks.{block}.1"
            if self._kinds.get(first) == "op":
                modules[first] = f"down_blocks.{level}.downsamplers.0"
                level, layer = level + 1, 0
                continue
            modules[first] = f"down_blocks.{level}.resnets.{layer}"
            modules[second] = f"down_blocks.{level}.attentions.{layer}"
            layer += 1
        return modules

    def _middle(self) -> dict[str, str]:
        return {
            "middle_block.0": "mid_block.resnets.0",
            "middle_block.1": "mid_block.attentions.0",
            "middle_block.2": "mid_block.resnets.1",
        }

    def _up(self) -> dict[str, str]:
        modules: dict[str, str] = {}
        level = layer = 0
        for block in range(self._numbering.count("output_blocks")):
            modules[f"output_blocks.{block}.0"] = f"up_blocks.{level}.resnets.{layer}"
            upsampled = False
            for place in (f"output_blocks.{block}.1", f"output_blocks.{block}.2"):
                if self._kinds.get(place) == "conv":
                    modules[place] = f"up_blocks.{level}.upsamplers.0"
                    upsampled = True
                elif place in self._kinds:
                    modules[place] = f"up_blocks.{level}.attentions.{layer}"
            level, layer = (level + 1, 0) if upsampled else (level, layer + 1)
        return modules


UNET_KEYS = NetworkKeys(grammar=_GRAMMAR, leftovers=re.compile(r"model_ema\."), renaming=_renaming)
