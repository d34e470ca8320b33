"""The layer, norm and padding with which a family's denoiser takes its texts."""

import msgspec

from engine.api.values import ConventionName
from engine.families.checkpoint import Component


class TextUse(msgspec.Struct, frozen=True):
    """The form in which a family's denoiser takes its texts."""

    # The default layer to read, counted from the end; 1 is the last.
    clip_skip: int = 1
    # True if the final norm follows a layer before the last; None: the convention decides.
    final_norm: bool | None = None
    # Encoders whose end token's last state is pooled as it is, without a projection.
    pools_states: frozenset[Component] = frozenset()
    # Encoders whose texts are padded with token 0.
    zero_padded: frozenset[Component] = frozenset()
    # The conventions by which an empty negative prompt is all zeros.
    zeroes_empty: frozenset[ConventionName] = frozenset()
