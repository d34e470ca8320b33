"""Weights of a LoRA by block of the denoiser, as sd-webui-lora-block-weight reads `lbw=`.

The lists, the presets and their names are those of github.com/hako-mikan/sd-webui-lora-block-weight
(`scripts/lora_block_weight.py`). BASE stands for the text encoders; IN, M and OUT for the blocks of
the denoiser under the names of the original implementation, where SD 1 has IN00 to IN11 and SDXL
IN00 to IN08. What belongs to no block, such as the time embedding, keeps its weight.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

BASE = "BASE"
_IN = tuple(f"IN{number:02}" for number in range(12))
_OUT = tuple(f"OUT{number:02}" for number in range(12))
BLOCKS = (BASE, *_IN, "M00", *_OUT)


def _named(names: str) -> tuple[str, ...]:
    return tuple(names.split())


# The blocks of lists of other lengths: of a LoRA of linear layers and of one of all layers, for
# SDXL and for SD 1. Blocks that a list leaves out have weight 0.
_FORMS: Mapping[int, tuple[str, ...]] = {
    12: _named("BASE IN04 IN05 IN07 IN08 M00 OUT00 OUT01 OUT02 OUT03 OUT04 OUT05"),
    17: _named(
        "BASE IN01 IN02 IN04 IN05 IN07 IN08 M00 "
        "OUT03 OUT04 OUT05 OUT06 OUT07 OUT08 OUT09 OUT10 OUT11"
    ),
    20: (BASE, *_IN[:9], "M00", *_OUT[:9]),
    26: BLOCKS,
}
_PRESETS: Mapping[str, str] = {
    "NONE": "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
    "ALL": "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
    "INS": "1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0",
    "IND": "1,0,0,0,1,1,1,0,0,0,0,0,0,0,0,0,0",
    "INALL": "1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0",
    "MIDD": "1,0,0,0,1,1,1,1,1,1,1,1,0,0,0,0,0",
    "OUTD": "1,0,0,0,0,0,0,0,1,1,1,1,0,0,0,0,0",
    "OUTS": "1,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1",
    "OUTALL": "1,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1",
    "ALL0.5": ",".join(["0.5"] * 17),
}
# A weight that the tag's `x=` gives, with a number added or subtracted.
_INHERITED = re.compile(r"X(?:([+-])(\d+(?:\.\d*)?|\.\d+))?")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
_RANDOM = frozenset({"R", "U"})
# As far as a strength may go.
_MOST = 100.0


@dataclass(frozen=True, slots=True)
class BlockWeights:
    """The weight of each of `BLOCKS`; `text` is the list or preset as it was written."""

    weights: tuple[float, ...]
    text: str

    def factor(self, block: str | None) -> float:
        """Return the factor of a LoRA's strength in a block; 1 for what is in none."""
        return 1.0 if block is None else self.weights[BLOCKS.index(block)]


def is_block_text(text: str) -> bool:
    """True for a preset's name, or for a list of as many weights as there are blocks."""
    return text in _PRESETS or text.count(",") + 1 in _FORMS


def block_weights(text: str, inherited: float = 1.0) -> BlockWeights | str:
    """Return the weights that `lbw=` names; `inherited` replaces X.

    Returns the reason as the end of a sentence if the text names none.
    """
    listed = [part.strip() for part in _PRESETS.get(text, text).split(",")]
    blocks = _FORMS.get(len(listed))
    if len(listed) == 1:
        return f"there is no preset called {text[:40]!r}"
    if blocks is None:
        return f"{len(listed)} weights are given, and {_lengths()} are possible"
    if _RANDOM & {*listed}:
        return "weights that are drawn at random (R and U) are not supported"
    given: dict[str, float] = {}
    for block, part in zip(blocks, listed, strict=True):
        weight = _weight(part, inherited)
        if weight is None:
            return f"{part[:20]!r} is no weight"
        given[block] = weight
    return BlockWeights(tuple(given.get(block, 0.0) for block in BLOCKS), text)


def _weight(text: str, inherited: float) -> float | None:
    if _NUMBER.fullmatch(text):
        weight = float(text)
    elif found := _INHERITED.fullmatch(text):
        added = float(found[2]) if found[1] else 0.0
        weight = inherited - added if found[1] == "-" else inherited + added
    else:
        return None
    return weight if abs(weight) <= _MOST else None


def _lengths() -> str:
    *most, last = map(str, _FORMS)
    return f"{', '.join(most)} or {last}"
