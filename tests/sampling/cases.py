"""The cases that are frozen of the tools, and compared with ours."""

from dataclasses import dataclass

from engine.api.noise_rules import RandomSource
from engine.api.request import SeedOptions

STEP_COUNTS = (1, 2, 7, 11, 20, 33)
# Dividing 1000, not dividing it, and beyond half of it.
TIMESTEP_STEPS = (5, 7, 20, 600)
STRENGTHS = (0.0, 0.3, 0.75, 1.0)
# Of A1111: its schedule and the settings that are changed, by their names, which are ours.
SCHEDULE_OPTIONS: tuple[tuple[str, dict[str, float]], ...] = (
    ("karras", {"sigma_min": 0.1, "sigma_max": 10.0, "rho": 5.0}),
    ("exponential", {"sigma_min": 0.1, "sigma_max": 10.0}),
    ("polyexponential", {"sigma_min": 0.02, "rho": 1.5}),
    ("polyexponential", {"rho": 0.5}),
    ("kl_optimal", {"sigma_min": 0.1, "sigma_max": 10.0}),
    ("normal", {"sigma_min": 0.1, "sigma_max": 10.0}),
    ("sgm_uniform", {"sigma_max": 20.0}),
    ("beta", {"sigma_min": 0.1}),
)


@dataclass(frozen=True, slots=True)
class NoiseCase:
    """A picture whose noise A1111 draws."""

    source: RandomSource
    seed: int
    options: SeedOptions
    shape: tuple[int, int, int] = (4, 7, 9)


_KINDS = {
    "plain": (42, SeedOptions()),
    "variation": (42, SeedOptions(variation_seed=7, variation_strength=0.3)),
    "same_variation": (42, SeedOptions(variation_seed=42, variation_strength=0.3)),
    "from_larger": (42, SeedOptions(resize_from=(96, 128))),
    "from_smaller": (42, SeedOptions(resize_from=(72, 64))),
    "from_wider": (42, SeedOptions(resize_from=(104, 64))),
    "from_smaller_varied": (
        42,
        SeedOptions(resize_from=(64, 48), variation_seed=9, variation_strength=0.8),
    ),
    "eta_seed_delta": (42, SeedOptions(eta_seed_delta=31337)),
    "large_seed": (2**40 + 5, SeedOptions(variation_seed=2**33, variation_strength=1.0)),
}
NOISES = {
    f"{source.value}/{name}": NoiseCase(source, seed, options)
    for source in RandomSource
    for name, (seed, options) in _KINDS.items()
}

# Falling, between the levels of training.
LEVELS = (14.0, 9.13, 3.3, 1.0, 0.55, 0.031)


@dataclass(frozen=True, slots=True)
class BatchCase:
    """A batch that ComfyUI draws at once, or the places of one that it draws alone."""

    seed: int
    size: int
    shape: tuple[int, int, int]
    places: tuple[int, ...] | None = None


BATCHES = {
    "one": BatchCase(42, 1, (4, 3, 4)),
    "whole_blocks": BatchCase(42, 3, (4, 4, 4)),
    "broken_blocks": BatchCase(2**40 + 1, 3, (4, 3, 5)),
    "taken_from": BatchCase(7, 4, (4, 3, 5), (2,)),
}

# Of A1111: pictures whose SDE noise is drawn over `LEVELS`.
TREE_SEEDS = (42, 2**35 + 1)
TREE_SHAPE = (4, 3, 5)
