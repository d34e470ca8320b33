"""The bits to which weights of linear layers are rounded, by their part of a model."""

from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """The part of a model that a set of weights is."""

    TEXT_ENCODER = "text_encoder"
    DENOISER = "denoiser"
    OTHER = "other"  # the VAE, and networks beside a model


class Rounding(NamedTuple):
    """The bits that a number of a linear layer's weight keeps: 4, 8, or 16 for all that it has."""

    text_encoder: int = 16
    denoiser: int = 16

    def bits_of(self, role: Role) -> int:
        """Return the bits that numbers of a role's weights keep."""
        bits = {Role.TEXT_ENCODER: self.text_encoder, Role.DENOISER: self.denoiser}
        return bits.get(role, 16)


EXACT = Rounding()
