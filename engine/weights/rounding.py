"""The bits to which weights of linear layers are rounded, by their part of a model."""

from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from backends.base import OperatorSet
from backends.forms import BlockForm


class Role(StrEnum):
    """The part of a model that a set of weights is."""

    TEXT_ENCODER = "text_encoder"
    DENOISER = "denoiser"
    OTHER = "other"  # the VAE, and networks beside a model


class Rounding(NamedTuple):
    """The bits that a number of a linear layer's weight keeps: 4, 8, or 16 for all that it has."""

    text_encoder: int = 16
    denoiser: int = 16

    def operators(self, operators: OperatorSet, role: Role) -> OperatorSet:
        """Return a device's forms of operators for weights of a role.

        They are the device's own where its runtime holds no blocks.
        """
        bits = {Role.TEXT_ENCODER: self.text_encoder, Role.DENOISER: self.denoiser}.get(role, 16)
        if operators.blocks is BlockForm.NONE or bits == 16:
            return operators
        return replace(operators, blocks=FORMS[bits])


EXACT = Rounding()
# The forms of linear layers by the bits that are kept.
FORMS = {8: BlockForm.ROUNDED_8, 4: BlockForm.ROUNDED_4}
