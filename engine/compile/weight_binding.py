"""Binds the weights of one network: by reference, from its working copy, or computed in memory.

A working copy holds the weights without patches, so that all patched networks of a checkpoint
share it. Patched weights are computed in memory, from the checkpoint's own numbers; those that are
wanted again and again are kept in the cache, too, for as long as the code that computes them stays.
"""

from collections.abc import Mapping

import msgspec

from backends.base import Cancellation, DType, WeightRef
from backends.forms import BlockForm
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.compile.key import code_of_weights
from engine.compile.network import Network
from engine.errors import EngineError
from engine.memory.plan import WeightPlacement
from engine.weights.binding import Report, bind
from engine.weights.merged_copies import MergedCopies
from engine.weights.nan_check import not_a_number
from engine.weights.packing import PackedWeight, packing_of
from engine.weights.sources import FileWeight, WeightSource
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies

# The digits of the digest of code in the names of merged weights.
_CODE_DIGITS = 8


def has_copy_of(
    weights: WeightSet, element: DType, copies: WorkingCopies, form: BlockForm | None
) -> bool:
    """Return True if some network's working copy holds a set of weights, without its patches.

    `form` is the form of the weights that stay in blocks.
    """
    base = weights.base
    key = _key(base, "*", element)
    if form is not None and any(packing_of(source, form) for source in base.values()):
        return copies.has_any(f"{key}-{_packed(form)}*")
    return copies.has_any(key) or copies.has_any(f"{key}-[0-9]*")


class WeightBinding(msgspec.Struct, frozen=True):
    """The weights that the graph of `network` uses, to be bound in `element` type.

    `form` is that of the weights in blocks.
    """

    network: Network
    used: Mapping[str, WeightSource]
    element: DType
    copies: WorkingCopies
    merged: MergedCopies | None = None
    form: BlockForm | None = None

    @property
    def copy_key(self) -> str:
        """The key of the working copy of the weights without patches.

        Patched weights are not packed, so graphs of other LoRAs have other copies.
        """
        key = _key(self.network.weights.base, self.network.name, self.element)
        if self.form and any(isinstance(weight, PackedWeight) for weight in self.used.values()):
            key += f"-{_packed(self.form)}"
        return self.copies.key_for(key, self.base.used)

    @property
    def has_copy(self) -> bool:
        """True if a working copy holds the weights without patches."""
        return self.copies.has(self.copy_key, self.base.used)

    @property
    def base(self) -> "WeightBinding":
        """The binding of the weights without patches."""
        network = msgspec.structs.replace(self.network, weights=self.network.weights.base)
        used = {name: source.base for name, source in self.used.items()}
        return msgspec.structs.replace(self, network=network, used=used)

    @property
    def patched(self) -> frozenset[str]:
        """The names of the weights that patches change."""
        return frozenset(name for name, weight in self.used.items() if weight is not weight.base)

    def bind(
        self, placement: WeightPlacement, report: Report, awaited: Cancellation | None = None
    ) -> Mapping[str, WeightRef]:
        """Bind every weight that the graph uses.

        With `awaited`, its cancellation, the check of a working copy is waited for. Raises
        EngineError(CHECKPOINT_CORRUPT, DISK_FULL, CACHE_NOT_WRITABLE), Cancelled, and the errors
        of `report`.
        """
        base = {name: source.base for name, source in self.used.items()}
        patched = {name: self.used[name] for name in sorted(self.patched)}
        converts = any(source.needs_conversion(self.element) for source in base.values())
        # An existing copy is the fastest way, whatever the memory plan.
        key = self.copy_key
        copy = _find(self.copies, key, base, awaited) if converts else None
        # The other weights were checked for NaN when the copy was made.
        self._require_numbers(self.used if copy is None else patched)
        if copy is not None:
            return {**copy, **self._bind_patched(patched, report, awaited)}
        patched_bytes = sum(weight.elements for weight in patched.values()) * self.element.itemsize
        first, rest = _in_turn(report, patched_bytes)
        if converts and placement is not WeightPlacement.MEMORY:
            bound = self._make_copy(key, base, placement, first)
        else:
            plain = {name: weight for name, weight in self.used.items() if name not in patched}
            bound = bind(plain, self.element, first)
        return {**bound, **self._bind_patched(patched, rest, awaited)}

    def _bind_patched(
        self,
        patched: Mapping[str, WeightSource],
        report: Report,
        awaited: Cancellation | None,
    ) -> Mapping[str, WeightRef]:
        """Return the weights that patches change: from the cache, or computed in memory."""
        if self.merged is None or not patched:
            return bind(patched, self.element, report)
        name, element = self.network.name, self.element
        key = f"{_key(self.network.weights, name, element)}-{code_of_weights()[:_CODE_DIGITS]}"
        key = self.merged.copies.key_for(key, patched)
        found = _find(self.merged.copies, key, patched, awaited)
        if found is not None:
            return found
        bound = bind(patched, element, report)
        self.merged.keep(key, bound, element, (name, self.network.checkpoint))
        return bound

    def _make_copy(
        self,
        key: str,
        base: Mapping[str, WeightSource],
        placement: WeightPlacement,
        report: Report,
    ) -> Mapping[str, WeightRef]:
        """Return the weights without patches: a new copy, or in memory while a copy is written."""
        made_of = self.network.name, self.network.checkpoint
        if placement.maps:
            return self.copies.make(key, base, self.element, report, made_of)
        bound = bind(base, self.element, report)
        self.copies.make_beside(key, bound, self.element, made_of)
        return bound

    def _require_numbers(self, weights: Mapping[str, WeightSource]) -> None:
        name = not_a_number(weights)
        if name is None:
            return
        weight = f"{name} of the {self.network.name.replace('_', ' ')} of {self.network.checkpoint}"
        own = {part.path for part in weights[name].base.parts()}
        added = (part for part in weights[name].parts() if part.path not in own)
        broken = (part.path for part in added if not_a_number({name: FileWeight(part)}))
        file = next(broken, None)
        raise EngineError(
            ErrorCode.CHECKPOINT_CORRUPT,
            sentence("The weight {weight} holds values that are not a number.", weight=weight)
            if file is None
            else sentence(
                "{file} holds values that are not a number; it changes the weight {weight}.",
                file=file.name,
                weight=weight,
            ),
            sentence(
                "The file is damaged, or was merged wrongly: download it again, or use another."
            ),
        )


def _find(
    copies: WorkingCopies,
    key: str,
    weights: Mapping[str, WeightSource],
    awaited: Cancellation | None,
) -> Mapping[str, WeightRef] | None:
    if awaited is None:
        return copies.find(key, weights)
    return copies.find_sound(key, weights, awaited)


def _in_turn(report: Report, rest: int) -> tuple[Report, Report]:
    """Return reports for a first part and for `rest` more bytes, which rise as one."""
    before = 0

    def first(done: int, total: int) -> None:
        nonlocal before
        before = total
        report(done, total + rest)

    def second(done: int, total: int) -> None:
        report(before + done, before + total)

    return first, second


def _packed(form: BlockForm) -> str:
    """Return the part of a copy's name that tells the form of weights in blocks."""
    rounded, joined = f"rounded_{form.bits}" * (form.bits < 16), "joined" * form.joined
    changes = "_".join(filter(None, (rounded, joined)))
    return f"{changes}-packed" if changes else "packed"


def _key(weights: WeightSet, name: str, element: DType) -> str:
    return f"{weights.digest()[:24]}-{name}-{element.value.lower()}"
