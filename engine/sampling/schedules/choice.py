"""The registry of schedules, and the choice of one with its options and training levels."""

from collections.abc import Mapping
from typing import Protocol

import msgspec
import numpy as np

from engine.api.methods import SCHEDULE_OPTIONS
from engine.api.request import ScheduleOptions
from engine.api.sentences import sentence
from engine.api.values import ConventionName, ErrorCode, ScheduleName
from engine.errors import EngineError
from engine.sampling.schedules import by_level, by_timestep
from engine.sampling.schedules.align_your_steps import AlignedFor, align_your_steps
from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import Sigmas


class Schedule(Protocol):
    """Maps a number of steps to as many levels, float32, and the 0 or other level after them."""

    def __call__(self, steps: int, training: NoiseSchedule, options: ScheduleOptions, /) -> Sigmas:
        """Return the levels; `options` were checked before."""
        ...


class ScheduleInfo(msgspec.Struct, frozen=True):
    """A schedule; `variants` hold the functions of tools whose schedule of this name differs."""

    function: Schedule
    variants: Mapping[ConventionName, Schedule] = msgspec.field(
        default_factory=dict[ConventionName, Schedule]
    )


def _aligned(convention: ConventionName, aligned_for: AlignedFor) -> Schedule:
    def levels(steps: int, training: NoiseSchedule, options: ScheduleOptions, /) -> Sigmas:
        return align_your_steps(steps, aligned_for, convention)

    return levels


_COMFY = ConventionName.COMFY


def _in_diffusers(function: Schedule) -> Mapping[ConventionName, Schedule]:
    return {ConventionName.DIFFUSERS: function, ConventionName.INVOKE: function}


SCHEDULES: Mapping[ScheduleName, ScheduleInfo] = {
    ScheduleName.NORMAL: ScheduleInfo(
        by_timestep.normal, _in_diffusers(by_timestep.linspace_spaced)
    ),
    ScheduleName.KARRAS: ScheduleInfo(by_level.karras),
    ScheduleName.SIMPLE: ScheduleInfo(by_timestep.simple, _in_diffusers(by_timestep.evenly_timed)),
    ScheduleName.SGM_UNIFORM: ScheduleInfo(
        by_timestep.sgm_uniform, _in_diffusers(by_timestep.trailing)
    ),
    ScheduleName.BETA: ScheduleInfo(by_level.beta, {_COMFY: by_timestep.beta_rounded}),
    ScheduleName.EXPONENTIAL: ScheduleInfo(by_level.exponential),
    ScheduleName.POLYEXPONENTIAL: ScheduleInfo(by_level.polyexponential),
    ScheduleName.KL_OPTIMAL: ScheduleInfo(
        by_level.kl_optimal, {_COMFY: by_level.kl_optimal_to_zero}
    ),
    ScheduleName.ALIGN_YOUR_STEPS: ScheduleInfo(
        _aligned(ConventionName.A1111, AlignedFor.SD1),
        variants={_COMFY: _aligned(_COMFY, AlignedFor.SD1)},
    ),
    ScheduleName.UNIFORM: ScheduleInfo(by_timestep.uniform),
    ScheduleName.DDIM: ScheduleInfo(by_timestep.ddim, variants=_in_diffusers(by_timestep.leading)),
    ScheduleName.LINEAR_QUADRATIC: ScheduleInfo(by_level.linear_quadratic),
}

_NO_OPTIONS = ScheduleOptions()
# Allowed ranges of the options. Levels that float32 cannot distinguish are found afterwards.
_RANGES = {"sigma_min": (1e-4, 1e4), "sigma_max": (1e-4, 1e4), "rho": (0.1, 100.0)}


class ScheduleChoice(msgspec.Struct, frozen=True):
    """Everything that determines the levels except the number of steps.

    `discards_next_to_last` is for samplers to which a tool gives a schedule of one step more
    without its next-to-last level (`Convention.discards_next_to_last`).
    """

    name: ScheduleName
    training: NoiseSchedule
    options: ScheduleOptions = _NO_OPTIONS
    convention: ConventionName = ConventionName.A1111
    aligned_for: AlignedFor = AlignedFor.SD1
    discards_next_to_last: bool = False

    def sigmas(self, steps: int) -> Sigmas:
        """Return the levels of a picture from noise: float32, strictly falling.

        There are steps + 1 of them, ending with 0, unless the schedule's docstring says otherwise.
        Raises EngineError REQUEST_INVALID unless steps is between 1 and the number of training
        levels; for an option that the schedule does not have or that is out of range; and for equal
        levels.
        """
        most = len(self.training.sigmas)
        if not 1 <= steps <= most:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence(
                    "The number of steps must be between 1 and {most}, not {steps}.",
                    most=most,
                    steps=steps,
                ),
                sentence("20 to 30 steps are enough for most pictures."),
            )
        self.check_options()
        return self.falling(self.levels(steps))

    def levels(self, steps: int) -> Sigmas:
        """Return the levels for any number of steps from 1 on; some may be equal."""
        discards = self.discards_next_to_last
        # Overflow of float32 is found by `falling`.
        with np.errstate(over="ignore", invalid="ignore"):
            sigmas = self._function()(steps + discards, self.training, self.options)
        return discard_next_to_last(sigmas) if discards else sigmas

    def _function(self) -> Schedule:
        if self.name is ScheduleName.ALIGN_YOUR_STEPS:
            return _aligned(self.convention, self.aligned_for)
        info = SCHEDULES[self.name]
        return info.variants.get(self.convention, info.function)

    def check_options(self) -> None:
        """Raise EngineError REQUEST_INVALID for an option the schedule lacks or one out of range.

        `sigma_min` and `sigma_max` lie between 0.0001 and 10000, `rho` between 0.1 and 100.
        """
        taken = SCHEDULE_OPTIONS.get(self.name, ())
        for option, value in msgspec.structs.asdict(self.options).items():
            if value is None:
                continue
            if option not in taken:
                raise EngineError(
                    ErrorCode.REQUEST_INVALID,
                    sentence(
                        "The schedule {label} has no option {option}.",
                        label=self.name.label,
                        option=option,
                    ),
                    sentence("It takes {value}.", value=", ".join(sorted(taken)) or "none"),
                )
            low, high = _RANGES[option]
            if not low <= value <= high:
                raise EngineError(
                    ErrorCode.REQUEST_INVALID,
                    sentence(
                        "The schedule option {option} must be between {low:g} and {high:g}, not "
                        "{value:g}.",
                        option=option,
                        low=low,
                        high=high,
                        value=value,
                    ),
                    sentence("Leave it out for the schedule's own value."),
                )

    def falling(self, sigmas: Sigmas) -> Sigmas:
        """Return the same levels after checking them.

        Raises EngineError REQUEST_INVALID unless each is below the one before.
        """
        if np.isfinite(sigmas).all() and (np.diff(sigmas) < 0).all():
            return sigmas
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The levels of the schedule {label} do not fall from each step to the next.",
                label=self.name.label,
            ),
            sentence("Take fewer steps, or set sigma_min further below sigma_max."),
        )


def discard_next_to_last(sigmas: Sigmas) -> Sigmas:
    """Return a schedule without its lowest level above 0.

    A1111 (`KDiffusionSampler.get_sigmas`) and ComfyUI (`KSampler.calculate_sigmas`) leave it out
    for some samplers, from a schedule of one step more.
    """
    return np.concatenate([sigmas[:-2], sigmas[-1:]])


def sigmas_for(
    name: ScheduleName,
    steps: int,
    training: NoiseSchedule,
    options: ScheduleOptions = _NO_OPTIONS,
    convention: ConventionName = ConventionName.A1111,
) -> Sigmas:
    """Return `ScheduleChoice.sigmas` for these arguments, and raise as it does."""
    return ScheduleChoice(name, training, options, convention).sigmas(steps)
