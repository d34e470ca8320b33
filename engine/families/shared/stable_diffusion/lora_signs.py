"""Recognising the Stable Diffusion family that a LoRA file was made for, by names and sizes."""

import re
from collections.abc import Iterator

import msgspec

from engine.families.shared.clip.lora_signs import clip_facts

_CONTEXT = re.compile(r"attn2_to_[kv] \[[\d?]+,(\d+)\]")
# The levels of a UNet, by diffusers' names; in the original layout three blocks make a level.
_LEVEL = re.compile(r"(?:down|up)_blocks_(\d)_(?:attentions|resnets|downsamplers|upsamplers)_")
_BLOCK = re.compile(r"(?:input|output)_blocks_(\d+)_[012]_")
_FIRST_ATTENTION = re.compile(r"(?:down_blocks_0_attentions_\d|input_blocks_[12]_1)_")
_DEPTH = re.compile(
    r"(?:attentions_\d|(?:input|output)_blocks_\d+_1|middle_block_1)_transformer_blocks_(\d+)_"
)
_CONVOLUTION = re.compile(
    r"(?:attentions_\d|put_blocks_\d+_1|middle_block_1)_proj_(?:in|out) \[[\d?]+,[\d?]+\] 4d"
)
_BLOCKS_OF_A_LEVEL = 3


class LoraSigns(msgspec.Struct, frozen=True):
    """The sizes of a family's networks that show in LoRA files.

    `levels` is the number of the UNet's levels, `depth` the most transformer blocks in a row;
    `attends_first` tells of attention at the first level, `convolutional` of projections by
    convolution.
    """

    context_width: int
    text_widths: tuple[int, ...]
    levels: int = 4
    depth: int = 1
    attends_first: bool = False
    convolutional: bool = False

    def evidence(self, listing: str) -> str | None:
        """Return the evidence that a listing is of this family; None without, or against it."""
        found = _CONTEXT.search(listing)
        if found:
            width = int(found[1])
            return f"context {width} wide" if width == self.context_width else None
        facts = list(self._facts(listing))
        return (
            "; ".join(words for words, _ in facts) if facts and all(f[1] for f in facts) else None
        )

    def _facts(self, listing: str) -> Iterator[tuple[str, bool]]:
        """Yield each fact that tells families apart, and True where it holds for this one."""
        if _FIRST_ATTENTION.search(listing):
            yield "attention at the first level", self.attends_first
        depth = 1 + max((int(found[1]) for found in _DEPTH.finditer(listing)), default=0)
        if depth > 1:
            yield f"{depth} transformer blocks in a row", depth <= self.depth
        levels = _levels(listing)
        if levels > _BLOCKS_OF_A_LEVEL:
            yield f"a UNet of {levels} levels", levels <= self.levels
        # Of a linear layer and of some types' factors for a convolution the tensors look alike.
        if self.attends_first and _CONVOLUTION.search(listing):
            yield "projections by convolution", self.convolutional
        yield from clip_facts(listing, self.text_widths)


def _levels(listing: str) -> int:
    levels = (int(found[1]) for found in _LEVEL.finditer(listing))
    blocks = (int(found[1]) for found in _BLOCK.finditer(listing))
    numbers = (*levels, *(block // _BLOCKS_OF_A_LEVEL for block in blocks))
    return 1 + max(numbers, default=-1)
