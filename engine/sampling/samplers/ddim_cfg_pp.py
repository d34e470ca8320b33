"""DDIM under CFG++, as in A1111."""

from collections.abc import Iterator

import msgspec
import numpy as np

from engine.sampling.samplers.euler_cfg_pp import euler_ancestral_cfg_pp
from engine.sampling.types import GuidedDenoise, Latent, NoiseSource, Sigmas, Step

# A1111 maps the usual scales of guidance, up to 12.5, to the paper's, up to 1.
_SCALE = 12.5


def ddim_cfg_pp(
    denoise: GuidedDenoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 0.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Run `euler_ancestral_cfg_pp` with guidance divided by 12.5; one evaluation per step.

    A1111 `ddim_cfgpp`, at the timesteps of its DDIM. `eta` is DDIM's.
    """
    return euler_ancestral_cfg_pp(
        _Weakened(denoise), x, sigmas, noise, eta=eta, noise_scale=noise_scale
    )


class _Weakened(msgspec.Struct, frozen=True):
    """A `GuidedDenoise` whose guidance is divided by 12.5; the guided picture is linear in it."""

    denoise: GuidedDenoise

    def __call__(self, x: Latent, sigma: np.float32, /) -> Latent:
        return self.pair(x, sigma)[0]

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        guided, negative = self.denoise.pair(x, sigma)
        return negative + (guided - negative) / _SCALE, negative
