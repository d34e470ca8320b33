"""The plan of a job on one device, made before anything is loaded."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from backends.base import Precision
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.devices.choice import Candidate
from engine.families.base import Component, IdentifiedCheckpoint
from engine.jobs.job_estimate import JobEstimate, estimate_job
from engine.jobs.job_memory import MemoryAllowance, memory_of_job, require_host_room
from engine.jobs.room import fitting_bits, fitting_size, no_room
from engine.jobs.roundings import EVEN, roundings
from engine.jobs.services import JobServices
from engine.memory.component_bytes import ComponentBytes, total_bytes
from engine.memory.plan import TILE_CELLS, LaterDenoiser, MemoryNeeds, MemoryPlan
from engine.pipeline.batch import ResolvedJob
from engine.pipeline.control.passes import control_pass
from engine.pipeline.enlarge.enlarging import enlarging_bytes
from engine.pipeline.picture_plan import PicturePlan, plan_pictures
from engine.pipeline.place import place, precisions
from engine.pipeline.read_job import ReadJob, texts_in
from engine.pipeline.vae.networks import vae_networks
from engine.weights.rounding import Rounding
from engine.weights.weight_set import WeightSet


@dataclass(frozen=True, slots=True, eq=False)
class JobPlan:
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


def plan_job(
    read: ReadJob, candidate: Candidate, services: JobServices, allowance: MemoryAllowance
) -> JobPlan:
    """Place the job on the device, and plan its memory by the memory that is free now.

    Raises EngineError: REQUEST_INVALID, or OUT_OF_MEMORY where the job cannot fit.
    """
    wanted = read.job.request
    offered = precisions(wanted.precision, candidate.device)

    def means_with(rounding: Rounding) -> _Means:
        return _means(read, services.compiler(candidate, rounding), services, allowance)

    allowed = roundings(wanted.weight_bits, wanted.text_weight_bits, candidate)
    means = _chosen(map(means_with, allowed))
    compiler, memory = means.compiler, means.memory
    placement = place(wanted.precision, wanted.vae_tile, candidate.device, compiler.rounding)
    last = read.passes[-1]
    size = last.request.width, last.request.height
    downscale = last.checkpoint.latent.downscale
    present = compiler.memory()
    limit = allowance.of(present)
    # Without a limit only a plan that exceeds the whole memory is refused: the estimate is
    # generous, and more memory may become free.
    most = present.total if limit is None else limit
    if memory.peak_bytes > max(most, memory.budget_bytes):
        even = map(means_with, EVEN if candidate.holds_blocks else ())
        rounded = ((one.compiler.rounding, one.memory) for one in even)
        advice = fitting_bits(rounded, most) or fitting_size(means.needs, means.plan, size, most)
        raise no_room(memory, size, most, advice, is_limited=limit is not None)
    require_host_room(memory, size, candidate.device, allowance)
    larger = max(size) > TILE_CELLS * downscale
    if memory.tiles and larger and wanted.vae_tile is None:
        placement = placement.with_tiles(downscale)
    pictures = plan_pictures(read, placement)
    estimate = estimate_job(
        compiler, offered, memory, pictures.runs, read.job.count, services.estimates
    )
    return JobPlan(pictures, candidate, compiler, offered, means.needs, memory, estimate)


@dataclass(frozen=True, slots=True, eq=False)
class _Means:
    """The means by which a job is to fit a device: a compiler that rounds, and the memory plan."""

    compiler: Compiler
    needs: MemoryNeeds
    # Plans needs with the memory that is free now.
    plan: Callable[[MemoryNeeds], MemoryPlan]
    memory: MemoryPlan
    suits: bool


def _means(
    read: ReadJob, compiler: Compiler, services: JobServices, allowance: MemoryAllowance
) -> _Means:
    """Plan the memory of a job by what is free now."""
    needs = _needs(read, compiler, allowance)
    present = compiler.memory()
    free, limit = present.free + services.freeable_bytes, allowance.of(present)
    plan = partial(
        memory_of_job,
        compiler=compiler,
        services=services,
        allowance=allowance,
        pictures=read.job.count,
    )
    memory = plan(needs)
    suits = memory.suits(free if limit is None else limit, free)
    return _Means(compiler, needs, plan, memory, suits)


def _chosen(means: Iterable[_Means]) -> _Means:
    """Return the first means that suit; else those that need least, of those that fit if any do."""
    tried: list[_Means] = []
    for one in means:
        if one.suits:
            return one
        tried.append(one)
    fitting = [one for one in tried if one.memory.fits]
    if fitting:
        return min(fitting, key=lambda one: one.memory.mapped_bytes)
    return min(tried, key=lambda one: one.memory.peak_bytes)


def _needs(read: ReadJob, compiler: Compiler, allowance: MemoryAllowance) -> MemoryNeeds:
    """Return the sizes of the networks of a job, as the compiler rounds them."""
    offered = precisions(read.job.request.precision, compiler.device)
    prompts = read.job.image_prompts.networks
    return replace(
        _checkpoint_needs(read, compiler, offered, allowance),
        controls=_control_bytes(read, compiler, offered),
        reference=_reference_bytes(read, compiler, offered),
        image_prompts=tuple(_network_bytes(network, compiler, offered) for network in prompts),
    )


def _checkpoint_needs(
    read: ReadJob,
    compiler: Compiler,
    offered: tuple[Precision, ...],
    allowance: MemoryAllowance,
) -> MemoryNeeds:
    size = partial(_component_bytes, compiler)
    variants = [
        [one.checkpoint for one in alike] for alike in zip(*read.passes_with_loras, strict=True)
    ]
    last = read.second_runs[-1].checkpoint if read.second_runs else read.job.checkpoint
    precision, tile = offered[0], read.job.request.vae_tile
    longest = tile or TILE_CELLS * last.latent.downscale
    vae_precision = last.architecture.autoencoder.decoder().precisions(offered)[0]
    own = {one.checkpoint.role: place for place, one in reversed([*enumerate(read.passes)])}
    texts = [
        size(variants[place], (one,), precision)
        for place in own.values()
        for one in read.passes[place].checkpoint.architecture.text.components
    ]
    first, *later = (
        LaterDenoiser(
            size(variants[place], (Component.DENOISER,), precision),
            _step_bytes(read, role, compiler, offered),
        )
        for role, place in sorted(own.items(), key=lambda one: one[1])
    )
    return MemoryNeeds(
        denoiser=first.weights,
        vae=size(variants[own[last.role]], (Component.VAE,), vae_precision),
        text_encoder=total_bytes(texts),
        largest_text=max(texts, key=lambda one: one.packed),
        later=tuple(later),
        step_bytes=first.step_bytes,
        vae_run_bytes=_vae_bytes(read, last, None, compiler, offered),
        vae_tile_bytes=_vae_bytes(read, last, longest, compiler, offered),
        tiles=tile is not None,
        enlarging_bytes=max(map(enlarging_bytes, read.second_runs, read.upscalers), default=0),
        preview_bytes=allowance.preview_bytes,
    )


def _vae_bytes(
    read: ReadJob,
    checkpoint: IdentifiedCheckpoint,
    tile: int | None,
    compiler: Compiler,
    offered: tuple[Precision, ...],
) -> int:
    """Return the most bytes that a run of the VAE takes beside its weights.

    That is with the largest picture that is decoded or encoded, in tiles of at most `tile` pixels a
    side, if that is given.
    """
    downscale = checkpoint.latent.downscale
    passes = [(one.request.height, one.request.width) for one in read.passes]
    shown = [(height * downscale, width * downscale) for height, width in read.references.sizes]
    encodes = read.to_encode.count > 0 or bool(read.second_runs)
    networks: list[Network] = []
    for sizes, is_decoded in ((passes, True), ((passes if encodes else []) + shown, False)):
        if sizes:
            largest = max(sizes, key=math.prod)
            vae = vae_networks(checkpoint.architecture.autoencoder, largest, downscale, tile)
            runs = vae.decoding() if is_decoded else vae.encoding(1)
            networks += (run.network for run in runs if run.network)
    return max(compiler.run_bytes(one, one.precisions(offered)[0]) for one in networks)


def _step_bytes(
    read: ReadJob, role: str, compiler: Compiler, offered: tuple[Precision, ...]
) -> int:
    """Return the most bytes that a step of a role's denoiser takes beside its weights."""
    first = read.first
    networks = {
        id(network): network
        for one, text in zip(first.passes, first.texts, strict=True)
        if one.checkpoint.role == role
        for picture in first.pictures
        for network in [one.network(text, texts_in(one, picture))]
    }
    return max(compiler.run_bytes(one, one.precisions(offered)[0]) for one in networks.values())


def _control_bytes(
    read: ReadJob, compiler: Compiler, offered: tuple[Precision, ...]
) -> tuple[ComponentBytes, ...]:
    """Return the bytes of the weights of each network that runs at a step before the denoiser."""
    control = control_pass(read.controls, read.passes[0])
    texts = read.first.pictures[0].texts
    if control is None:
        return ()
    denoiser = read.passes[0].network(read.first.texts[0], texts)
    networks = [one for one in control.networks(denoiser) if one.weights]
    return tuple(_network_bytes(network, compiler, offered) for network in networks)


def _reference_bytes(
    read: ReadJob, compiler: Compiler, offered: tuple[Precision, ...]
) -> ComponentBytes | None:
    """Return the bytes of the weights of the run of a reference; None where a job has none."""
    twins = [one.writing for one in read.passes if one.writing]
    parts = (Component.DENOISER,)
    found = [_component_bytes(compiler, [twin], parts, offered[0]) for twin in twins]
    return max(found, key=lambda one: one.packed + one.patched, default=None)


def _network_bytes(
    network: Network, compiler: Compiler, offered: tuple[Precision, ...]
) -> ComponentBytes:
    """Return the bytes of the weights of a network that is no component of a checkpoint."""
    return _weight_bytes(network.weights, compiler, network.precisions(offered)[0])


def _weight_bytes(weights: WeightSet, compiler: Compiler, precision: Precision) -> ComponentBytes:
    """Return the bytes of a set of weights without patches."""
    converted = compiler.converted_bytes(weights, precision)
    has_copy = converted > 0 and compiler.has_copy(weights, precision)
    packed = compiler.packed_bytes(weights, precision)
    return ComponentBytes(
        packed,
        converted,
        mapped=converted if has_copy else 0,
        repacks=compiler.repacks(weights),
        in_place=compiler.in_place_bytes(weights, precision),
        bound=compiler.bound_bytes(weights, precision),
        looked_up=compiler.looked_up_bytes(weights, precision),
    )


def _component_bytes(
    compiler: Compiler,
    variants: Sequence[IdentifiedCheckpoint],
    components: tuple[Component, ...],
    precision: Precision,
) -> ComponentBytes:
    """Return the bytes of the weights of some components, all loaded at once.

    `variants` are a checkpoint with the LoRAs of different pictures: those that take most count.
    """
    found: list[ComponentBytes] = []
    for component in components:
        weights = variants[0].weights_of(component)
        every = [one.patches[component] for one in variants if component in one.patches]
        branches = max((one.branch_bytes for one in every), default=0)
        patched = max(
            (
                compiler.patched_bytes(weights, one.merged, precision) + one.branch_bytes
                for one in every
            ),
            default=0,
        )
        own = _weight_bytes(weights, compiler, precision)
        found.append(replace(own, patched=patched, branches=branches))
    return total_bytes(found)
