"""Rules by which tools draw noise of the same seed.

The arithmetic is in `engine.sampling`.
"""

from enum import StrEnum


class InitialNoise(StrEnum):
    """The scale of the standard normal first noise, for a first noise level sigma."""

    SIGMA = "sigma"  # times sigma
    VARIANCE = "variance"  # times sqrt(1 + sigma^2) at the highest level, times sigma below it
    SCHEDULER = "scheduler"  # as the sampler's scheduler in diffusers scales it


class RandomSource(StrEnum):
    """The random number generator of PyTorch that draws the noise."""

    CPU = "cpu"  # mt19937
    CUDA = "cuda"  # Philox, as NVIDIA cards draw


class SdeNoise(StrEnum):
    """The noise that the SDE samplers add at each step."""

    BROWNIAN = "brownian"  # increments of torchsde's Brownian tree, drawn by `random_source`
    BROWNIAN_CUDA = "brownian_cuda"  # the same, drawn by CUDA's generator (ComfyUI's "_gpu")
    STREAM = "stream"  # the next values of the picture's generator


class StepSeed(StrEnum):
    """The seed of the generator that draws the noise of the steps."""

    CONTINUED = "continued"  # none: the generator of the first noise continues
    SAME = "same"  # a new generator with the picture's seed
    FLIPPED = "flipped"  # a new generator with the picture's seed, its low 32 bits flipped


class BatchSeeds(StrEnum):
    """The generators and seeds from which the pictures of a batch get their noise."""

    SUCCESSIVE = "successive"  # one generator per picture, with seeds n, n + 1, ...
    ONE_STREAM = "one_stream"  # one generator with seed n for all pictures in turn
