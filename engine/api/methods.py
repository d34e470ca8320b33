"""The facts of samplers and schedules that the engine and the window share."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from engine.api.request import SamplerOptions, ScheduleOptions
from engine.api.values import SamplerName, ScheduleName


class SamplerFacts(NamedTuple):
    """The facts of a sampler that requests, estimates and the window need.

    `options` are the fields of `SamplerOptions` that it reads. `evaluations` is how often a step of
    the request calls the denoiser; the step to sigma 0 always calls it once. `adds_noise`: it draws
    noise beyond the initial latents when no option is set, None if A1111 alone has it so.
    `takes_flows`: it samples on the straight paths of rectified flow, too. `needs_negative`: it
    uses the prediction under the negative prompt by itself, also where guidance is 1.
    """

    options: tuple[str, ...] = ()
    evaluations: int = 1
    adds_noise: bool | None = False
    takes_flows: bool = False
    needs_negative: bool = False


_ETA = ("eta", "noise_scale")
_CHURN = ("churn", "churn_from", "churn_to", "noise_scale")
_SCALE = ("noise_scale",)
SAMPLER_FACTS: Mapping[SamplerName, SamplerFacts] = {
    SamplerName.EULER: SamplerFacts(_CHURN, takes_flows=True),
    SamplerName.EULER_ANCESTRAL: SamplerFacts(_ETA, adds_noise=True, takes_flows=True),
    SamplerName.HEUN: SamplerFacts(_CHURN, evaluations=2, takes_flows=True),
    SamplerName.LMS: SamplerFacts(takes_flows=True),
    SamplerName.DPM2: SamplerFacts(_CHURN, evaluations=2, takes_flows=True),
    SamplerName.DPM2_ANCESTRAL: SamplerFacts(_ETA, evaluations=2, adds_noise=True),
    SamplerName.DPM_FAST: SamplerFacts(_ETA, adds_noise=None),
    SamplerName.DPM_ADAPTIVE: SamplerFacts(_ETA, adds_noise=None),
    SamplerName.DPMPP_2S_ANCESTRAL: SamplerFacts(
        _ETA, evaluations=2, adds_noise=True, takes_flows=True
    ),
    SamplerName.DPMPP_2M: SamplerFacts(takes_flows=True),
    SamplerName.DPMPP_SDE: SamplerFacts(_ETA, evaluations=2, adds_noise=True, takes_flows=True),
    SamplerName.DPMPP_2M_SDE: SamplerFacts(_ETA, adds_noise=True, takes_flows=True),
    SamplerName.DPMPP_2M_SDE_HEUN: SamplerFacts(_ETA, adds_noise=True, takes_flows=True),
    SamplerName.DPMPP_3M_SDE: SamplerFacts(_ETA, adds_noise=True, takes_flows=True),
    SamplerName.RESTART: SamplerFacts(_SCALE, evaluations=2, adds_noise=True),
    SamplerName.RES_MULTISTEP: SamplerFacts(_ETA, takes_flows=True),
    SamplerName.DEIS: SamplerFacts(takes_flows=True),
    SamplerName.UNIPC: SamplerFacts(),
    SamplerName.UNIPC_BH2: SamplerFacts(),
    SamplerName.PLMS: SamplerFacts(),
    SamplerName.DDIM: SamplerFacts(_ETA),
    SamplerName.DDPM: SamplerFacts(_SCALE, adds_noise=True),
    SamplerName.EULER_CFG_PP: SamplerFacts(needs_negative=True),
    SamplerName.EULER_ANCESTRAL_CFG_PP: SamplerFacts(_ETA, adds_noise=True, needs_negative=True),
    SamplerName.DDIM_CFG_PP: SamplerFacts(_ETA, needs_negative=True),
    SamplerName.LCM: SamplerFacts(_SCALE, adds_noise=True),
    SamplerName.TCD: SamplerFacts(_ETA, adds_noise=True),
}

_ENDS = ("sigma_min", "sigma_max")
SCHEDULE_OPTIONS: Mapping[ScheduleName, tuple[str, ...]] = {
    ScheduleName.NORMAL: _ENDS,
    ScheduleName.KARRAS: (*_ENDS, "rho"),
    ScheduleName.SGM_UNIFORM: _ENDS,
    ScheduleName.BETA: _ENDS,
    ScheduleName.EXPONENTIAL: _ENDS,
    ScheduleName.POLYEXPONENTIAL: (*_ENDS, "rho"),
    ScheduleName.KL_OPTIMAL: _ENDS,
}

_Options = TypeVar("_Options", bound=msgspec.Struct)


def options_of(sampler: SamplerName | None) -> tuple[str, ...]:
    """Return the options that a sampler reads, none without one."""
    return SAMPLER_FACTS[sampler].options if sampler else ()


def sampler_options_of(sampler: SamplerName | None, options: SamplerOptions) -> SamplerOptions:
    """Return the options that a sampler reads, none without one; the engine refuses others."""
    return _only(options, options_of(sampler))


def schedule_options_of(schedule: ScheduleName | None, options: ScheduleOptions) -> ScheduleOptions:
    """Return the options that a schedule reads, none without one; the engine refuses others."""
    return _only(options, SCHEDULE_OPTIONS.get(schedule, ()) if schedule else ())


def _only(options: _Options, names: tuple[str, ...]) -> _Options:
    values: dict[str, Any] = {name: getattr(options, name) for name in names}
    return type(options)(**values)
