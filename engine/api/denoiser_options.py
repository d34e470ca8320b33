"""Options that change how the denoiser computes: seamless tiling and FreeU."""

from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.fields import summary, within

_MAX_FACTOR = 10.0


class Tiling(StrEnum):
    """The directions in which a picture continues at its opposite edge."""

    NONE = "none"
    BOTH = "both"
    X = "x"
    Y = "y"


class FreeU(msgspec.Struct, frozen=True, kw_only=True):
    """The factors of FreeU (Si et al. 2023): of backbone features, b, and of skip features, s."""

    b1: Annotated[float, within(0, _MAX_FACTOR)] = 1.3
    b2: Annotated[float, within(0, _MAX_FACTOR)] = 1.4
    s1: Annotated[float, within(0, _MAX_FACTOR)] = 0.9
    s2: Annotated[float, within(0, _MAX_FACTOR)] = 0.2
    # 1, or 2 for the factors that depend on the features (the authors' second version).
    version: Annotated[int, within(1, 2, "version of FreeU")] = 2


class DenoiserOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options of the denoiser's own computation."""

    # Convolutions of denoiser and VAE see the opposite edge instead of zeros (A1111's "Tiling").
    tiling: Annotated[Tiling, summary("seamless ({tiling})")] = Tiling.NONE
    freeu: Annotated[FreeU | None, summary("FreeU")] = None
