"""The samplers by name. A new one is a file beside these, a `SamplerName` and an entry below."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.api.values import SamplerName, ScheduleName
from engine.sampling.samplers.ddim import ddim
from engine.sampling.samplers.dpmpp_2m import dpmpp_2m
from engine.sampling.samplers.dpmpp_2m_sde import SdeCorrection, dpmpp_2m_sde
from engine.sampling.samplers.euler import euler
from engine.sampling.samplers.euler_ancestral import euler_ancestral
from engine.sampling.samplers.heun import heun
from engine.sampling.samplers.lcm import lcm
from engine.sampling.types import Sampler

__all__ = [
    "SAMPLERS",
    "SamplerDefaults",
    "SamplerInfo",
    "SdeCorrection",
    "ddim",
    "dpmpp_2m",
    "dpmpp_2m_sde",
    "euler",
    "euler_ancestral",
    "heun",
    "lcm",
]


@dataclass(frozen=True, slots=True)
class SamplerDefaults:
    """What a request that leaves a choice open gets with this sampler."""

    schedule: ScheduleName
    steps: int = 20
    guidance: float = 7.0


@dataclass(frozen=True, slots=True)
class SamplerInfo:
    """A sampler and what planning needs to know of it.

    `evaluations` is how often a step calls the denoiser; the step to sigma 0 calls it once in any
    case. `uses_noise` tells whether it draws noise beyond the initial latents.
    """

    function: Sampler
    uses_noise: bool
    evaluations: int
    defaults: SamplerDefaults


# The schedules are what A1111's "Automatic" chooses, but for 2M SDE, where that is the exponential
# one, which we lack. LCM's defaults follow LCM-LoRA's card: 2 to 8 steps, guidance from 1 to 2.
SAMPLERS: Mapping[SamplerName, SamplerInfo] = {
    SamplerName.EULER: SamplerInfo(euler, False, 1, SamplerDefaults(ScheduleName.NORMAL)),
    SamplerName.EULER_ANCESTRAL: SamplerInfo(
        euler_ancestral, True, 1, SamplerDefaults(ScheduleName.NORMAL)
    ),
    SamplerName.HEUN: SamplerInfo(heun, False, 2, SamplerDefaults(ScheduleName.NORMAL)),
    SamplerName.DPMPP_2M: SamplerInfo(dpmpp_2m, False, 1, SamplerDefaults(ScheduleName.KARRAS)),
    SamplerName.DPMPP_2M_SDE: SamplerInfo(
        dpmpp_2m_sde, True, 1, SamplerDefaults(ScheduleName.KARRAS)
    ),
    SamplerName.DDIM: SamplerInfo(ddim, False, 1, SamplerDefaults(ScheduleName.NORMAL)),
    SamplerName.LCM: SamplerInfo(
        lcm, True, 1, SamplerDefaults(ScheduleName.SGM_UNIFORM, steps=6, guidance=1.5)
    ),
}
