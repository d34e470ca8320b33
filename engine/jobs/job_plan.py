"""The plan of a job on one device, made before anything is loaded."""

from collections.abc import Iterable
from functools import partial

import msgspec

from backends.base import Device, Precision
from engine.api.remedies import RaiseMemoryLimit
from engine.compile.compiler import Compiler
from engine.devices.choice import Candidate
from engine.jobs.job_estimate import JobEstimate, estimate_job
from engine.jobs.job_memory import MemoryAllowance, memory_of_job, require_host_room
from engine.jobs.known_texts import texts_are_known
from engine.jobs.memory_needs import memory_needs
from engine.jobs.room import Planning, fitting_bits, fitting_size, no_room
from engine.jobs.roundings import EVEN, roundings
from engine.jobs.services import JobServices
from engine.memory.plan import TILE_CELLS, MemoryNeeds, MemoryPlan, budget_of
from engine.pipeline.batch import ResolvedJob
from engine.pipeline.picture_plan import PicturePlan, plan_pictures
from engine.pipeline.place import place, precisions
from engine.pipeline.read_job import ReadJob
from engine.weights.copy_errors import no_disk
from engine.weights.rounding import Rounding


class JobPlan(msgspec.Struct, frozen=True, eq=False):
    """A job on a device: its pictures and networks, its memory plan, and its estimate."""

    pictures: PicturePlan
    candidate: Candidate
    compiler: Compiler
    # The precisions to try, each safer than the one before.
    precisions: tuple[Precision, ...]
    needs: MemoryNeeds
    memory: MemoryPlan
    estimate: JobEstimate

    @property
    def job(self) -> ResolvedJob:
        """The resolved job, before its placement on the device."""
        return self.pictures.read.job

    @property
    def networks(self) -> set[str]:
        """The names of the networks that are to be loaded."""
        texts = self.pictures.read.first.texts if not self.needs.has_texts else ()
        known = {id(network) for text in texts for network in text.networks}
        every = (network for run in self.pictures.runs for network in run.networks)
        return {network.name for network in every if id(network) not in known}


def plan_job(
    read: ReadJob, candidate: Candidate, services: JobServices, allowance: MemoryAllowance
) -> JobPlan:
    """Place the job on the device, and plan its memory by the memory that is free now.

    Raises EngineError: REQUEST_INVALID, or OUT_OF_MEMORY or DISK_FULL where the job cannot fit.
    """
    wanted = read.job.request
    offered = precisions(wanted.precision, candidate.device)

    def plan_with(rounding: Rounding) -> _RoundedPlan:
        return _rounded_plan(read, services.compiler(candidate, rounding), services, allowance)

    allowed = roundings(wanted.weight_bits, wanted.text_weight_bits, candidate)
    chosen = _chosen(map(plan_with, allowed))
    compiler, memory = chosen.compiler, chosen.memory
    placement = place(wanted.precision, wanted.vae_tile, candidate.device, compiler.rounding)
    last = read.passes[-1]
    size = last.request.width, last.request.height
    downscale = last.checkpoint.latent.downscale
    _require_disk(chosen, services, allowance)
    even = map(plan_with, EVEN if candidate.holds_blocks else ())
    _require_room(chosen, even, size, allowance)
    require_host_room(memory, size, candidate.device, allowance)
    larger = max(size) > TILE_CELLS * downscale
    if memory.tiles and larger and wanted.vae_tile is None:
        placement = placement.with_tiles(downscale)
    pictures = plan_pictures(read, placement)
    estimate = estimate_job(
        compiler, offered, memory, pictures.runs, read.job.count, services.estimates
    )
    return JobPlan(pictures, candidate, compiler, offered, chosen.needs, memory, estimate)


def _require_disk(
    chosen: "_RoundedPlan", services: JobServices, allowance: MemoryAllowance
) -> None:
    """Raise EngineError(DISK_FULL) where a plan lacks only the disk for working copies."""
    needs, room = chosen.needs, chosen.needs.copy_room
    if chosen.memory.fits or room is None or not needs.lacks_disk:
        return
    if chosen.planning(msgspec.structs.replace(needs, copy_room=None)).fits:
        is_limited = allowance != MemoryAllowance(preview_bytes=allowance.preview_bytes)
        remedies = (RaiseMemoryLimit(),) if is_limited else ()
        raise no_disk(services.cache.working_copies.folder, needs.unwritten, room, remedies)


def _require_room(
    chosen: "_RoundedPlan",
    others: Iterable["_RoundedPlan"],
    size: tuple[int, int],
    allowance: MemoryAllowance,
) -> None:
    """Raise EngineError(OUT_OF_MEMORY) where a plan exceeds what may be used.

    Of the others, the first that would fit is advised, else a smaller `size` of the picture.
    """
    present, memory = chosen.compiler.memory(), chosen.memory
    limit = allowance.of(present)
    # Without a limit only a plan that exceeds the whole memory is refused: the estimate is
    # generous, and more memory may become free.
    most = present.total if limit is None else limit
    if memory.peak_bytes <= max(most, memory.budget_bytes):
        return
    rounded = ((plan.compiler.rounding, plan.memory) for plan in others)
    advice = fitting_bits(rounded, most)
    if advice is None:
        advice = fitting_size(chosen.needs, chosen.planning, size, most)
    raise no_room(memory, size, most, advice, is_limited=limit is not None)


class _RoundedPlan(msgspec.Struct, frozen=True, eq=False):
    """The memory plan of a job with weights rounded in one way.

    `suits` is that of `memory`, within the user's limits and what is free now.
    """

    compiler: Compiler
    needs: MemoryNeeds
    planning: Planning
    memory: MemoryPlan
    suits: bool


def _rounded_plan(
    read: ReadJob, compiler: Compiler, services: JobServices, allowance: MemoryAllowance
) -> _RoundedPlan:
    """Plan the memory of a job by what is free now, with weights as the compiler rounds them.

    Text encoders are left out where they would be in the way and all results of theirs are known.
    """
    room = services.cache.working_copies.room()
    needs = memory_needs(read, compiler, preview_bytes=allowance.preview_bytes)
    needs = msgspec.structs.replace(needs, copy_room=room)
    present = compiler.memory()
    free = services.available_bytes(present)
    most = _most_bytes(services, compiler.device, free, allowance.of(present))
    planning = partial(
        memory_of_job,
        compiler=compiler,
        services=services,
        allowance=allowance,
        pictures=read.job.count,
    )

    def planned(needs: MemoryNeeds) -> _RoundedPlan:
        memory = planning(needs)
        suits = memory.suits(most, free)
        return _RoundedPlan(compiler, needs, planning, memory, suits)

    whole = planned(needs)
    if whole.suits and whole.memory.resident:
        return whole
    rest, results = planned(needs.without_texts), services.cache.results
    offered = precisions(read.job.request.precision, compiler.device)
    is_known = texts_are_known(read, compiler, rest.memory, offered, results)
    return rest if is_known else whole


def _most_bytes(services: JobServices, device: Device, free: int, limit: int | None) -> int:
    """Return the peak up to which a plan suits: the user's limit, or what is free.

    It is less after plans for which the device's memory did not suffice.
    """
    budget = budget_of(free, limit)
    left = services.shortages.within(device, budget)
    if left < budget:
        return left
    return free if limit is None else limit


def _chosen(plans: Iterable[_RoundedPlan]) -> _RoundedPlan:
    """Return the first plan that suits; else that which needs least, of those that fit if any do.

    The plans after the chosen one are not made.
    """
    tried: list[_RoundedPlan] = []
    for plan in plans:
        if plan.suits:
            return plan
        tried.append(plan)
    fitting = [plan for plan in tried if plan.memory.fits]
    if fitting:
        return min(fitting, key=lambda plan: plan.memory.mapped_bytes)
    return min(tried, key=lambda plan: plan.memory.peak_bytes)
