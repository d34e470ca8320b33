"""The layer, norm and padding with which a family's denoiser takes its texts."""

from dataclasses import dataclass

from engine.api.values import ConventionName
from engine.families.base import Component


@dataclass(frozen=True, slots=True)
class TextUse:
    """The form in which a family's denoiser takes its texts."""

    # The layer, counted from the end, that is read where nobody says otherwise; 1 is the last.
    clip_skip: int = 1
    # Whether the final norm follows a layer before the last; None: as the convention has it.
    final_norm: bool | None = None
    # Encoders whose texts are padded with token 0.
    zero_padded: frozenset[Component] = frozenset()
    # The conventions by which an empty negative prompt is all zeros.
    zeroes_empty: frozenset[ConventionName] = frozenset()
