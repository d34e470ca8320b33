"""The samplers by name; CONTRIBUTING.md tells how to add one."""

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import msgspec

from engine.api.methods import SAMPLER_FACTS
from engine.api.request import SamplerOptions
from engine.api.sentences import sentence
from engine.api.values import ConventionName, ErrorCode, SamplerName, ScheduleName
from engine.errors import EngineError
from engine.sampling.samplers.ddim import ddim
from engine.sampling.samplers.ddim_cfg_pp import ddim_cfg_pp
from engine.sampling.samplers.ddpm import ddpm
from engine.sampling.samplers.deis import DeisTime, deis
from engine.sampling.samplers.dpm2 import dpm2
from engine.sampling.samplers.dpm2_ancestral import dpm2_ancestral
from engine.sampling.samplers.dpm_adaptive import dpm_adaptive
from engine.sampling.samplers.dpm_fast import dpm_fast
from engine.sampling.samplers.dpmpp_2m import dpmpp_2m
from engine.sampling.samplers.dpmpp_2m_sde import SdeCorrection, dpmpp_2m_sde
from engine.sampling.samplers.dpmpp_2s_ancestral import dpmpp_2s_ancestral
from engine.sampling.samplers.dpmpp_3m_sde import dpmpp_3m_sde
from engine.sampling.samplers.dpmpp_sde import dpmpp_sde
from engine.sampling.samplers.euler import euler
from engine.sampling.samplers.euler_ancestral import euler_ancestral
from engine.sampling.samplers.euler_cfg_pp import euler_ancestral_cfg_pp, euler_cfg_pp
from engine.sampling.samplers.flow import FlowSde, flow_dpmpp_2s_ancestral, flow_euler_ancestral
from engine.sampling.samplers.heun import heun
from engine.sampling.samplers.lcm import lcm
from engine.sampling.samplers.lms import lms
from engine.sampling.samplers.plms import plms
from engine.sampling.samplers.res_multistep import res_multistep
from engine.sampling.samplers.restart import restart
from engine.sampling.samplers.tcd import tcd
from engine.sampling.samplers.unipc import UniPcVariant, unipc
from engine.sampling.schedules import FlowSchedule, NoiseSchedule
from engine.sampling.types import GuidedSampler, Sampler


class SamplerDefaults(msgspec.Struct, frozen=True):
    """A sampler's defaults for requests without schedule, steps or guidance."""

    schedule: ScheduleName
    steps: int = 20
    guidance: float = 7.0


class SamplerInfo(msgspec.Struct, frozen=True):
    """A sampler's function and what running it needs; `engine.api.methods` has its other facts.

    A `brownian` sampler takes its noise from a Brownian path in tools that have one, and runs on
    the straight paths of rectified flow as `FlowSde`. `ends_only` means that only the schedule's
    first level, its last above 0 and its number of steps count. `function` is k-diffusion's;
    `variants` are other tools' versions by convention, `flow` is the one for those straight paths,
    if it is another one.
    """

    function: Sampler | GuidedSampler
    defaults: SamplerDefaults
    brownian: bool = False
    ends_only: bool = False
    variants: Mapping[ConventionName, Sampler | GuidedSampler] = msgspec.field(
        default_factory=dict[ConventionName, "Sampler | GuidedSampler"]
    )
    flow: Sampler | None = None


_NORMAL = SamplerDefaults(ScheduleName.NORMAL)
_KARRAS = SamplerDefaults(ScheduleName.KARRAS)
_EXPONENTIAL = SamplerDefaults(ScheduleName.EXPONENTIAL)
_FEW_STEPS = SamplerDefaults(ScheduleName.SGM_UNIFORM, steps=6, guidance=1.5)
_HEUN_SDE = partial(dpmpp_2m_sde, correction=SdeCorrection.HEUN)
_COMFY_LMS = {ConventionName.COMFY: partial(lms, ends_with_picture=True)}
_A1111_FAST = {ConventionName.A1111: partial(dpm_fast, eta=1.0)}
_A1111_ADAPTIVE = {ConventionName.A1111: partial(dpm_adaptive, eta=1.0)}

_COMFY_PLMS = {ConventionName.COMFY: partial(plms, improves_first=False)}
_LOG_DEIS = partial(deis, order=2, time=DeisTime.LOG_SIGMA, lower_order_final=True)
_DIFFUSERS_DEIS = {ConventionName.DIFFUSERS: _LOG_DEIS, ConventionName.INVOKE: _LOG_DEIS}
_BH2 = partial(unipc, variant=UniPcVariant.BH2)
# diffusers uses this B(h) unless its scheduler is configured otherwise.
_BY_DIFFUSERS = dict.fromkeys(
    (ConventionName.DIFFUSERS, ConventionName.INVOKE), partial(_BH2, order=2)
)
_OTHER_UNIPC = {ConventionName.COMFY: partial(unipc, ends_at=0.001), **_BY_DIFFUSERS}
_OTHER_BH2 = {ConventionName.COMFY: partial(_BH2, ends_at=0.001), **_BY_DIFFUSERS}
# The eta that diffusers' pipelines pass to every scheduler, and InvokeAI to this one.
_OTHER_TCD = {
    ConventionName.DIFFUSERS: partial(tcd, eta=0.0),
    ConventionName.INVOKE: partial(tcd, eta=1.0),
}
# A scale of 1 in CFG++ corresponds to 12.5 elsewhere.
_CFG_PP = SamplerDefaults(ScheduleName.NORMAL, guidance=0.6)
_FOUR_STEPS = SamplerDefaults(ScheduleName.SGM_UNIFORM, steps=4, guidance=1.0)

# The schedules are what A1111's "Automatic" chooses. The defaults of LCM and TCD follow the cards
# of LCM-LoRA (2 to 8 steps, guidance from 1 to 2) and TCD-LoRA.
SAMPLERS: Mapping[SamplerName, SamplerInfo] = {
    SamplerName.EULER: SamplerInfo(euler, _NORMAL),
    SamplerName.EULER_ANCESTRAL: SamplerInfo(euler_ancestral, _NORMAL, flow=flow_euler_ancestral),
    SamplerName.HEUN: SamplerInfo(heun, _NORMAL),
    SamplerName.LMS: SamplerInfo(lms, _NORMAL, variants=_COMFY_LMS),
    SamplerName.DPM2: SamplerInfo(dpm2, _KARRAS),
    SamplerName.DPM2_ANCESTRAL: SamplerInfo(dpm2_ancestral, _KARRAS),
    SamplerName.DPM_FAST: SamplerInfo(dpm_fast, _NORMAL, ends_only=True, variants=_A1111_FAST),
    SamplerName.DPM_ADAPTIVE: SamplerInfo(
        dpm_adaptive, _NORMAL, ends_only=True, variants=_A1111_ADAPTIVE
    ),
    SamplerName.DPMPP_2S_ANCESTRAL: SamplerInfo(
        dpmpp_2s_ancestral, _KARRAS, flow=flow_dpmpp_2s_ancestral
    ),
    SamplerName.DPMPP_2M: SamplerInfo(dpmpp_2m, _KARRAS),
    SamplerName.DPMPP_SDE: SamplerInfo(dpmpp_sde, _KARRAS, brownian=True),
    SamplerName.DPMPP_2M_SDE: SamplerInfo(dpmpp_2m_sde, _EXPONENTIAL, brownian=True),
    SamplerName.DPMPP_2M_SDE_HEUN: SamplerInfo(_HEUN_SDE, _EXPONENTIAL, brownian=True),
    SamplerName.DPMPP_3M_SDE: SamplerInfo(dpmpp_3m_sde, _EXPONENTIAL, brownian=True),
    SamplerName.RESTART: SamplerInfo(restart, _KARRAS),
    SamplerName.RES_MULTISTEP: SamplerInfo(res_multistep, _NORMAL),
    SamplerName.DEIS: SamplerInfo(deis, _NORMAL, variants=_DIFFUSERS_DEIS),
    SamplerName.UNIPC: SamplerInfo(unipc, _NORMAL, variants=_OTHER_UNIPC),
    SamplerName.UNIPC_BH2: SamplerInfo(_BH2, _NORMAL, variants=_OTHER_BH2),
    SamplerName.PLMS: SamplerInfo(plms, _NORMAL, variants=_COMFY_PLMS),
    SamplerName.DDIM: SamplerInfo(ddim, _NORMAL),
    SamplerName.DDPM: SamplerInfo(ddpm, _NORMAL),
    SamplerName.EULER_CFG_PP: SamplerInfo(euler_cfg_pp, _CFG_PP),
    SamplerName.EULER_ANCESTRAL_CFG_PP: SamplerInfo(euler_ancestral_cfg_pp, _CFG_PP),
    SamplerName.DDIM_CFG_PP: SamplerInfo(ddim_cfg_pp, _NORMAL),
    SamplerName.LCM: SamplerInfo(lcm, _FEW_STEPS),
    SamplerName.TCD: SamplerInfo(tcd, _FOUR_STEPS, variants=_OTHER_TCD),
}

# The share of the times that lie above the level by which SDE samplers replace noise alone.
_ABOVE_FIRST = 1e-4
# Far beyond what any tool offers, and far below float32's limit.
_MOST = 10_000.0


def _check_option(name: SamplerName, option: str, value: float) -> None:
    taken = SAMPLER_FACTS[name].options
    if option not in taken:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The sampler {label} has no option {option}.", label=name.label, option=option
            ),
            sentence("It takes {options}.", options=", ".join(sorted(taken)) or "none"),
        )
    if not 0 <= value <= _MOST:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The sampler option {option} must be between 0 and {most:.0f}, not {value}.",
                option=option,
                most=_MOST,
                value=value,
            ),
            sentence("Leave it out for the sampler's own value."),
        )


def bind_options(
    name: SamplerName,
    options: SamplerOptions,
    convention: ConventionName | None = None,
    training: NoiseSchedule | None = None,
) -> Sampler | GuidedSampler:
    """Return the sampler as a tool runs it, with the options that a request sets.

    `training` are the checkpoint's levels, for samplers that need timesteps.

    Raises EngineError REQUEST_INVALID for an option that the sampler does not have, or a value
    outside 0 to 10000.
    """
    info = SAMPLERS[name]
    given: dict[str, float] = {
        option: value
        for option, value in msgspec.structs.asdict(options).items()
        if value is not None
    }
    for option, value in given.items():
        _check_option(name, option, value)
    function = info.function if convention is None else info.variants.get(convention, info.function)
    flows = isinstance(training, FlowSchedule)
    if flows and info.flow is not None:
        function = info.flow
    arguments: dict[str, Any] = {**given}
    if name is SamplerName.TCD and training is not None:
        arguments["training"] = training
    bound = cast("Sampler", partial(function, **arguments) if arguments else function)
    return FlowSde(bound, training.level_at(_ABOVE_FIRST)) if flows and info.brownian else bound
