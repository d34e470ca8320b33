"""PLMS, the pseudo linear multistep method of the first Stable Diffusion."""

from collections import deque
from collections.abc import Iterator

import numpy as np

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals

# Adams-Bashforth weights for even steps: of this step's slope, and of the earlier ones.
_WEIGHTS = (
    (1.0,),
    (3 / 2, -1 / 2),
    (23 / 12, -16 / 12, 5 / 12),
    (55 / 24, -59 / 24, 37 / 24, -9 / 24),
)


def plms(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    improves_first: bool = True,
) -> Iterator[Step]:
    """Continue the last four slopes as if steps were even; one evaluation per step, no noise.

    Liu et al. (2022), PNDM, equations 12 and 13 and appendix A.3. What they call the transfer part
    is Euler's step in variance-exploding form. The first step, which has no slopes before it, is
    Heun's and takes two evaluations: A1111's PLMS, and diffusers' `PNDMScheduler` with
    `skip_prk_steps`. Without `improves_first` it is Euler's: ComfyUI `sample_ipndm`. A step to
    sigma 0 takes the picture, as there; the others never go so far.
    """
    slopes: deque[Latent] = deque(maxlen=len(_WEIGHTS))
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        slopes.appendleft(derivative(x, sigma, denoised))
        if sigma_next == 0:
            x = denoised
        else:
            weights = _WEIGHTS[len(slopes) - 1]
            parts = [weight * past for weight, past in zip(weights, slopes, strict=True)]
            slope = np.sum(parts, axis=0)
            length = sigma_next - sigma
            if index == 0 and improves_first:
                ahead = x + slope * length
                slope = (slope + derivative(ahead, sigma_next, denoise(ahead, sigma_next))) / 2
            x = x + slope * length
        yield Step(index, sigma, x, denoised)
