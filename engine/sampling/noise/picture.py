"""All the noise of one picture, as the convention's tool draws it."""

from collections.abc import Sequence
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.api.conventions import Convention, RedrawSteps
from engine.api.noise_rules import BatchSeeds, RandomSource, SdeNoise, StepSeed
from engine.api.request import SeedOptions
from engine.sampling.noise.brownian import BrownianNoise
from engine.sampling.noise.torch_cpu import TorchCpuGenerator
from engine.sampling.noise.torch_cuda import TorchCudaGenerator
from engine.sampling.noise.variation import centred, slerp
from engine.sampling.types import Latent, NoiseSource, Sigmas

_SPAN_WHOLE = (RedrawSteps.A1111, RedrawSteps.A1111_EXACT)
# A1111 divides the side of "resize seed from" by this for every kind of latent.
_DOWNSCALE = 8


class TorchGenerator(Protocol):
    """One of torch's generators."""

    def randn(self, shape: Sequence[int]) -> NDArray[np.float32]:
        """Return the next standard normal values."""
        ...

    def randn_of_batch(self, shape: Sequence[int], index: int, size: int) -> NDArray[np.float32]:
        """Draw [size, *shape] and return the values at `index`."""
        ...


def torch_generator(source: RandomSource, seed: int) -> TorchGenerator:
    """Return a generator of this kind after `manual_seed(seed)`."""
    match source:
        case RandomSource.CPU:
            return TorchCpuGenerator(seed)
        case RandomSource.CUDA:
            return TorchCudaGenerator(seed)


class _Place(msgspec.Struct, frozen=True):
    """A picture's place in a batch whose noise is drawn at once."""

    index: int
    size: int

    def next(self, generator: TorchGenerator, shape: Sequence[int]) -> Latent:
        """Draw for the whole batch and return the picture's part."""
        return generator.randn_of_batch(shape, self.index, self.size)


class PictureNoise(msgspec.Struct, frozen=True):
    """The noise of one picture: `first`, float32 [1, C, H, W], and that of its later steps."""

    first: Latent
    _seed: int
    _convention: Convention
    _place: _Place
    _stream: TorchGenerator

    def next(self) -> Latent:
        """Return the next noise of the picture's generator, in the shape of `first`."""
        return self._next(self._stream)

    def steps(self, taken: Sigmas, whole: Sigmas, *, brownian: bool) -> NoiseSource:
        """Return the noise source of a sampler that visits the levels `taken`, the end of `whole`.

        Brownian samplers get increments of a path if the tool uses one; other samplers get the next
        values of the generator, whatever the interval. Each call starts a new path, but continues
        the generator. A1111's path spans the whole schedule (`create_noise_sampler`), that of
        ComfyUI and k-diffusion only `taken`.
        """
        sde_noise = self._convention.sde_noise
        spanned = whole if self._convention.redraw_steps in _SPAN_WHOLE else taken
        noisy = spanned[spanned > 0]
        # Without a level above 0 no step is taken.
        if not brownian or sde_noise is SdeNoise.STREAM or not len(noisy):
            return self._next_of_stream
        card = sde_noise is SdeNoise.BROWNIAN_CUDA
        source = RandomSource.CUDA if card else self._convention.random_source

        def draw(node_seed: int) -> Latent:
            return self._next(torch_generator(source, node_seed))

        return BrownianNoise(self._seed, draw, noisy.min(), noisy.max())

    def _next_of_stream(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        return self.next()

    def _next(self, generator: TorchGenerator) -> Latent:
        return self._place.next(generator, self.first.shape[1:])[np.newaxis]


def picture_noise(
    seed: int,
    shape: tuple[int, int, int],
    options: SeedOptions,
    convention: Convention,
    skipped: int = 0,
) -> PictureNoise:
    """Return the noise of a picture; `shape` is (channels, height / 8, width / 8).

    `seed` and `options` are those of this very picture, in the ranges that `resolve` allows. Where
    a batch is drawn from one stream, `options.batch_index` is the picture's place. A place beyond
    `options.batch_size` gets the latent it would have in a larger batch (ComfyUI `prepare_noise`
    with batch_index, "Latent From Batch"), and the steps' noise of a single picture. `skipped`
    counts latents that the tool draws from the same generator beforehand: diffusers draws one when
    it samples the latent of a picture to be redrawn.

    Variations and other sizes follow A1111 (`ImageRNG.first`) for every tool.
    """
    one_stream = convention.batch_seeds is BatchSeeds.ONE_STREAM
    index, size = (options.batch_index, options.batch_size) if one_stream else (0, 1)
    place = _Place(index, size) if index < size else _Place(0, 1)
    before = skipped if index < size else skipped + index
    source = convention.random_source

    def drawn(from_seed: int, of_shape: tuple[int, int, int]) -> tuple[Latent, TorchGenerator]:
        generator = torch_generator(source, from_seed)
        for _ in range(before):
            place.next(generator, of_shape)
        return place.next(generator, of_shape), generator

    inner = _inner_shape(shape, options)
    outer, generator = drawn(seed, shape)
    noise = outer if inner == shape else drawn(seed, inner)[0]
    if options.variation_seed is not None and options.variation_strength != 0:
        noise = slerp(options.variation_strength, noise, drawn(options.variation_seed, inner)[0])
    first = noise if inner == shape else centred(noise, outer)
    stream = _stream(seed, options.eta_seed_delta, convention, generator)
    return PictureNoise(first[np.newaxis], seed, convention, place, stream)


def _inner_shape(shape: tuple[int, int, int], options: SeedOptions) -> tuple[int, int, int]:
    if options.resize_from is None:
        return shape
    width, height = options.resize_from
    return shape[0], height // _DOWNSCALE, width // _DOWNSCALE


def _stream(
    seed: int, delta: int, convention: Convention, generator: TorchGenerator
) -> TorchGenerator:
    """Return the generator of the steps' noise; `generator` has drawn the first noise."""
    match convention.step_seed:
        case StepSeed.CONTINUED:
            # A1111's "eta noise seed delta" (`ImageRNG.first`).
            return torch_generator(convention.random_source, seed + delta) if delta else generator
        case StepSeed.SAME:
            return torch_generator(convention.step_source, seed + delta)
        case StepSeed.FLIPPED:
            return torch_generator(convention.step_source, (seed + delta) ^ 0xFFFFFFFF)
