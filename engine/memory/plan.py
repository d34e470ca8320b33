"""The memory plan: decided before the first step from sizes and from what is free now."""

from dataclasses import dataclass
from enum import StrEnum

# What a working set needs beside weights, per latent cell: measured peaks of SD 1.5 at 512x512 and
# of SDXL at 1024x1024, in bfloat16.
_DENOISER_BYTES_PER_CELL = 90_000
# Under a prompt and its negative.
_MEASURED_CONTEXTS = 2
# For each byte of a number; of the VAE's core alone (`engine.graphs.vae_tiles`) and of all of it.
_VAE_CORE_BYTES_PER_CELL = 12_000
_VAE_BYTES_PER_CELL = 90_000
# A side of the tiles that are taken where the whole does not fit.
TILE_CELLS = 72
# Interpreter, runtime and libraries.
_BASE_BYTES = 200 << 20
# What the rest of the machine keeps.
_SHARE_OF_FREE = 0.8


class WeightPlacement(StrEnum):
    """Where weights live that must be converted."""

    MEMORY = "memory"
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
    # The denoiser is loaded while the last text encoder still is.
    beside: bool = True
    # The VAE works in tiles, asked for or not.
    tiles: bool = False

    @property
    def fits(self) -> bool:
        """Whether the estimate is within the budget."""
        return self.peak_bytes <= self.budget_bytes


def plan_memory(
    denoiser: ComponentBytes,
    vae: ComponentBytes,
    text_encoder: ComponentBytes,
    *,
    largest_text: ComponentBytes | None = None,
    vae_itemsize: int = 2,
    tile_cells: int | None = None,
    preview_bytes: int = 0,
    contexts: int = _MEASURED_CONTEXTS,
    cells: int,
    pictures: int,
    more_jobs: bool,
    free_bytes: int,
    limit_bytes: int | None,
    refiner: ComponentBytes | None = None,
) -> MemoryPlan:
    """Choose the fastest way that fits: converted in memory, or a mapped working copy.

    `cells` is latent height times width. Components take turns unless several pictures are made
    and both fit at once, because reloading costs seconds and one picture needs each only once.
    Where `more_jobs` may come, all of them stay if they fit. The others are those of `_Needs`;
    without `tile_cells` tiles are taken where components take turns and the whole does not fit.
    """
    budget = limit_bytes if limit_bytes is not None else int(free_bytes * _SHARE_OF_FREE)
    tile = min(cells, tile_cells or TILE_CELLS**2)
    texts = text_encoder, largest_text or text_encoder
    working = cells, tile, vae_itemsize, preview_bytes, contexts
    needs = _Needs(denoiser, vae, *texts, refiner, *working)

    def plan(placement: WeightPlacement, way: _Way) -> MemoryPlan:
        peak = needs.peak(way, held=placement is WeightPlacement.MEMORY)
        chosen = (way.together, peak, budget, way.resident, way.beside, way.tiles)
        return MemoryPlan(placement, *chosen)

    ways = _ways(more_jobs=more_jobs, several=pictures > 1, tiles=tile_cells is not None)
    plans = [plan(placement, way) for placement in WeightPlacement for way in ways]
    return next((plan for plan in plans if plan.fits), plans[-1])


@dataclass(frozen=True, slots=True)
class _Needs:
    """What a job needs, by which each way is judged."""

    denoiser: ComponentBytes
    vae: ComponentBytes
    # All of them, which are held at once only where they stay, and the largest.
    text_encoder: ComponentBytes
    largest_text: ComponentBytes
    # A second denoiser.
    refiner: ComponentBytes | None
    cells: int
    tile: int
    # Of the numbers that the VAE computes in.
    vae_itemsize: int
    # Held while the denoiser runs.
    preview_bytes: int
    # How many predictions it makes at once: fewer than a prompt and its negative count as these.
    contexts: int

    def peak(self, way: "_Way", *, held: bool) -> int:
        """The most that is in memory; `held`: with weights that were converted there."""
        first = self._run(self.denoiser, held=held) + self.preview_bytes
        whole, core = (0, self.cells) if way.tiles else (self.cells, 0)
        working = (whole or self.tile) * _VAE_BYTES_PER_CELL + core * _VAE_CORE_BYTES_PER_CELL
        second = _held(self.vae, held=held) + working * self.vae_itemsize
        third = _held(self.text_encoder, held=held)
        if not way.resident:
            # Before the first step: one text encoder, and the denoiser without what a step needs.
            loaded = (self.denoiser.converted * held or self.denoiser.packed) * way.beside
            first, third = max(first, _held(self.largest_text, held=held) + loaded), 0
        refining = self._run(self.refiner, held=held) if self.refiner else 0
        runs = first, second, refining
        return _BASE_BYTES + third + (sum(runs) if way.together else max(runs))

    def _run(self, denoiser: ComponentBytes, *, held: bool) -> int:
        times = max(self.contexts, _MEASURED_CONTEXTS) / _MEASURED_CONTEXTS
        return _held(denoiser, held=held) + int(self.cells * _DENOISER_BYTES_PER_CELL * times)


def _held(component: ComponentBytes, *, held: bool) -> int:
    return component.packed + component.converted * held


@dataclass(frozen=True, slots=True)
class _Way:
    """What stays loaded beside what."""

    together: bool = False
    resident: bool = False
    beside: bool = True
    tiles: bool = False


def _ways(*, more_jobs: bool, several: bool, tiles: bool) -> list[_Way]:
    """The fastest first; each needs less than the one before, or as much."""
    ways = [_Way(together=True, resident=True, tiles=tiles)] * more_jobs
    ways += [_Way(together=True, tiles=tiles)] * several
    ways += [_Way(tiles=tiles), _Way(beside=False, tiles=tiles), _Way(beside=False, tiles=True)]
    return ways
