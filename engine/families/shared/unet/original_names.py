"""The original names of a UNet's layers, made from its structure under diffusers' names.

`engine.families.shared.unet.keys` has the opposite direction, for files in the original layout.
"""

import re
from collections.abc import Collection, Iterator

from engine.families.shared.unet.keys import LEAVES, MODULES

_OUTSIDE = {canonical: original for original, canonical in MODULES.items()}
# The names of layers within a residual block, whose inverse is unique.
_WITHIN = {leaf: original for original, leaf in LEAVES.items()}
_BLOCK = re.compile(
    r"(?P<module>(?P<block>(down|up)_blocks\.\d+|mid_block)\.(?P<kind>[a-z]+)\.\d+)\.(?P<leaf>.+)"
)


def original_layers(layers: Collection[str]) -> dict[str, str]:
    """Map the layers of a UNet, by diffusers' names without `.weight`, to their original names.

    A layer that the original layout does not have is left out.
    """
    modules = dict(_numbered(layers))
    names: dict[str, str] = {}
    for layer in layers:
        match = _BLOCK.fullmatch(layer)
        if match is None:
            if layer in _OUTSIDE:
                names[layer] = _OUTSIDE[layer]
        elif match["module"] in modules:
            leaf = _leaf(match["module"], match["kind"], match["leaf"])
            names[layer] = f"{modules[match['module']]}.{leaf}"
    return names


def _leaf(module: str, kind: str, leaf: str) -> str:
    if kind == "resnets" or module.endswith(".downsamplers.0"):
        return _WITHIN.get(leaf, leaf)
    return leaf


def _numbered(layers: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each module's name and original name: the lists of blocks are flat there."""
    modules = {match["module"] for layer in layers if (match := _BLOCK.fullmatch(layer))}
    number, level = 1, 0
    while (block := f"down_blocks.{level}") and f"{block}.resnets.0" in modules:
        for layer in range(_count(modules, f"{block}.resnets")):
            yield f"{block}.resnets.{layer}", f"input_blocks.{number}.0"
            yield f"{block}.attentions.{layer}", f"input_blocks.{number}.1"
            number += 1
        if f"{block}.downsamplers.0" in modules:
            yield f"{block}.downsamplers.0", f"input_blocks.{number}.0"
            number += 1
        level += 1
    yield "mid_block.resnets.0", "middle_block.0"
    yield "mid_block.attentions.0", "middle_block.1"
    yield "mid_block.resnets.1", "middle_block.2"
    yield from _numbered_up(modules)


def _numbered_up(modules: Collection[str]) -> Iterator[tuple[str, str]]:
    number = level = 0
    while (block := f"up_blocks.{level}") and f"{block}.resnets.0" in modules:
        count = _count(modules, f"{block}.resnets")
        for layer in range(count):
            attends = f"{block}.attentions.{layer}" in modules
            yield f"{block}.resnets.{layer}", f"output_blocks.{number}.0"
            yield f"{block}.attentions.{layer}", f"output_blocks.{number}.1"
            if layer == count - 1:
                yield f"{block}.upsamplers.0", f"output_blocks.{number}.{1 + attends}"
            number += 1
        level += 1


def _count(modules: Collection[str], prefix: str) -> int:
    number = 0
    while f"{prefix}.{number}" in modules:
        number += 1
    return number
