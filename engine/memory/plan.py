"""The memory plan of a job, chosen before the first step from sizes and free memory."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from engine.memory.component_bytes import ComponentBytes
from engine.memory.placement import WeightPlacement
from engine.memory.ways import Way, ways

# The side in cells of the VAE's tiles, where the whole does not fit.
TILE_CELLS = 72
# The memory of the interpreter, the runtime and the libraries.
_BASE_BYTES = 200 << 20
# The share of free memory that a job may use; the rest is left to other programs.
_SHARE_OF_FREE = 0.8
# The halvings by which the room for packed weights is found.
_ROUNDS = 12
# The share of the budget that packed weights may fill: what else is estimated may be a little more.
_SHARE_TO_FILL = 0.95


class MemoryPlan(msgspec.Struct, frozen=True):
    """The networks that stay loaded together; `peak_bytes` is the estimated peak of the job.

    It is that of the device, where that has memory of its own, and `host` the host's.
    """

    placement: WeightPlacement
    # Denoiser and VAE stay loaded between pictures, instead of taking turns.
    together: bool
    peak_bytes: int
    budget_bytes: int
    # All networks stay loaded, for the next job too.
    resident: bool = False
    # The denoiser is loaded while the last text encoder still is.
    load_ahead: bool = True
    # The VAE works in tiles, by request or for lack of memory.
    tiles: bool = False
    # Of weights that are read in place or streamed, the bytes that each network holds all the same.
    room_bytes: int = 0
    # The most bytes that a network reads from mapped files in each run, beside `peak_bytes`.
    mapped_bytes: int = 0
    host: "HostPeak | None" = None

    @property
    def fits(self) -> bool:
        """Return True if the estimate is within the budget, and the host's within its own."""
        return self.peak_bytes <= self.budget_bytes and (self.host is None or self.host.fits)

    def suits(self, most_bytes: int, free_bytes: int) -> bool:
        """Return True if the peak is within `most_bytes`, and what is mapped is free beside it.

        Else each step would read the weights from the disk again. Weights that are streamed never
        suit: fewer bits, where they are allowed, are quicker than a copy to the device in each run.
        """
        if self.placement is WeightPlacement.STREAMED or (self.host and not self.host.fits):
            return False
        is_cached = self.mapped_bytes == 0 or self.peak_bytes + self.mapped_bytes <= free_bytes
        return self.peak_bytes <= most_bytes and is_cached

    @property
    def spare_bytes(self) -> int:
        """The bytes of the budget that the job should not need."""
        return max(0, self.budget_bytes - self.peak_bytes)


class HostPeak(msgspec.Struct, frozen=True):
    """The estimated peak of the host's memory, where a device has its own."""

    peak_bytes: int
    budget_bytes: int

    @property
    def fits(self) -> bool:
        """Return True if the estimate is within the budget."""
        return self.peak_bytes <= self.budget_bytes


class LaterDenoiser(msgspec.Struct, frozen=True):
    """The denoiser of a later pass with what runs at its steps, and the bytes beside weights."""

    weights: ComponentBytes
    step_bytes: int


class MemoryNeeds(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes of a job's networks and of what their runs take beside weights.

    `text_encoder` is the sum of all text encoders, which are loaded at once only if they stay
    loaded; `largest_text` is the largest of them (None: there is one). `vae` is the sum of the VAEs
    of all runs. `later` are the denoisers of a refiner and of second passes with checkpoints of
    their own. `controls` are networks that run at each step before the denoiser, all loaded with
    it. `picture_encoders` are the networks that encode image prompts and embed maps, one after the
    other. `reference` runs the denoiser's layers once more at each step, for a reference picture
    that they attend to.
    """

    denoiser: ComponentBytes
    vae: ComponentBytes
    text_encoder: ComponentBytes
    largest_text: ComponentBytes | None = None
    later: tuple[LaterDenoiser, ...] = ()
    controls: tuple[ComponentBytes, ...] = ()
    picture_encoders: tuple[ComponentBytes, ...] = ()
    reference: ComponentBytes | None = None
    # The most bytes that a step takes beside weights, with controls and a reference.
    step_bytes: int
    # The bytes that the runs of text encoders take beside weights, and those of `picture_encoders`.
    text_run_bytes: int = 0
    picture_run_bytes: int = 0
    # The most bytes that a run of the VAE takes beside its weights: on a whole picture, in tiles.
    vae_run_bytes: int
    vae_tile_bytes: int
    # True where tiles are asked for.
    tiles: bool = False
    # The most bytes held while a picture is enlarged before a second pass.
    enlarging_bytes: int = 0
    # The memory of previews, held while the denoiser runs.
    preview_bytes: int = 0
    # True if what a run takes is free for the next one, whichever network runs it.
    shares_runs: bool = False
    # The place of weights that the device's runtime has for networks that do not fit it.
    last: WeightPlacement = WeightPlacement.IN_PLACE
    # The bytes that working copies may take on their disk; None if they are not limited.
    copy_room: int | None = None

    @property
    def written(self) -> int:
        """The bytes of converted weights that are held until their working copies are written."""
        return self.denoiser.converted + sum(second.weights.converted for second in self.later)

    @property
    def placements(self) -> tuple[WeightPlacement, ...]:
        """The places of converted weights, the better first.

        Weights in blocks are always repacked into working copies: it takes minutes, so no later
        start should repeat it, and whoever runs large models in blocks lacks the memory for both
        the repacked ones and those that the runtime makes of them. On a disk without room for them
        all weights are converted in memory.
        """
        if self.lacks_disk:
            return (WeightPlacement.MEMORY,)
        copies = [WeightPlacement.WORKING_COPY]
        if self.denoiser.in_place is not None:
            copies.append(self.last)
        return tuple(copies) if self.repacks else (WeightPlacement.MEMORY, *copies)

    @property
    def lacks_disk(self) -> bool:
        """True if the working copies that the job would write do not fit on the disk."""
        if self.copy_room is None or not self.unwritten:
            return False
        kept = sum(part.mapped for part in self._components)
        return kept + self.unwritten > self.copy_room

    @property
    def unwritten(self) -> int:
        """The bytes of the working copies that the job would write."""
        return sum(part.unwritten for part in self._components)

    @property
    def _components(self) -> tuple[ComponentBytes, ...]:
        """The components that have working copies; a reference has the denoiser's."""
        later = (second.weights for second in self.later)
        first = self.denoiser, self.vae, self.text_encoder
        return (*first, *later, *self.controls, *self.picture_encoders)

    @property
    def repacks(self) -> bool:
        """True if weights of the denoisers or of a text encoder are in blocks."""
        parts = (self.denoiser, self.text_encoder, *(second.weights for second in self.later))
        return any(part.repacks for part in parts)

    def packing(self, room_bytes: int) -> "MemoryNeeds":
        """Return the needs where networks read in place or streamed hold up to these bytes."""
        largest = self.largest_text or self.text_encoder
        return msgspec.structs.replace(
            self,
            denoiser=self.denoiser.packing(room_bytes),
            vae=self.vae.packing(room_bytes),
            largest_text=largest.packing(room_bytes),
            picture_encoders=tuple(
                encoder.packing(room_bytes) for encoder in self.picture_encoders
            ),
            later=tuple(
                msgspec.structs.replace(second, weights=second.weights.packing(room_bytes))
                for second in self.later
            ),
        )

    @property
    def without_texts(self) -> "MemoryNeeds":
        """The needs where no text encoder is loaded, as its results are known."""
        none = ComponentBytes(0, 0, repacks=self.text_encoder.repacks)
        return msgspec.structs.replace(self, text_encoder=none, largest_text=None, text_run_bytes=0)

    @property
    def has_texts(self) -> bool:
        """True unless the needs are those `without_texts`."""
        return self.text_encoder.packed > 0

    def mapped_bytes(self, placement: WeightPlacement) -> int:
        """Return the most bytes that networks which run together read from mapped files."""
        reference = (self.reference,) if self.reference else ()
        beside = [needs.mapped_bytes(placement) for needs in (*self.controls, *reference)]
        text = self.largest_text or self.text_encoder
        others = (
            text,
            self.vae,
            *self.picture_encoders,
            *(second.weights for second in self.later),
        )
        first = self.denoiser.mapped_bytes(placement) + sum(beside)
        return max(first, *(weights.mapped_bytes(placement) for weights in others))

    def peak(self, way: Way, placement: WeightPlacement) -> int:
        """Return the peak in bytes where converted weights are in this place."""
        beside = (*self.controls, *((self.reference,) if self.reference else ()))
        weights = sum(part.bytes(placement) for part in (self.denoiser, *beside))
        denoising = _Share(weights, self.step_bytes + self.preview_bytes)
        others = [self._vae(way, placement), _Share(0, self.enlarging_bytes)]
        others += (
            _Share(second.weights.bytes(placement), second.step_bytes) for second in self.later
        )
        pictures = [encoder.bytes(placement) for encoder in self.picture_encoders]
        if way.resident:
            held = self.text_encoder.bytes(placement) + sum(pictures)
            encoding = _Share(held, self.text_run_bytes + self.picture_run_bytes)
            return _BASE_BYTES + self._at_once([denoising, encoding, *others])
        # Before the first step: one text encoder, and the denoiser's weights.
        text = (self.largest_text or self.text_encoder).bytes(placement)
        loaded = self.denoiser.loading(placement) * way.load_ahead
        before = [
            _Share(text + loaded, self.text_run_bytes),
            _Share(max(pictures, default=0), self.picture_run_bytes),
        ]
        if not way.together:
            return _BASE_BYTES + max(map(sum, (denoising, *before, *others)))
        return _BASE_BYTES + max(self._at_once([share, *others]) for share in (denoising, *before))

    def _at_once(self, shares: "Sequence[_Share]") -> int:
        """Return the bytes of networks that are all loaded, and run one after the other."""
        runs = [share.run for share in shares]
        held = sum(share.weights for share in shares)
        return held + (max(runs) if self.shares_runs else sum(runs))

    def _vae(self, way: Way, placement: WeightPlacement) -> "_Share":
        run = self.vae_tile_bytes if way.tiles else self.vae_run_bytes
        return _Share(self.vae.bytes(placement), run)


class _Share(NamedTuple):
    """The bytes of the weights of networks, and those that their runs take beside them."""

    weights: int
    run: int


class HostShare(msgspec.Struct, frozen=True):
    """The host's share of a job on a device with memory of its own, and what it may use."""

    needs: MemoryNeeds
    budget_bytes: int

    def peak(self, way: Way, placement: WeightPlacement) -> HostPeak:
        """Return the host's peak where converted weights are in this place."""
        return HostPeak(self.needs.peak(way, placement), self.budget_bytes)


def budget_of(free_bytes: int, limit_bytes: int | None) -> int:
    """Return the bytes that a job may use: a limit that is set, or a share of what is free."""
    return limit_bytes if limit_bytes is not None else int(free_bytes * _SHARE_OF_FREE)


def plan_memory(
    needs: MemoryNeeds,
    *,
    pictures: int,
    more_jobs: bool,
    free_bytes: int,
    limit_bytes: int | None,
    host: HostShare | None = None,
) -> MemoryPlan:
    """Choose the fastest plan that fits: weights converted in memory, or a mapped working copy.

    Networks take turns, because one picture needs each only once; but denoiser and VAE stay loaded
    together if several pictures are made and both fit, because reloading costs seconds. If
    `more_jobs` may come, all networks stay loaded if they fit. The VAE runs in tiles on request, or
    where networks take turns and the whole does not fit. Weights are read in place or streamed
    where nothing else fits. With a `host` the needs are those of a device with memory of its own.
    """
    budget = budget_of(free_bytes, limit_bytes)
    whole = host.needs if host else needs
    tried = ways(more_jobs=more_jobs, several=pictures > 1, tiles=needs.tiles)
    plans = [
        _estimated(needs, host, budget, placement, way)
        for placement in whole.placements
        for way in tried
        if way.is_least or not placement.is_last
    ]
    least = min(reversed(plans), key=_by_size)
    chosen = next((plan for plan in plans if plan.fits), least)
    written = 0 if whole.lacks_disk else whole.written
    chosen = _with_packed(_with_copy(chosen, written), needs)
    packed = needs.packing(chosen.room_bytes)
    return msgspec.structs.replace(chosen, mapped_bytes=packed.mapped_bytes(chosen.placement))


def _estimated(
    needs: MemoryNeeds,
    host: HostShare | None,
    budget_bytes: int,
    placement: WeightPlacement,
    way: Way,
) -> MemoryPlan:
    """Return the plan for a place of converted weights and networks that are loaded at once."""
    return MemoryPlan(
        placement=placement,
        together=way.together,
        peak_bytes=needs.peak(way, placement),
        budget_bytes=budget_bytes,
        resident=way.resident,
        load_ahead=way.load_ahead,
        tiles=way.tiles,
        host=host and host.peak(way, placement),
    )


def _by_size(plan: MemoryPlan) -> tuple[bool, int]:
    """Return a key that sorts plans by what they need; those that fit the host come first."""
    return plan.host is not None and not plan.host.fits, plan.peak_bytes


def _with_packed(plan: MemoryPlan, needs: MemoryNeeds) -> MemoryPlan:
    """Return a plan that holds the weights there is room for, in each network that runs alone."""
    beside = needs.controls or needs.reference is not None
    if not plan.placement.is_last or beside or not plan.fits:
        return plan
    way = Way(load_ahead=False, tiles=plan.tiles)
    # The most room whose peak fits: networks need less than the peak, each its own amount.
    full = int(plan.budget_bytes * _SHARE_TO_FILL)
    most = full
    for _ in range(_ROUNDS):
        room = (plan.room_bytes + most) // 2
        peak = needs.packing(room).peak(way, plan.placement)
        if peak <= full:
            plan = msgspec.structs.replace(plan, room_bytes=room, peak_bytes=peak)
        else:
            most = room
    return plan


def in_turns(plan: MemoryPlan) -> MemoryPlan:
    """Return the plan with only the running network loaded, for a job that ran out of memory."""
    placement = plan.placement
    if placement is WeightPlacement.MEMORY_THEN_COPY:
        placement = WeightPlacement.MEMORY
    return msgspec.structs.replace(
        plan, placement=placement, together=False, resident=False, load_ahead=False
    )


def streamed(plan: MemoryPlan) -> MemoryPlan:
    """Return the plan with the least weights on the device, for a network that ran out of memory.

    The device must be able to have weights streamed to it.
    """
    return msgspec.structs.replace(plan, placement=WeightPlacement.STREAMED, room_bytes=0)


def _with_copy(plan: MemoryPlan, converted: int) -> MemoryPlan:
    """Return the plan with working copies written during the job, if there is room for that.

    The converted weights stay in memory until they are written, on a slow disk longer than their
    network.
    """
    at = plan.host or plan
    room = at.budget_bytes - at.peak_bytes >= converted > 0
    if plan.placement is not WeightPlacement.MEMORY or not room:
        return plan
    return msgspec.structs.replace(plan, placement=WeightPlacement.MEMORY_THEN_COPY)
