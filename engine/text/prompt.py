"""What a prompt becomes: pieces of text with weights, and words that end a chunk."""

from dataclasses import dataclass

# No picture is meant beyond this; it keeps float32 arithmetic on embeddings finite.
MAX_WEIGHT = 1e6


@dataclass(frozen=True, slots=True)
class WeightedText:
    """A piece of a prompt and how much it counts, within plus or minus `MAX_WEIGHT`."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Break:
    """The word BREAK: the rest of the chunk stays empty and the text goes on in a new one."""


PromptPart = WeightedText | Break


def clamp_weight(weight: float) -> float:
    """The nearest weight within plus or minus `MAX_WEIGHT`."""
    return max(-MAX_WEIGHT, min(weight, MAX_WEIGHT))
