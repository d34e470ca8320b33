"""DPM-Solver++(3M) on the stochastic equation."""

from collections.abc import Iterator

import msgspec
import numpy as np

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, intervals


class _Past(msgspec.Struct, frozen=True):
    """A finished step: its denoised picture, and its length in log sigma."""

    denoised: Latent
    length: np.float32


def dpmpp_3m_sde(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 1.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Multistep exponential integrator of the reverse SDE; one evaluation per step.

    The denoised picture is extrapolated from this step and the two before by a parabola, at the
    second step by a line. `eta` scales the noise: 0 is the deterministic solver and draws none.
    After Lu et al. (2022), DPM-Solver++, section 5; k-diffusion `sample_dpmpp_3m_sde`, whose
    `s_noise` is `noise_scale`. It is of second order only: the parabola's second derivative is
    twice the divided difference, but k-diffusion counts it once.
    """
    last: _Past | None = None
    before: _Past | None = None
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        if sigma_next == 0:
            x = denoised
        else:
            length = np.log(sigma) - np.log(sigma_next)
            # The decay of the noise in x in log sigma, including the renewed part.
            decay = length * (eta + 1)
            x = np.exp(-decay) * x - np.expm1(-decay) * denoised
            x = x + _correction(denoised, length, decay, last, before)
            if eta > 0:
                spread = np.sqrt(-np.expm1(-2 * length * eta))
                x = x + noise(sigma, sigma_next) * sigma_next * spread * noise_scale
            last, before = _Past(denoised, length), last
        yield Step(index, sigma, x, denoised)


def _correction(
    denoised: Latent,
    length: np.float32,
    decay: np.float32,
    last: _Past | None,
    before: _Past | None,
) -> Latent | float:
    """Return the correction to a step that holds the denoised picture constant.

    Newton's divided differences over the past, in units of this step's length, under the weights
    phi_2 and phi_3 of exponential integrators.
    """
    if last is None:
        return 0.0
    phi_2 = np.expm1(-decay) / decay + 1
    ratio = last.length / length
    change = (denoised - last.denoised) / ratio
    if before is None:
        return phi_2 * change
    ratio_before = before.length / length
    bend = (change - (last.denoised - before.denoised) / ratio_before) / (ratio + ratio_before)
    phi_3 = phi_2 / decay - 0.5
    return phi_2 * (change + bend * ratio) - phi_3 * bend
