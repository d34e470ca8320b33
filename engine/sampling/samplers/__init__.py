"""The samplers by name. A new one is a file beside these, a `SamplerName` and an entry below."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import msgspec

from engine.api.request import SamplerOptions
from engine.api.values import ConventionName, ErrorCode, SamplerName, ScheduleName
from engine.errors import EngineError
from engine.sampling.samplers.ddim import ddim
from engine.sampling.samplers.dpmpp_2m import dpmpp_2m
from engine.sampling.samplers.dpmpp_2m_sde import SdeCorrection, dpmpp_2m_sde
from engine.sampling.samplers.euler import euler
from engine.sampling.samplers.euler_ancestral import euler_ancestral
from engine.sampling.samplers.heun import heun
from engine.sampling.samplers.lcm import lcm
from engine.sampling.types import GuidedSampler, Sampler

__all__ = [
    "SAMPLERS",
    "SamplerDefaults",
    "SamplerInfo",
    "SdeCorrection",
    "bind_options",
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

    `evaluations` is how often a step of the request calls the denoiser; the step to sigma 0 calls
    it once in any case. `uses_noise` tells whether it draws noise beyond the initial latents when
    no option is set. `options` are the fields of `SamplerOptions` that it takes. The noise of a
    `brownian` one comes from a Brownian path where the tools have one. One that uses `ends_only`
    takes from its schedule the first level, the last above 0 and the number of steps. `variants`
    hold the tools that run it otherwise than `function`, which is k-diffusion's, by convention.
    """

    function: Sampler | GuidedSampler
    uses_noise: bool
    evaluations: int
    defaults: SamplerDefaults
    options: frozenset[str] = frozenset()
    brownian: bool = False
    ends_only: bool = False
    variants: Mapping[ConventionName, Sampler | GuidedSampler] = field(
        default_factory=dict[ConventionName, "Sampler | GuidedSampler"]
    )


_ETA_AND_SCALE = frozenset({"eta", "noise_scale"})
_CHURN = frozenset({"churn", "churn_from", "churn_to", "noise_scale"})
_NORMAL = SamplerDefaults(ScheduleName.NORMAL)
_KARRAS = SamplerDefaults(ScheduleName.KARRAS)

# The schedules are what A1111's "Automatic" chooses, but for 2M SDE, where that is the exponential
# one, which we lack. LCM's defaults follow LCM-LoRA's card: 2 to 8 steps, guidance from 1 to 2.
SAMPLERS: Mapping[SamplerName, SamplerInfo] = {
    SamplerName.EULER: SamplerInfo(euler, False, 1, _NORMAL, _CHURN),
    SamplerName.EULER_ANCESTRAL: SamplerInfo(euler_ancestral, True, 1, _NORMAL, _ETA_AND_SCALE),
    SamplerName.HEUN: SamplerInfo(heun, False, 2, _NORMAL, _CHURN),
    SamplerName.DPMPP_2M: SamplerInfo(dpmpp_2m, False, 1, _KARRAS),
    SamplerName.DPMPP_2M_SDE: SamplerInfo(
        dpmpp_2m_sde, True, 1, _KARRAS, _ETA_AND_SCALE, brownian=True
    ),
    SamplerName.DDIM: SamplerInfo(ddim, False, 1, _NORMAL, _ETA_AND_SCALE),
    SamplerName.LCM: SamplerInfo(
        lcm,
        True,
        1,
        SamplerDefaults(ScheduleName.SGM_UNIFORM, steps=6, guidance=1.5),
        frozenset({"noise_scale"}),
    ),
}

# Far beyond what any tool offers, and far from where float32 ends.
_MOST = 10_000.0


def bind_options(
    name: SamplerName, options: SamplerOptions, convention: ConventionName | None = None
) -> Sampler | GuidedSampler:
    """The sampler as a tool runs it, with the options that a request sets.

    Raises EngineError REQUEST_INVALID for an option that it has not got, or a value outside of
    0 to 10000.
    """
    info = SAMPLERS[name]
    given: dict[str, float] = {
        option: value
        for option, value in msgspec.structs.asdict(options).items()
        if value is not None
    }
    for option, value in given.items():
        if option not in info.options:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                f"The sampler {name.label} has no option {option}.",
                f"It takes {', '.join(sorted(info.options)) or 'none'}.",
            )
        if not 0 <= value <= _MOST:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                f"The sampler option {option} must be between 0 and {_MOST:.0f}, not {value}.",
                "Leave it out for the sampler's own value.",
            )
    function = info.function if convention is None else info.variants.get(convention, info.function)
    return cast("Sampler", partial(function, **given)) if given else function
