r"""AUTOMATIC1111's prompts of several parts: `A AND B :0.7`.

Each part is a prompt of its own, and the denoiser's predictions are added by weight (Liu et al.
2022). Behaviour follows `modules/prompt_parser.py` (`get_multicond_prompt_list`): AND counts
anywhere in the text, and a number after a colon at the end of a part is its weight, also in a
prompt of a single part.
"""

import re

import msgspec

from engine.api.sentences import sentence
from engine.text.prompt import clamp_weight
from engine.text.prompt_errors import prompt_error

# The denoiser runs once per part.
MAX_PARTS = 64

_AND = re.compile(r"\bAND\b")
_WEIGHT = re.compile(r"\s*([-+]?(?:\d+\.?|\d*\.\d+))\Z")


class ComposedText(msgspec.Struct, frozen=True):
    """A part of a prompt between two `AND`, its weight, and its start in the whole prompt."""

    text: str
    weight: float
    start: int = 0


def split_composition(text: str) -> tuple[ComposedText, ...]:
    """Split a prompt into its parts, at least one, without white space at their ends.

    Raises EngineError(REQUEST_INVALID) for more than `MAX_PARTS`.
    """
    parts: list[ComposedText] = []
    start = 0
    for word in _AND.finditer(text):
        if len(parts) + 1 == MAX_PARTS:
            problem = sentence(
                "AND begins a part beyond the {most} that can be composed", most=MAX_PARTS
            )
            raise prompt_error(text, word.start(), problem, sentence("Join some of the parts."))
        parts.append(_part(text[start : word.start()], start))
        start = word.end()
    parts.append(_part(text[start:], start))
    return tuple(parts)


def _part(text: str, start: int) -> ComposedText:
    text = text.rstrip()
    colon = text.rfind(":")
    weight = _WEIGHT.match(text, colon + 1) if colon >= 0 else None
    if weight is None:
        return ComposedText(text, 1.0, start)
    return ComposedText(text[:colon].rstrip(), clamp_weight(float(weight[1])), start)
