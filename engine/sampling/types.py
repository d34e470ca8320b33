"""The types of samplers: latents, noise levels, the denoiser they call and the steps they yield.

Latents are kept in k-diffusion's variance-exploding form, x = picture + sigma * noise, whatever the
network was trained on: `engine.sampling.denoiser` converts. All arithmetic is float32, like that of
the tools whose pictures we reproduce.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

# float32 [batch, channels, height / 8, width / 8]. The type does not say 32 because NumPy's
# annotations widen products of arrays and scalars that stay float32 at run time; the tests check
# that.
Latent = NDArray[np.floating[Any]]
# float32 [steps + 1]: falling noise levels, the last usually 0. A sampler takes one step per pair.
Sigmas = NDArray[np.float32]
# Returns the denoised picture, the most likely one given x at noise level sigma, in the shape of x.
Denoise = Callable[[Latent, np.float32], Latent]
# The network with its conditioning bound: (float32 [B, C, H, W], timestep, guided) -> float32
# [n * B, C, H, W]. The outputs are in order: one for each positive prompt; if guided, one for the
# negative prompt; if guided and with image guidance, one for the negative prompt without the
# picture. The timestep is one fractional number for the whole batch.
Predict = Callable[[Latent, np.float32, bool], Latent]


class AttentivePredict(Protocol):
    """A `Predict` whose network can also perturb its self-attention, and show it."""

    def __call__(self, x: Latent, timestep: np.float32, guided: bool, /) -> Latent:
        """Return the outputs as `Predict` does."""
        ...

    def perturbed(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        """Return them, followed by one with perturbed attention for each positive prompt."""
        ...

    def attention(self) -> Latent:
        """Return the attention of the middle in the latest evaluation: [n * B, cells]."""
        ...

    def again(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        """Evaluate the network once more in the same step, with another `x`.

        Returns the output for the negative prompt; for the positive prompts unless `guided`.
        """
        ...


class GuidedDenoise(Protocol):
    """A `Denoise` that also returns the picture under the negative prompt."""

    def __call__(self, x: Latent, sigma: np.float32, /) -> Latent:
        """Return the denoised picture, guided by the prompts."""
        ...

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        """Return the guided picture and the one under the negative prompt alone, shaped as x."""
        ...


class NoiseSource(Protocol):
    """Fresh noise for samplers that add some at each step.

    The interval is an argument because Brownian sources (torchsde's tree) depend on it.
    """

    def __call__(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        """Return standard normal values in the latents' shape, for the step sigma -> sigma_next."""
        ...


class Step(msgspec.Struct, frozen=True):
    """The state after one step of a sampler.

    The step began at the noise level `sigma`; `x` are the latents it arrived at, and `denoised` is
    the network's picture at its beginning, shown as a preview. `done` is the share of the run that
    is finished, from 0 to 1, for samplers whose steps are not one per pair of levels; else it is
    None and the share is (index + 1) / (len(sigmas) - 1).
    """

    index: int
    sigma: np.float32
    x: Latent
    denoised: Latent
    done: float | None = None

    def progress(self, total: int) -> int:
        """Return how many of `total` steps are done."""
        return self.index + 1 if self.done is None else round(self.done * total)


class Sampler(Protocol):
    """Integrates from x at sigmas[0] down to sigmas[-1], yielding after each step."""

    def __call__(
        self, denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource
    ) -> Iterator[Step]:
        """Yield len(sigmas) - 1 steps, or as many as it needs (`Step.done`).

        The result is the last step's x. The argument `x` is not written to.
        """
        ...


class GuidedSampler(Protocol):
    """A `Sampler` that also needs the picture under the negative prompt."""

    def __call__(
        self, denoise: GuidedDenoise, x: Latent, sigmas: Sigmas, noise: NoiseSource
    ) -> Iterator[Step]:
        """Yield steps as `Sampler` does."""
        ...


def intervals(sigmas: Sigmas) -> Iterator[tuple[int, np.float32, np.float32]]:
    """Yield (index, sigma, next sigma) for each step of a schedule."""
    for index in range(len(sigmas) - 1):
        yield index, sigmas[index], sigmas[index + 1]


def derivative(x: Latent, sigma: np.float32, denoised: Latent) -> Latent:
    """Return dx/dsigma of the probability-flow equation (Karras et al. 2022, equation 3)."""
    return (x - denoised) / sigma
