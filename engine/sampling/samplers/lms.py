"""Linear multistep: the slopes of past steps are extrapolated by a polynomial."""

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals

# Slopes in use, including this step's own.
_ORDER = 4
# The two Gauss-Legendre points: exact for polynomials up to degree 3 = _ORDER - 1.
_POINTS = (-(3**-0.5), 3**-0.5)


def lms(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    ends_with_picture: bool = False,
) -> Iterator[Step]:
    """Integrate the polynomial through the last four slopes; one evaluation per step, no noise.

    Adams-Bashforth for uneven steps; the first three have fewer slopes and a lower order.
    k-diffusion `sample_lms` continues the polynomial down to sigma 0; with `ends_with_picture`, as
    in ComfyUI, the last denoised picture is taken there.
    """
    slopes: deque[Latent] = deque(maxlen=_ORDER)
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        slopes.appendleft(derivative(x, sigma, denoised))
        if ends_with_picture and sigma_next == 0:
            x = denoised
        else:
            # From this step's level back to the oldest in use.
            levels = [float(sigmas[index - back]) for back in range(len(slopes))]
            weights = _weights(levels, float(sigma_next))
            x = x + sum(weight * slope for weight, slope in zip(weights, slopes, strict=True))
        yield Step(index, sigma, x, denoised)


def _weights(levels: Sequence[float], end: float) -> list[float]:
    """Return the integral from levels[0] to `end` of each Lagrange polynomial on the levels."""
    half = (end - levels[0]) / 2
    points = [levels[0] + half * (1 + point) for point in _POINTS]
    return [
        half * sum(_lagrange(levels, own, point) for point in points) for own in range(len(levels))
    ]


def _lagrange(levels: Sequence[float], own: int, at: float) -> float:
    """Evaluate the polynomial that is 1 at levels[own] and 0 at the other levels."""
    others = [level for index, level in enumerate(levels) if index != own]
    return float(np.prod([(at - other) / (levels[own] - other) for other in others]))
