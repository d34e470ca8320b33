"""The fields of `SamplerOptions` and `ScheduleOptions` that each sampler and schedule reads."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from engine.api.request import SamplerOptions, ScheduleOptions
from engine.api.values import SamplerName, ScheduleName

_ETA = ("eta", "noise_scale")
_CHURN = ("churn", "churn_from", "churn_to", "noise_scale")
_SCALE = ("noise_scale",)
# Others read none.
SAMPLER_OPTIONS: Mapping[SamplerName, tuple[str, ...]] = {
    SamplerName.EULER: _CHURN,
    SamplerName.EULER_ANCESTRAL: _ETA,
    SamplerName.HEUN: _CHURN,
    SamplerName.DPM2: _CHURN,
    SamplerName.DPM2_ANCESTRAL: _ETA,
    SamplerName.DPM_FAST: _ETA,
    SamplerName.DPM_ADAPTIVE: _ETA,
    SamplerName.DPMPP_2S_ANCESTRAL: _ETA,
    SamplerName.DPMPP_SDE: _ETA,
    SamplerName.DPMPP_2M_SDE: _ETA,
    SamplerName.DPMPP_2M_SDE_HEUN: _ETA,
    SamplerName.DPMPP_3M_SDE: _ETA,
    SamplerName.RESTART: _SCALE,
    SamplerName.RES_MULTISTEP: _ETA,
    SamplerName.DDIM: _ETA,
    SamplerName.DDPM: _SCALE,
    SamplerName.EULER_ANCESTRAL_CFG_PP: _ETA,
    SamplerName.DDIM_CFG_PP: _ETA,
    SamplerName.LCM: _SCALE,
    SamplerName.TCD: _ETA,
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


def sampler_options_of(sampler: SamplerName | None, options: SamplerOptions) -> SamplerOptions:
    """Return the options that a sampler reads, none without one; the engine refuses others."""
    return _only(options, SAMPLER_OPTIONS.get(sampler, ()) if sampler else ())


def schedule_options_of(schedule: ScheduleName | None, options: ScheduleOptions) -> ScheduleOptions:
    """Return the options that a schedule reads, none without one; the engine refuses others."""
    return _only(options, SCHEDULE_OPTIONS.get(schedule, ()) if schedule else ())


def _only(options: _Options, names: tuple[str, ...]) -> _Options:
    values: dict[str, Any] = {name: getattr(options, name) for name in names}
    return type(options)(**values)
