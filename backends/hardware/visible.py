"""The numbers that CUDA and HIP give to cards, where variables hide some or change their order.

CUDA_VISIBLE_DEVICES lists numbers in the order of the bus, or beginnings of UUIDs; what comes after
one that fits no card is hidden (CUDA C++ Programming Guide, "CUDA Environment Variables"). HIP
takes HIP_VISIBLE_DEVICES, else CUDA's variable, and numbers the cards that ROCR_VISIBLE_DEVICES
leaves (ROCm's documentation, "GPU isolation techniques").
"""

import os
from collections.abc import Mapping, Sequence

import msgspec

from backends.hardware.adapter import AMD, NVIDIA, Adapter, vendor_name

_CUDA, _HIP, _ROCR = "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"


class VisibleCards(msgspec.Struct, frozen=True):
    """The places of a maker's adapters in the order of its runtime's numbers.

    `hidden` are the variables that hide adapters, by the places of these.
    """

    order: tuple[int, ...]
    hidden: Mapping[int, str]

    def number(self, place: int) -> int:
        """Return the runtime's number of the adapter at a place; the place for one it lacks."""
        return self.order.index(place) if place in self.order else place


def visible_cards(
    adapters: Sequence[Adapter], environment: Mapping[str, str] = os.environ
) -> VisibleCards:
    """Return the numbers of one maker's adapters.

    A runtime counts in the order of the bus, and leaves out adapters that its driver does not have,
    such as one that is set aside for a virtual machine.
    """
    usable = [place for place, adapter in enumerate(adapters) if not adapter.unusable]
    usable.sort(key=lambda place: adapters[place].address)
    order, hidden = tuple(usable), dict[int, str]()
    for name in _variables(adapters, environment):
        left = _listed(environment[name], order, adapters)
        if left is not None:
            hidden |= dict.fromkeys(set(order) - set(left), name)
            order = left
    return VisibleCards(order, hidden)


def with_hidden(
    adapters: Sequence[Adapter], environment: Mapping[str, str] = os.environ
) -> tuple[Adapter, ...]:
    """Return one maker's adapters; those that its runtime may not see are unusable."""
    hidden = visible_cards(adapters, environment).hidden
    return tuple(
        msgspec.structs.replace(adapter, unusable=f"{hidden[place]} hides it")
        if place in hidden
        else adapter
        for place, adapter in enumerate(adapters)
    )


def _variables(adapters: Sequence[Adapter], environment: Mapping[str, str]) -> list[str]:
    """Return the variables that are set for a maker's runtime, in the order in which they act."""
    vendor = adapters[0].vendor if adapters else ""
    if vendor == vendor_name(NVIDIA):
        return [_CUDA] if _CUDA in environment else []
    if vendor != vendor_name(AMD):
        return []
    of_hip = next((name for name in (_HIP, _CUDA) if environment.get(name)), None)
    return [name for name in (_ROCR, of_hip) if name and environment.get(name)]


def _listed(
    text: str, order: tuple[int, ...], adapters: Sequence[Adapter]
) -> tuple[int, ...] | None:
    """Return the places that a variable lists; None where it names parts or unknown identities."""
    found: list[int] = []
    for entry in map(str.strip, text.split(",")):
        if entry.startswith("MIG-"):
            return None
        if entry.startswith("GPU-"):
            if not all(adapters[place].uuid for place in order):
                return None
            fitting = [place for place in order if adapters[place].uuid.startswith(entry)]
        else:
            number = int(entry) if entry.isdecimal() else len(order)
            fitting = [*order[number : number + 1]]
        if len(fitting) != 1 or fitting[0] in found:
            break
        found += fitting
    return tuple(found)
