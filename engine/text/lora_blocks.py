"""Weights of a LoRA by block of the denoiser, as sd-webui-lora-block-weight reads `lbw=`.

The lists, the presets and their names are those of github.com/hako-mikan/sd-webui-lora-block-weight
(`scripts/lora_block_weight.py`). BASE stands for the text encoders; IN, M and OUT for the blocks of
the denoiser under the names of the original implementation, where SD 1 has IN00 to IN11 and SDXL
IN00 to IN08. Flux.1 has D and S for its blocks with two streams and with one, and names for its
encoders, its first layers and its last ones. What belongs to no block keeps its weight.
"""

import re
from collections.abc import Mapping
from random import Random

import msgspec

from engine.api.sentences import Sentence, sentence
from engine.text.lora_elements import MOST_WEIGHT, ElementRule, element_rules
from engine.text.lora_presets import BUILT_IN, BlockPresets

BASE = "BASE"
_IN = tuple(f"IN{number:02}" for number in range(12))
_OUT = tuple(f"OUT{number:02}" for number in range(12))
BLOCKS = (BASE, *_IN, "M00", *_OUT)
_DOUBLE = tuple(f"D{number:02}" for number in range(19))
_SINGLE = tuple(f"S{number:02}" for number in range(38))
FLUX_BLOCKS = ("CLIP", "T5", "IN", *_DOUBLE, *_SINGLE, "OUT")


def _named(names: str) -> tuple[str, ...]:
    return tuple(names.split())


# The blocks of lists by their lengths: of a LoRA of linear layers and of one of all layers, for
# SDXL and for SD 1; of one for Flux.1. Blocks of the first that a list leaves out have weight 0.
_FORMS: Mapping[int, tuple[str, ...]] = {
    12: _named("BASE IN04 IN05 IN07 IN08 M00 OUT00 OUT01 OUT02 OUT03 OUT04 OUT05"),
    17: _named(
        "BASE IN01 IN02 IN04 IN05 IN07 IN08 M00 "
        "OUT03 OUT04 OUT05 OUT06 OUT07 OUT08 OUT09 OUT10 OUT11"
    ),
    20: (BASE, *_IN[:9], "M00", *_OUT[:9]),
    26: BLOCKS,
    len(FLUX_BLOCKS): FLUX_BLOCKS,
}
# A weight that the tag's `x=` gives, with a number added or subtracted.
_INHERITED = re.compile(r"X(?:([+-])(\d+(?:\.\d*)?|\.\d+))?")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
# Weights that are drawn at random: their names, and the bounds between which they lie.
_RANDOM: Mapping[str, tuple[float, float]] = {"R": (0.0, 1.0), "U": (-0.5, 1.5)}
_DIGITS = 3


class BlockWeights(msgspec.Struct, frozen=True):
    """The weight of each of `blocks`, and rules by which single layers have another one.

    `text` is the list or preset as it was written; weights that were drawn are numbers in it.
    """

    weights: tuple[float, ...]
    text: str
    rules: tuple[ElementRule, ...] = ()
    blocks: tuple[str, ...] = BLOCKS

    @property
    def changes_blocks(self) -> bool:
        """True if a block has another weight than 1."""
        return any(weight != 1 for weight in self.weights)

    def factor(self, block: str | None, layer: str = "") -> float:
        """Return the factor of a LoRA's strength in a layer, by its name in A1111, and its block.

        It is 1 for what is in none of the blocks, unless a rule is for the layer; the last such
        rule counts.
        """
        factor = self.weights[self.blocks.index(block)] if block in self.blocks else 1.0
        name = layer + (block or "")
        return next((rule.weight for rule in reversed(self.rules) if rule.applies(name)), factor)


def is_block_text(text: str, presets: BlockPresets = BUILT_IN) -> bool:
    """True for a preset's name, or for a list of as many weights as there are blocks."""
    return text in presets.weights or text.count(",") + 1 in _FORMS


def block_weights(
    text: str,
    inherited: float = 1.0,
    presets: BlockPresets = BUILT_IN,
    random: Random | None = None,
) -> BlockWeights | Sentence:
    """Return the weights that `lbw=` names; `inherited` replaces X, `random` draws R and U.

    Returns the reason as the end of a sentence if the text names none.
    """
    listed = [part.strip() for part in presets.weights.get(text, text).split(",")]
    blocks = _FORMS.get(len(listed))
    if len(listed) == 1:
        return sentence("there is no preset called {name!r}", name=text[:40])
    if blocks is None:
        return sentence(
            "{count} weights are given, and {possible} are possible",
            count=len(listed),
            possible=_lengths(),
        )
    if drawn := _RANDOM.keys() & {*listed}:
        random = random or Random(0)
        listed = [_drawn(part, random) if part in drawn else part for part in listed]
        text = ",".join(listed)
    given: dict[str, float] = {}
    for block, part in zip(blocks, listed, strict=True):
        weight = _weight(part, inherited)
        if weight is None:
            return sentence("{text!r} is no weight", text=part[:20])
        given[block] = weight
    every = FLUX_BLOCKS if blocks is FLUX_BLOCKS else BLOCKS
    return BlockWeights(tuple(given.get(block, 0.0) for block in every), text, blocks=every)


def with_elements(
    blocks: BlockWeights | None, name: str, presets: BlockPresets
) -> BlockWeights | Sentence:
    """Return weights by block with the set of elements of a name, or the reason why not."""
    text = presets.elements.get(name)
    if text is None:
        return sentence("there is no set of elements called {name!r}", name=name[:40])
    rules = element_rules(text, (BLOCKS, FLUX_BLOCKS))
    if isinstance(rules, Sentence):
        return sentence("in the set of elements {name!r}, {problem}", name=name[:40], problem=rules)
    if blocks is None:
        return BlockWeights((1.0,) * len(BLOCKS), f"lbwe={name}", rules)
    return msgspec.structs.replace(blocks, text=f"{blocks.text}:lbwe={name}", rules=rules)


def _drawn(name: str, random: Random) -> str:
    """Return a drawn weight with as many digits as the extension keeps."""
    low, high = _RANDOM[name]
    return f"{round(low + (high - low) * random.random(), _DIGITS):g}"


def _weight(text: str, inherited: float) -> float | None:
    if _NUMBER.fullmatch(text):
        weight = float(text)
    elif found := _INHERITED.fullmatch(text):
        added = float(found[2]) if found[1] else 0.0
        weight = inherited - added if found[1] == "-" else inherited + added
    else:
        return None
    return weight if abs(weight) <= MOST_WEIGHT else None


def _lengths() -> Sentence:
    *most, last = map(str, _FORMS)
    return sentence("{most} or {last}", most=", ".join(most), last=last)
