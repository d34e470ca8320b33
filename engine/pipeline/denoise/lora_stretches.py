"""The effect of a picture's LoRAs on one pass: weights for stretches of the run, and strengths."""

from collections.abc import Callable, Mapping

import msgspec

from engine.families.checkpoint import Component
from engine.families.patches import ComponentPatches

Patches = Mapping[Component, ComponentPatches]
# The strength of each LoRA with side branches, at an evaluation of the run from 0.
Strengths = Callable[[int], tuple[float, ...]]


class Stretch(msgspec.Struct, frozen=True, eq=False):
    """The patches in effect from the evaluation `start` of a run on."""

    start: int
    patches: Patches


class PassLoras(msgspec.Struct, frozen=True, eq=False):
    """The LoRAs of a pass: one stretch, or several where merged weights change within the run.

    The text encoders' patches are the same in each stretch. `strengths` are those of side branches.
    """

    stretches: tuple[Stretch, ...] = (Stretch(0, {}),)
    strengths: Strengths | None = None

    @property
    def patches(self) -> Patches:
        """The patches at the start of the run."""
        return self.stretches[0].patches

    def strengths_at(self, evaluation: int) -> tuple[float, ...]:
        """Return the strength of each LoRA with side branches, at an evaluation of the run."""
        assert self.strengths is not None, "a network with side branches has strengths"
        return self.strengths(evaluation)


NO_LORAS = PassLoras()
