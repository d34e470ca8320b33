"""Weights of a LoRA by parts of layers' names, as sd-webui-lora-block-weight reads `lbwe=`.

A set of elements is rules such as `IN05-OUT05:attn:0`: blocks, parts of names, and the weight of
the layers that both are true of, instead of the block's (`scripts/lora_block_weight.py`,
`ratiodealer`, `hyphener`).
"""

from collections.abc import Iterable

import msgspec

from engine.api.sentences import Sentence, sentence

# As far as a strength may go.
MOST_WEIGHT = 100.0
_NOT = "NOT"


class Words(msgspec.Struct, frozen=True):
    """Words one of which must be in a name, or of which none may be, if `excluded`."""

    words: tuple[str, ...]
    excluded: bool = False

    def allow(self, name: str) -> bool:
        """Return True if the name is meant; the empty word is in every name."""
        return any(word in name for word in self.words) is not self.excluded


class ElementRule(msgspec.Struct, frozen=True):
    """The weight of layers whose name has these words of blocks, and of elements."""

    blocks: Words
    elements: Words
    weight: float

    def applies(self, name: str) -> bool:
        """Return True for a layer; `name` is A1111's, with the name of its block at the end."""
        return self.blocks.allow(name) and self.elements.allow(name)


def element_rules(
    text: str, kinds: tuple[tuple[str, ...], ...]
) -> tuple[ElementRule, ...] | Sentence:
    """Return the rules of a set of elements, or the reason as the end of a sentence.

    `kinds` are the names of blocks in order, of each kind of model, for ranges of them. Parts of
    another form than a rule are passed over, as by the extension.
    """
    rules: list[ElementRule] = []
    for part in text.replace("\n", ",").split(","):
        if part.count(":") != 2:
            continue
        where, what, number = part.split(":")
        try:
            weight = float(number)
            rules.append(
                ElementRule(_words(_ranges(where, kinds)), _words(what.split(" ")), weight)
            )
        except ValueError:
            return sentence(
                "{text!r} is no rule of blocks, elements and a weight", text=part.strip()[:40]
            )
        if not abs(weight) <= MOST_WEIGHT:
            return sentence("{text!r} is no weight", text=number.strip()[:20])
    return tuple(rules)


def _words(words: Iterable[str]) -> Words:
    listed = tuple(words)
    excluded = listed[:1] == (_NOT,)
    return Words(listed[1:] if excluded else listed, excluded)


def _ranges(text: str, kinds: tuple[tuple[str, ...], ...]) -> list[str]:
    """Return the words of a text, with all blocks of a range such as `IN05-OUT05`.

    Raises ValueError for a range of names that no kind of model has both.
    """
    words: list[str] = []
    for word in text.split(" "):
        if "-" not in word:
            words.append(word)
            continue
        first, last, *_ = word.split("-")
        blocks = next((names for names in kinds if first in names and last in names), ())
        places = sorted((blocks.index(first), blocks.index(last)))
        words += blocks[places[0] : places[1] + 1]
    return words
