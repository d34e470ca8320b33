"""Noise levels: those a network was trained on, and those a sampler visits.

A schedule is a function from a number of steps and the training levels to float32 [steps + 1],
falling from the highest level to 0. Definitions are A1111's (modules/sd_schedulers.py); where other
tools mean something else by the same name, `ScheduleInfo.variants` has theirs. Arithmetic is
float32 where theirs is: pictures repeat to the last bits only then.
"""

from engine.sampling.schedules.a1111_timesteps import (
    TimestepLevels,
    a1111_timestep_levels,
    a1111_unipc_levels,
)
from engine.sampling.schedules.align_your_steps import AlignedFor
from engine.sampling.schedules.choice import (
    SCHEDULES,
    ScheduleChoice,
    ScheduleInfo,
    discard_next_to_last,
    sigmas_for,
)
from engine.sampling.schedules.distilled import DistilledSchedule
from engine.sampling.schedules.edm import EdmLevels, EdmSchedule
from engine.sampling.schedules.flow import FlowSchedule
from engine.sampling.schedules.redraw import RedrawnLevels, redraw_sigmas
from engine.sampling.schedules.scheduler_levels import SchedulerLevels, scheduler_levels
from engine.sampling.schedules.training import NoiseSchedule

__all__ = [
    "SCHEDULES",
    "AlignedFor",
    "DistilledSchedule",
    "EdmLevels",
    "EdmSchedule",
    "FlowSchedule",
    "NoiseSchedule",
    "RedrawnLevels",
    "ScheduleChoice",
    "ScheduleInfo",
    "SchedulerLevels",
    "TimestepLevels",
    "a1111_timestep_levels",
    "a1111_unipc_levels",
    "discard_next_to_last",
    "redraw_sigmas",
    "scheduler_levels",
    "sigmas_for",
]
