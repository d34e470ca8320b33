"""The parsed form of a prompt: pieces of text with weights, and words that end a chunk."""

import msgspec

# No useful weight is larger; the limit keeps float32 arithmetic on embeddings finite.
MAX_WEIGHT = 1e6


class WeightedText(msgspec.Struct, frozen=True):
    """A piece of a prompt and its weight, within plus or minus `MAX_WEIGHT`."""

    text: str
    weight: float


class Break(msgspec.Struct, frozen=True):
    """The word BREAK: the rest of the chunk stays empty and the text continues in a new one."""


PromptPart = WeightedText | Break


class Mixture(msgspec.Struct, frozen=True):
    """A prompt, or several whose encodings are mixed.

    The encoding is the sum of the encodings of `phrases` times their shares; `normalized` shares
    are divided by their sum. `weight` then scales its difference from the empty prompt's encoding.
    """

    phrases: tuple[tuple[PromptPart, ...], ...]
    shares: tuple[float, ...] = (1.0,)
    normalized: bool = True
    weight: float = 1.0


EMPTY_PROMPT = Mixture(((WeightedText("", 1.0),),))


def clamp_weight(weight: float) -> float:
    """Return the nearest weight within plus or minus `MAX_WEIGHT`."""
    return max(-MAX_WEIGHT, min(weight, MAX_WEIGHT))
