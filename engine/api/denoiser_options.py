"""Options that change how the denoiser computes: seamless tiling and FreeU."""

from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.fields import span_within, summary, within

_MAX_FACTOR = 10.0


class Tiling(StrEnum):
    """The directions in which a picture continues at its opposite edge."""

    NONE = "none"
    BOTH = "both"
    X = "x"
    Y = "y"


class FreeUVersion(StrEnum):
    """A version of FreeU (Si et al. 2023)."""

    OFF = "off"
    V1 = "1"
    # Features are strengthened where their mean is high.
    V2 = "2"


class DenoiserOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options of the denoiser's own computation."""

    # Convolutions of denoiser and VAE see the opposite edge instead of zeros (A1111's "Tiling").
    tiling: Annotated[Tiling, summary("seamless ({tiling})")] = Tiling.NONE
    freeu: Annotated[FreeUVersion, summary("FreeU {freeu}")] = FreeUVersion.OFF
    # The factors of the features of the way up, b, and of their skip connections' low frequencies,
    # s, in two stages; the defaults are those of ComfyUI's node FreeU_V2.
    freeu_b1: Annotated[float, within(0, _MAX_FACTOR, "FreeU b1")] = 1.3
    freeu_b2: Annotated[float, within(0, _MAX_FACTOR, "FreeU b2")] = 1.4
    freeu_s1: Annotated[float, within(0, _MAX_FACTOR, "FreeU s1")] = 0.9
    freeu_s2: Annotated[float, within(0, _MAX_FACTOR, "FreeU s2")] = 0.2
    # The start and the end of FreeU, as fractions of the steps.
    freeu_range: Annotated[tuple[float, float], span_within(0, 1, "FreeU")] = (0.0, 1.0)

    @property
    def freeu_factors(self) -> tuple[float, float, float, float]:
        """b1, b2, s1 and s2."""
        return self.freeu_b1, self.freeu_b2, self.freeu_s1, self.freeu_s2
