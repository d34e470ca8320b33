"""The levels that diffusers' schedulers visit, and InvokeAI, which runs them.

Which they are depends on the scheduler, that is, on the sampler, too. Those of k-diffusion's
samplers visit what `ScheduleChoice` says. The multistep ones space timesteps otherwise and round
them; DDIM, DDPM and PNDM go by timesteps alone; LCM and TCD by every twentieth. All but the first
keep latents of unit variance, picture / sqrt(1 + sigma^2) + noise * ...; ours are
sqrt(1 + sigma^2) times that, and `SchedulerLevels` has where they begin and how they end.

diffusers/schedulers/scheduling_*.py, `set_timesteps`, with Stable Diffusion's scheduler_config.json
(steps_offset 1, set_alpha_to_one false). Its two schedulers for EDM visit levels as they are asked
to, `EDMEulerScheduler` and `EDMDPMSolverMultistepScheduler`.
"""

from dataclasses import dataclass, field, replace
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from engine.api.values import ConventionName, SamplerName, ScheduleName
from engine.sampling.schedules.choice import ScheduleChoice
from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import Latent, Sigmas


class _Kind(Enum):
    EXPLODING = auto()  # as k-diffusion's
    MULTISTEP = auto()
    DISCRETE = auto()
    DISTILLED = auto()


_KINDS = {
    SamplerName.DPMPP_2M: _Kind.MULTISTEP,
    SamplerName.DPMPP_2M_SDE: _Kind.MULTISTEP,
    SamplerName.DEIS: _Kind.MULTISTEP,
    SamplerName.UNIPC: _Kind.MULTISTEP,
    SamplerName.UNIPC_BH2: _Kind.MULTISTEP,
    SamplerName.DDIM: _Kind.DISCRETE,
    SamplerName.DDPM: _Kind.DISCRETE,
    SamplerName.PLMS: _Kind.DISCRETE,
    SamplerName.LCM: _Kind.DISTILLED,
    SamplerName.TCD: _Kind.DISTILLED,
}
# These end at the lowest level of training, the others at 0.
_ENDS_ABOVE_0 = (SamplerName.DEIS, SamplerName.DDIM, SamplerName.PLMS, SamplerName.TCD)
_DISTILLED_STEPS = 50


@dataclass(frozen=True, slots=True, eq=False)
class VisitedTimesteps(NoiseSchedule):
    """Training levels, of which only some are visited, each with a timestep of its own."""

    visited: Sigmas = field(kw_only=True)
    timesteps: NDArray[np.float32] = field(kw_only=True)

    def sigma_to_timestep(self, sigma: np.float32) -> np.float32:
        """That of a level that is visited, else as the training has it."""
        places = np.flatnonzero(self.visited == sigma)
        if len(places):
            return np.float32(self.timesteps[int(places[0])])
        return NoiseSchedule.sigma_to_timestep(self, sigma)


@dataclass(frozen=True, slots=True)
class SchedulerLevels:
    """The levels that are visited, float32; one alone means that no step is taken.

    They fall, but for the last, which may repeat the one before. `training` has the timesteps that
    the network is told, and `noise_scale` is what pure noise is multiplied with.
    """

    sigmas: Sigmas
    training: NoiseSchedule
    noise_scale: np.float32

    def start(self, noise: Latent, init: Latent | None) -> Latent:
        """The latents to begin with, from standard normal noise, and the picture's if redrawn."""
        return noise * self.noise_scale if init is None else init + noise * self.sigmas[0]

    def finish(self, x: Latent) -> Latent:
        """The latents to decode, from those a sampler ended with."""
        return x / np.sqrt(1 + self.sigmas[-1] ** 2)


def scheduler_levels(
    sampler: SamplerName, choice: ScheduleChoice, steps: int, strength: float | None = None
) -> SchedulerLevels:
    """What the scheduler of a sampler visits; with a strength, from 0 to 1, to redraw a picture.

    `choice` names diffusers' or InvokeAI's convention, and its schedule the spacing: NORMAL is
    "linspace", SGM_UNIFORM "trailing", DDIM "leading". diffusers redraws in the last
    int(strength * steps) steps, InvokeAI in those from timestep 1000 * strength down, rounded.
    Raises EngineError REQUEST_INVALID as `ScheduleChoice.sigmas` does.
    """
    if not choice.training.has_timesteps:
        return _edm_levels(choice, steps, strength)
    whole = _levels(sampler, choice, steps)
    training = _timesteps_told(sampler, choice, whole)
    taken = whole[_skipped(choice.convention, training, whole, strength) :]
    return SchedulerLevels(taken, training, _noise_scale(sampler, choice, taken[0]))


def _edm_levels(choice: ScheduleChoice, steps: int, strength: float | None) -> SchedulerLevels:
    # They have but Karras' and the exponential schedule; the others are ComfyUI's.
    whole = replace(choice, convention=ConventionName.COMFY).sigmas(steps)
    skipped = _skipped(ConventionName.DIFFUSERS, choice.training, whole, strength)
    taken = whole[skipped:]
    return SchedulerLevels(taken, choice.training, np.sqrt(taken[0] ** 2 + 1))


def _levels(sampler: SamplerName, choice: ScheduleChoice, steps: int) -> Sigmas:
    known = choice.sigmas(steps)
    timesteps = _own_timesteps(sampler, choice.name, steps)
    levels = known[:-1] if timesteps is None else choice.training.sigmas[timesteps]
    if sampler not in _ENDS_ABOVE_0:
        return np.append(levels, np.float32(0))
    spaced_by_level = sampler is SamplerName.DEIS and choice.name in _SPACED_BY_LEVEL
    return np.append(levels, levels[-1] if spaced_by_level else choice.training.sigma_min)


_SPACED_BY_LEVEL = (ScheduleName.KARRAS, ScheduleName.EXPONENTIAL, ScheduleName.BETA)


def _own_timesteps(
    sampler: SamplerName, schedule: ScheduleName, steps: int
) -> NDArray[np.int64] | None:
    """The timesteps that are spaced otherwise than the schedule has them."""
    match _KINDS.get(sampler), schedule:
        case _Kind.DISTILLED, _:
            stride = 1000 // _DISTILLED_STEPS
            places = np.linspace(0, _DISTILLED_STEPS, steps, endpoint=False)
            return 999 - stride * np.floor(places).astype(np.int64)
        case _Kind.MULTISTEP, ScheduleName.NORMAL:
            return np.linspace(0, 999, steps + 1).round().astype(np.int64)[:0:-1]
        case _Kind.MULTISTEP, ScheduleName.DDIM:
            return (np.arange(steps, 0, -1) * (1000 // (steps + 1))) + 1
        case _Kind.DISCRETE, ScheduleName.NORMAL:
            return np.linspace(0, 999, steps).round().astype(np.int64)[::-1]
        case _:
            return None


def _timesteps_told(sampler: SamplerName, choice: ScheduleChoice, whole: Sigmas) -> NoiseSchedule:
    """Multistep schedulers round the timesteps of Karras' levels, and cut off those of others.

    That of DPM2 rounds the former, too, but not in the middle of a step. So does that of DPM2 a,
    whose middle is at the level of the next step: it is told one timestep here, not rounded.
    """
    training, by_karras = choice.training, choice.name is ScheduleName.KARRAS
    multistep = _KINDS.get(sampler) is _Kind.MULTISTEP and choice.name in _SPACED_BY_LEVEL
    if not (multistep or (by_karras and sampler is SamplerName.DPM2)):
        return training
    visited = whole[:-1]
    # Theirs are in float32, which puts the highest level a little below timestep 999: cut off, 998.
    logs = training.log_sigmas.astype(np.float64)
    timesteps = np.interp(np.log(visited.astype(np.float64)), logs, np.arange(len(logs)))
    rounded = np.round if by_karras else np.floor
    return VisitedTimesteps(
        training.alphas,
        training.convention,
        visited=visited,
        timesteps=rounded(timesteps).astype(np.float32),
    )


def _skipped(
    convention: ConventionName, training: NoiseSchedule, whole: Sigmas, strength: float | None
) -> int:
    steps = len(whole) - 1
    if strength is None:
        return 0
    if convention is not ConventionName.INVOKE:
        return steps - min(int(steps * strength), steps)
    start = round(1000 * strength)
    timesteps = [round(float(training.sigma_to_timestep(sigma)), 2) for sigma in whole[:-1]]
    return sum(timestep >= start for timestep in timesteps)


def _noise_scale(sampler: SamplerName, choice: ScheduleChoice, sigma: np.float32) -> np.float32:
    """diffusers' `init_noise_sigma` for latents in our form; InvokeAI adds the noise to nothing."""
    exploding = sampler not in _KINDS and choice.name is not ScheduleName.DDIM
    if exploding or choice.convention is ConventionName.INVOKE:
        return sigma
    return np.sqrt(sigma**2 + 1)
