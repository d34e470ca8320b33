"""A family that exists for tests alone, and differs from Stable Diffusion in every part it can.

A transformer over patches that predicts flow and takes guidance as an input, a text encoder of
bytes with 40 tokens, 16 latent channels, sizes in multiples of 16, and no negative prompt. It is
registered by its module's name, `tests.families.patchwork`, and nothing outside this folder knows
of it.
"""

from tests.families.patchwork.family import FAMILY

__all__ = ["FAMILY"]
