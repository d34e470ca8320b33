"""The sampler and schedule options that have an effect; tools also write others."""

from dataclasses import replace

import msgspec

from engine.api import SamplerName, ScheduleName
from engine.api.request import SamplerOptions, ScheduleOptions
from engine.metadata.readers.imported import ImportedRequest
from engine.metadata.readers.values import Values

WITH_ETA = frozenset(
    {
        "euler_a", "dpm2_a", "dpm_fast", "dpm_adaptive", "dpmpp_2s_a", "dpmpp_sde", "dpmpp_2m_sde",
        "dpmpp_2m_sde_heun", "dpmpp_3m_sde", "res_multistep", "ddim", "euler_a_cfg_pp",
        "ddim_cfg_pp", "tcd",
    }
)  # fmt: skip
WITH_CHURN = frozenset({"euler", "heun", "dpm2"})
WITH_NOISE_SCALE = WITH_ETA | WITH_CHURN | {"restart", "ddpm", "lcm"}
WITH_RHO = frozenset({"karras", "polyexponential"})
WITH_ENDS = WITH_RHO | {"normal", "sgm_uniform", "beta", "exponential", "kl_optimal"}


def read_schedule_options(values: Values, **keys: str) -> ScheduleOptions:
    """Return the schedule options by the tool's keys; 0 stands for the default, None."""
    found = values.read(ScheduleOptions, **keys)
    return ScheduleOptions(**{name: value or None for name, value in found.items()})


def fitting(imported: ImportedRequest) -> ImportedRequest:
    """Return the request without options that its sampler or schedule does not have.

    These had no effect on the picture, and the engine refuses them.
    """
    request = imported.request
    changes = {
        "sampler_options": _sampler_options(request.sampler, request.sampler_options),
        "schedule_options": _schedule_options(request.schedule, request.schedule_options),
    }
    return replace(imported, request=msgspec.structs.replace(request, **changes))


def _sampler_options(sampler: SamplerName | None, options: SamplerOptions) -> SamplerOptions:
    has_churn = sampler in WITH_CHURN
    return SamplerOptions(
        eta=options.eta if sampler in WITH_ETA else None,
        noise_scale=options.noise_scale if sampler in WITH_NOISE_SCALE else None,
        churn=options.churn if has_churn else None,
        churn_from=options.churn_from if has_churn else None,
        churn_to=options.churn_to if has_churn else None,
    )


def _schedule_options(schedule: ScheduleName | None, options: ScheduleOptions) -> ScheduleOptions:
    has_ends = schedule in WITH_ENDS
    return ScheduleOptions(
        sigma_min=options.sigma_min if has_ends else None,
        sigma_max=options.sigma_max if has_ends else None,
        rho=options.rho if schedule in WITH_RHO else None,
    )
