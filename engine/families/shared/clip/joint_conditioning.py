"""What several text encoders make of the same prompts, side by side (Podell et al. 2023, 2.1)."""

from dataclasses import dataclass, field

import numpy as np

from engine.families.shared.clip.conditioning import Conditioning
from engine.families.shared.clip.emphasis import Vectors


@dataclass(slots=True, eq=False)
class JointConditioning:
    """The conditionings of one or more text encoders, whose prompts have equally many tokens."""

    parts: tuple[Conditioning, ...]
    _joined: tuple[tuple[Vectors, ...], Vectors] | None = field(default=None, init=False)

    @property
    def weights(self) -> tuple[float, ...]:
        """How much each positive prompt counts."""
        return self.parts[0].weights

    def at(self, step: int, *, guided: bool) -> Vectors:
        """As `Conditioning.at`: float32 [k, tokens, sum of widths]."""
        found = tuple(part.at(step, guided=guided) for part in self.parts)
        if len(found) == 1:
            return found[0]
        # The same object while nothing changes: a session keeps it on its device.
        known = self._joined
        if known is None or any(a is not b for a, b in zip(found, known[0], strict=True)):
            known = self._joined = (found, np.concatenate(found, axis=2))
        return known[1]

    def pooled_at(self, step: int, *, guided: bool) -> Vectors | None:
        """Each text as a whole, by the encoder that tells: float32 [k, width]; None without one."""
        found = (part.pooled_at(step, guided=guided) for part in self.parts)
        return next((pooled for pooled in found if pooled is not None), None)
