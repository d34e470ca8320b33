"""The bytes of weights of a component, by their place."""

from collections.abc import Sequence

import msgspec

from engine.memory.placement import WeightPlacement


class ComponentBytes(msgspec.Struct, frozen=True):
    """The bytes of a component's weights: packed by the runtime, and converted in memory.

    `patched` are those of the weights that LoRAs change, which are always in memory; `mapped` are
    those of the converted ones that a working copy has already. `repacks` is true of weights in
    blocks of few bits. `in_place` are those that the runtime holds if it reads weights where they
    are, or streams them; None if it always holds all. `bound` are those of all weights as they are
    given to it, and `branches` those of `patched` that run beside the layers. `looked_up` are those
    of `packed` that stay on the host where weights are streamed. `unwritten` are those of a working
    copy that does not exist yet. `copied` are those of weights that the runtime copies to the host
    if it can stream them to a device.
    """

    packed: int
    converted: int
    patched: int = 0
    mapped: int = 0
    repacks: bool = False
    in_place: int | None = None
    bound: int = 0
    branches: int = 0
    looked_up: int = 0
    unwritten: int = 0
    copied: int = 0

    def bytes(self, placement: WeightPlacement) -> int:
        """Return the bytes in memory where converted weights are in this place."""
        return self._runtime_bytes(placement) + self._held(placement) + self.patched

    def loading(self, placement: WeightPlacement) -> int:
        """Return the bytes that are in memory while the component is loaded ahead of its use."""
        return (self._held(placement) or self._runtime_bytes(placement)) + self.patched

    def mapped_bytes(self, placement: WeightPlacement) -> int:
        """Return the bytes that each run reads from mapped files, or from the page cache."""
        if self.in_place is None:
            return 0
        return max(0, self.bound - self._runtime_bytes(placement) - self._held(placement))

    def packing(self, room_bytes: int) -> "ComponentBytes":
        """Return the bytes of weights in place of which up to `room_bytes` are packed."""
        if self.in_place is None:
            return self
        most = self.packed - self.looked_up
        return msgspec.structs.replace(self, in_place=min(most, self.in_place + room_bytes))

    def _held(self, placement: WeightPlacement) -> int:
        return 0 if placement.maps else self.converted - self.mapped

    def _runtime_bytes(self, placement: WeightPlacement) -> int:
        least = self.in_place if placement.is_last else None
        return self.packed if least is None else least


def total_bytes(parts: Sequence[ComponentBytes]) -> ComponentBytes:
    """Return the bytes of several components that are loaded at once."""
    places = [part.in_place for part in parts]
    return ComponentBytes(
        sum(part.packed for part in parts),
        sum(part.converted for part in parts),
        sum(part.patched for part in parts),
        sum(part.mapped for part in parts),
        any(part.repacks for part in parts),
        None if None in places else sum(place or 0 for place in places),
        sum(part.bound for part in parts),
        sum(part.branches for part in parts),
        sum(part.looked_up for part in parts),
        sum(part.unwritten for part in parts),
        sum(part.copied for part in parts),
    )
