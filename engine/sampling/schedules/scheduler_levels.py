"""The levels of diffusers' schedulers, and of InvokeAI, which uses them.

The levels also depend on the scheduler, which the sampler determines. The schedulers of
k-diffusion's samplers visit the levels of `ScheduleChoice`. Multistep schedulers space and round
timesteps differently;
DDIM, DDPM and PNDM work with timesteps alone; LCM and TCD with every twentieth. All but the first
kind keep latents of unit variance, picture / sqrt(1 + sigma^2) + noise * ...; ours are sqrt(1 +
sigma^2) times that, and `SchedulerLevels` converts them at both ends.

diffusers/schedulers/scheduling_*.py, `set_timesteps`, with Stable Diffusion's scheduler_config.json
(steps_offset 1, set_alpha_to_one false). Its two schedulers for EDM, `EDMEulerScheduler` and
`EDMDPMSolverMultistepScheduler`, visit the schedule's levels.
"""

from dataclasses import dataclass, field
from enum import Enum, auto

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.api.values import ConventionName, SamplerName, ScheduleName
from engine.sampling.schedules.choice import ScheduleChoice
from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import Latent, Sigmas


class _Kind(Enum):
    MULTISTEP = auto()
    DISCRETE = auto()
    DISTILLED = auto()


# Those of k-diffusion's kind are not among them.
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
# Samplers that end at the lowest training level; the others end at 0.
_ENDS_ABOVE_0 = (SamplerName.DEIS, SamplerName.DDIM, SamplerName.PLMS, SamplerName.TCD)
_DISTILLED_STEPS = 50


@dataclass(frozen=True, slots=True, eq=False)
class VisitedTimesteps(NoiseSchedule):
    """Training levels of which only some are visited, each with its own timestep."""

    visited: Sigmas = field(kw_only=True)
    timesteps: NDArray[np.float32] = field(kw_only=True)

    def sigma_to_timestep(self, sigma: np.float32) -> np.float32:
        """Return the timestep of a visited level, else that of training."""
        places = np.flatnonzero(self.visited == sigma)
        if len(places):
            return np.float32(self.timesteps[int(places[0])])
        return NoiseSchedule.sigma_to_timestep(self, sigma)


class SchedulerLevels(msgspec.Struct, frozen=True):
    """The visited levels, float32; a single one means that no step is taken.

    They fall, except that the last may equal the one before. `training` maps levels to the
    network's timesteps, and `noise_scale` is the factor of pure noise.
    """

    sigmas: Sigmas
    training: NoiseSchedule
    noise_scale: np.float32

    def start(self, noise: Latent, init: Latent | None) -> Latent:
        """Return the initial latents from standard normal noise and, if redrawn, a picture's."""
        return noise * self.noise_scale if init is None else init + noise * self.sigmas[0]

    def finish(self, x: Latent) -> Latent:
        """Return the latents to decode from those of the sampler's end."""
        return x / np.sqrt(1 + self.sigmas[-1] ** 2)


def scheduler_levels(
    sampler: SamplerName, choice: ScheduleChoice, steps: int, strength: float | None = None
) -> SchedulerLevels:
    """Return the levels of a sampler's scheduler, from noise or to redraw a picture by a strength.

    `choice` names the convention of diffusers or InvokeAI, and its schedule is the spacing: NORMAL
    is "linspace", SGM_UNIFORM "trailing", DDIM "leading". With a `strength`, from 0 to 1, diffusers
    redraws in the last int(strength * steps) steps, InvokeAI in those from timestep 1000 * strength
    down, rounded. Raises EngineError REQUEST_INVALID as `ScheduleChoice.sigmas` does.
    """
    if not choice.training.has_timesteps:
        return _edm_levels(choice, steps, strength)
    whole = _levels(sampler, choice, steps)
    training = _timesteps_told(sampler, choice, whole)
    taken = whole[_skipped(choice.convention, training, whole, strength) :]
    return SchedulerLevels(taken, training, _noise_scale(sampler, choice, taken[0]))


def _edm_levels(choice: ScheduleChoice, steps: int, strength: float | None) -> SchedulerLevels:
    # diffusers has only Karras' and the exponential schedule for EDM; the others are ComfyUI's.
    whole = msgspec.structs.replace(choice, convention=ConventionName.COMFY).sigmas(steps)
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
    """Return a scheduler's own timesteps, or None for one that follows the schedule."""
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
    """Return the training levels with the timesteps that the scheduler gives the network.

    Multistep schedulers round the timesteps of Karras' levels, and truncate those of others. DPM2's
    scheduler rounds the former, too, but not in the middle of a step. So does that of DPM2 a, whose
    middle is at the level of the next step: here that level has one timestep, which is not rounded.
    """
    training, by_karras = choice.training, choice.name is ScheduleName.KARRAS
    multistep = _KINDS.get(sampler) is _Kind.MULTISTEP and choice.name in _SPACED_BY_LEVEL
    if not (multistep or (by_karras and sampler is SamplerName.DPM2)):
        return training
    visited = whole[:-1]
    # diffusers computes them in float32, which puts the highest level a little below timestep 999;
    # truncated it is 998.
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
    """Return diffusers' `init_noise_sigma` in our form; InvokeAI uses the level itself."""
    exploding = sampler not in _KINDS and choice.name is not ScheduleName.DDIM
    if exploding or choice.convention is ConventionName.INVOKE:
        return sigma
    return np.sqrt(sigma**2 + 1)
