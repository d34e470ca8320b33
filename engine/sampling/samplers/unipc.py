"""UniPC: a multistep exponential integrator that corrects each step by the next evaluation."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec
import numpy as np

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, intervals


class UniPcVariant(StrEnum):
    """The paper's B(h), a function of the length h of a step in log(sigma)."""

    BH1 = "bh1"  # -h
    BH2 = "bh2"  # exp(-h) - 1


def unipc(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    order: int = 3,
    variant: UniPcVariant = UniPcVariant.BH1,
    lower_order_final: bool = True,
    ends_at: float = 0.0,
) -> Iterator[Step]:
    """Predict the next x, and correct it once the picture there is known; draws no noise.

    Zhao et al. (2023), UniPC, algorithms 5 to 8 for the picture (predict_x0), multistep. One
    evaluation per step, made at the uncorrected x; the yielded latents are uncorrected, too. The
    first steps have fewer pictures before them and a lower order; with `lower_order_final` so have
    the last. A step to sigma 0 goes to the level `ends_at` instead, or to the picture.

    A1111 and ComfyUI: order 3, `BH1`; ComfyUI ends at 0.001, and A1111's own levels do not reach 0.
    diffusers' `UniPCMultistepScheduler`: order 2, `BH2`, to the picture.
    """
    if sigmas[-1] == 0:
        sigmas = np.append(sigmas[:-1], sigmas.dtype.type(ends_at))
    steps = len(sigmas) - 1
    past: deque[_Past] = deque(maxlen=order)
    used, start = 0, x
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        if past:
            x = _advance(start, list(past)[:used], float(sigma), variant, ahead=denoised)
        past.appendleft(_Past(float(sigma), denoised))
        used, start = len(past), x
        if lower_order_final:
            used = min(used, steps - index)
        if sigma_next == 0:
            x = denoised
        else:
            x = _advance(start, list(past)[:used], float(sigma_next), variant)
        yield Step(index, sigma, x, denoised)


class _Past(msgspec.Struct, frozen=True):
    """A denoised picture and its level."""

    sigma: float
    picture: Latent


def _advance(
    x: Latent,
    past: Sequence[_Past],
    sigma: float,
    variant: UniPcVariant,
    ahead: Latent | None = None,
) -> Latent:
    """Step from x at the level of past[0] to `sigma`; `ahead`, if given, corrects the step.

    The order is the number of pictures in `past`, newest first.
    """
    newest = past[0]
    length = math.log(newest.sigma) - math.log(sigma)
    # The other pictures' places in units of the step, and the rate of change that each implies.
    places = [(math.log(newest.sigma) - math.log(old.sigma)) / length for old in past[1:]]
    changes = [
        (old.picture - newest.picture) / place for old, place in zip(past[1:], places, strict=True)
    ]
    if ahead is not None:
        places.append(1.0)
        changes.append(ahead - newest.picture)
    scale = -length if variant is UniPcVariant.BH1 else math.expm1(-length)
    x = sigma / newest.sigma * x - math.expm1(-length) * newest.picture
    for weight, change in zip(_weights(places, -length, scale), changes, strict=True):
        x = x - scale * weight * change
    return x


def _weights(places: Sequence[float], h: float, scale: float) -> list[float]:
    """Return the paper's rho: the solution of equation 6, or 1/2 for a single one."""
    if len(places) == 1:
        return [0.5]
    targets: list[float] = []
    # h * phi_2(h), h * phi_3(h), ... by recursion.
    phi = math.expm1(h) / h - 1
    factorial = 1
    for power in range(1, len(places) + 1):
        targets.append(phi * factorial / scale)
        factorial *= power + 1
        phi = phi / h - 1 / factorial
    powers = np.vander(places, increasing=True).T
    return [float(weight) for weight in np.linalg.solve(powers, np.array(targets))]
