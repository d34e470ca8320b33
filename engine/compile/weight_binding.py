"""Binds the weights of one network: by reference, from its working copy, or computed in memory.

A working copy holds the weights without patches, so that all patched networks of a checkpoint
share it. Patched weights are computed in memory, from the checkpoint's own numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from backends.base import Cancellation, DType, WeightRef
from engine.api.values import ErrorCode
from engine.compile.network import Network
from engine.errors import EngineError
from engine.memory.plan import WeightPlacement
from engine.weights.binding import Report, bind
from engine.weights.nan_check import not_a_number
from engine.weights.sources import WeightSource
from engine.weights.working_copies import WorkingCopies


def copy_key(network: Network, element: DType) -> str:
    """Return the name of the working copy in `element` type of the weights without patches."""
    return f"{network.weights.base.digest()[:24]}-{network.name}-{element.value.lower()}"


@dataclass(frozen=True, slots=True)
class WeightBinding:
    """The weights that the graph of `network` uses, to be bound in `element` type."""

    network: Network
    used: Mapping[str, WeightSource]
    element: DType
    copies: WorkingCopies

    @property
    def nbytes(self) -> int:
        """The bytes of the bound weights."""
        return sum(source.elements for source in self.used.values()) * self.element.itemsize

    def bind(
        self, placement: WeightPlacement, report: Report, awaited: Cancellation | None = None
    ) -> Mapping[str, WeightRef]:
        """Bind every weight that the graph uses.

        With `awaited`, its cancellation, the check of a working copy is waited for. Raises
        EngineError(CHECKPOINT_CORRUPT, DISK_FULL), Cancelled, and the errors of `report`.
        """
        base = {name: source.base for name, source in self.used.items()}
        if not any(source.needs_conversion(self.element) for source in base.values()):
            self._require_numbers(self.used)
            return bind(self.used, self.element, report)
        # An existing copy is the fastest way, whatever the memory plan.
        key = copy_key(self.network, self.element)
        patched = {name: one for name, one in self.used.items() if one is not base[name]}
        copy = self._find_copy(key, base, awaited)
        if copy is not None:
            # The other weights were checked for NaN when the copy was made.
            self._require_numbers(patched)
            return {**copy, **bind(patched, self.element, report)}
        self._require_numbers(self.used)
        if placement is WeightPlacement.MEMORY:
            return bind(self.used, self.element, report)
        made = self._make_copy(key, base, placement, report)
        return {**made, **bind(patched, self.element, report)}

    def _find_copy(
        self, key: str, base: Mapping[str, WeightSource], awaited: Cancellation | None
    ) -> Mapping[str, WeightRef] | None:
        if awaited is None:
            return self.copies.find(key, base)
        return self.copies.find_sound(key, base, awaited)

    def _make_copy(
        self,
        key: str,
        base: Mapping[str, WeightSource],
        placement: WeightPlacement,
        report: Report,
    ) -> Mapping[str, WeightRef]:
        """Return the weights without patches: a new copy, or in memory while a copy is written."""
        made_of = self.network.name, self.network.checkpoint
        if placement is WeightPlacement.WORKING_COPY:
            return self.copies.make(key, base, self.element, report, made_of)
        bound = bind(base, self.element, report)
        self.copies.make_beside(key, bound, self.element, made_of)
        return bound

    def _require_numbers(self, weights: Mapping[str, WeightSource]) -> None:
        name = not_a_number(weights)
        if name is not None:
            raise EngineError(
                ErrorCode.CHECKPOINT_CORRUPT,
                f"The weight {name} of the {self.network.name.replace('_', ' ')} of "
                f"{self.network.checkpoint} holds values that are not a number.",
                "The file is damaged, or was merged wrongly: download it again, or use another.",
            )
