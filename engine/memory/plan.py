"""The memory plan: decided before the first step from sizes and from what is free now."""

from dataclasses import dataclass, replace
from enum import StrEnum

# What a working set needs beside weights: measured peaks of SD 1.5 at 512x512, per latent cell.
_DENOISER_BYTES_PER_CELL = 75_000
_VAE_BYTES_PER_CELL = 165_000
# Interpreter, runtime and libraries.
_BASE_BYTES = 200 << 20
# What the rest of the machine keeps.
_SHARE_OF_FREE = 0.8


class WeightPlacement(StrEnum):
    """Where weights live that must be converted.

    The second writes a working copy beside the job, so that the next start converts nothing.
    """

    MEMORY = "memory"
    MEMORY_THEN_COPY = "memory_then_copy"
    WORKING_COPY = "working_copy"


@dataclass(frozen=True, slots=True)
class ComponentBytes:
    """A component's weights as the runtime packs them, and those it would hold converted."""

    packed: int
    converted: int


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """What is in memory when; `peak_bytes` is the estimate it was chosen by."""

    placement: WeightPlacement
    # Denoiser and VAE stay loaded between pictures, instead of taking turns.
    together: bool
    peak_bytes: int
    budget_bytes: int
    # All networks stay loaded, for the next job too.
    resident: bool = False

    @property
    def fits(self) -> bool:
        """Whether the estimate is within the budget."""
        return self.peak_bytes <= self.budget_bytes


def plan_memory(
    denoiser: ComponentBytes,
    vae: ComponentBytes,
    text_encoder: ComponentBytes,
    *,
    cells: int,
    pictures: int,
    more_jobs: bool,
    free_bytes: int,
    limit_bytes: int | None,
) -> MemoryPlan:
    """Choose the fastest way that fits: converted in memory, or a mapped working copy.

    `cells` is latent height times width. Components take turns unless several pictures are made
    and both fit at once, because reloading costs seconds and one picture needs each only once.
    Where `more_jobs` may come, all of them stay if they fit.
    """
    budget = limit_bytes if limit_bytes is not None else int(free_bytes * _SHARE_OF_FREE)
    denoiser_run = denoiser.packed + cells * _DENOISER_BYTES_PER_CELL
    vae_run = vae.packed + cells * _VAE_BYTES_PER_CELL

    def plan(placement: WeightPlacement, together: bool, resident: bool) -> MemoryPlan:
        held = placement is WeightPlacement.MEMORY
        first = denoiser_run + denoiser.converted * held
        second = vae_run + vae.converted * held
        third = (text_encoder.packed + text_encoder.converted * held) * resident
        peak = _BASE_BYTES + third + (first + second if together else max(first, second))
        return MemoryPlan(placement, together, peak, budget, resident)

    ways = [(True, True)] * more_jobs + [(True, False)] * (pictures > 1) + [(False, False)]
    plans = [
        plan(placement, *way)
        for placement in (WeightPlacement.MEMORY, WeightPlacement.WORKING_COPY)
        for way in ways
    ]
    chosen = next((plan for plan in plans if plan.fits), plans[-1])
    return _with_copy(chosen, denoiser.converted)


def _with_copy(plan: MemoryPlan, converted: int) -> MemoryPlan:
    """The same, with working copies written beside it where there is room.

    What is written is held until then: on a slow disk longer than its network.
    """
    room = plan.budget_bytes - plan.peak_bytes >= converted > 0
    if plan.placement is not WeightPlacement.MEMORY or not room:
        return plan
    return replace(plan, placement=WeightPlacement.MEMORY_THEN_COPY)
