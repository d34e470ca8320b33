"""Where tools differ for the same request, as values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from engine.api.values import ConventionName
from engine.text.prompt import (
    PromptPart,
    WeightedText,
    parse_attention,
    parse_attention_comfy,
)


class Emphasis(StrEnum):
    """How token weights act on the text encoder's output."""

    RESTORE_MEAN = "restore_mean"  # multiply, then restore the mean: A1111's "Original"
    FROM_EMPTY = "from_empty"  # move away from the empty prompt's output: ComfyUI
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Convention:
    """One tool's habits. `initial_latents` of the sampling package knows the noise scaling."""

    name: ConventionName
    parse: Callable[[str], tuple[PromptPart, ...]]
    emphasis: Emphasis
    # Text beyond the first chunk is dropped instead of encoded in further chunks.
    one_chunk: bool
    # Pixels are rounded to the nearest of 256 levels; the others cut the fraction off.
    rounds_pixels: bool


def _literal(text: str) -> tuple[PromptPart, ...]:
    return (WeightedText(text, 1.0),)


CONVENTIONS: Mapping[ConventionName, Convention] = {
    ConventionName.A1111: Convention(
        ConventionName.A1111, parse_attention, Emphasis.RESTORE_MEAN, False, False
    ),
    ConventionName.COMFY: Convention(
        ConventionName.COMFY, parse_attention_comfy, Emphasis.FROM_EMPTY, False, False
    ),
    ConventionName.DIFFUSERS: Convention(
        ConventionName.DIFFUSERS, _literal, Emphasis.NONE, True, True
    ),
}
