"""The part of a schedule that redraws a picture by a strength, by the rule of each tool."""

import msgspec

from engine.api.conventions import RedrawSteps
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.sampling.schedules.choice import ScheduleChoice
from engine.sampling.schedules.flow import FlowSchedule
from engine.sampling.types import Sigmas

# ComfyUI makes a schedule of steps / strength steps; computing this many takes a tenth of a second.
_MOST_STEPS = 100_000


class RedrawnLevels(msgspec.Struct, frozen=True):
    """The levels visited in a redraw, `taken`, which are the end of the schedule `whole`.

    A single visited level means that no step is taken.
    A1111 spans the Brownian tree of its SDE samplers over `whole`, ComfyUI over `taken`.
    """

    taken: Sigmas
    whole: Sigmas


class A1111Steps(msgspec.Struct, frozen=True):
    """The steps of a redraw as A1111 counts them (`setup_img2img_steps`).

    `scheduled` is the length of the schedule, `taken` the number of steps by which a picture is
    noised (`t_enc`), one less than are run.
    """

    scheduled: int
    taken: int

    @classmethod
    def of(cls, steps: int, strength: float, rule: RedrawSteps) -> "A1111Steps":
        """Return the steps for a strength. Raises EngineError(REQUEST_INVALID) for a tiny one."""
        share = min(strength, 0.999)
        if rule is not RedrawSteps.A1111_EXACT:
            return cls(steps, int(share * steps))
        if strength == 0:
            return cls(steps, -1)
        _require_few(steps, strength)
        return cls(int(steps / share), steps - 1)


def redraw_sigmas(
    choice: ScheduleChoice, steps: int, strength: float, rule: RedrawSteps
) -> RedrawnLevels:
    """Return the levels that redraw a picture by `strength`, from 0 to 1.

    A1111 takes one step more than it goes back (`A1111Steps`), so 1 takes the whole schedule, and 0
    only the last step, whose effect is invisible, or none where it takes exact numbers. ComfyUI
    (`KSampler.set_steps`) takes the last `steps` of a schedule of int(steps / strength) steps, and
    diffusers (`get_timesteps` of its pipelines) the last int(strength * steps); both take none for
    0. Raises EngineError REQUEST_INVALID for a strength outside [0, 1] or so low that the schedule
    has more than 100000 steps, and as `ScheduleChoice.sigmas` does.
    """
    if not 0 <= strength <= 1:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence("The strength must be between 0 and 1, not {strength}.", strength=strength),
            sentence("0 keeps the picture, 1 redraws all of it."),
        )
    match rule:
        case RedrawSteps.A1111 | RedrawSteps.A1111_EXACT:
            counted = A1111Steps.of(steps, strength, rule)
            whole = choice.sigmas(counted.scheduled)
            # Counted from the front: a schedule with more levels than asked for takes more steps.
            skipped = counted.scheduled - 1 - counted.taken
            return RedrawnLevels(whole[min(skipped, len(whole) - 1) :], whole)
        case RedrawSteps.DIFFUSERS:
            whole = choice.sigmas(steps)
            # Pipelines of flow models round the steps that are left out, others those they take.
            flows = isinstance(choice.training, FlowSchedule)
            taken = min(steps * strength, steps)
            skipped = int(steps - taken) if flows else steps - int(taken)
            return RedrawnLevels(whole[min(skipped, len(whole) - 1) :], whole)
        case RedrawSteps.COMFY:
            return _comfy(choice, steps, strength)


def _comfy(choice: ScheduleChoice, steps: int, strength: float) -> RedrawnLevels:
    if strength == 0 or strength > 0.9999:
        whole = choice.sigmas(steps)
        return RedrawnLevels(whole if strength else whole[-1:], whole)
    _require_few(steps, strength)
    whole = choice.levels(int(steps / strength))
    return RedrawnLevels(choice.falling(whole[-(steps + 1) :]), whole)


def _require_few(steps: int, strength: float) -> None:
    """Raise EngineError(REQUEST_INVALID) where a schedule of steps / strength is too long."""
    if steps > strength * _MOST_STEPS:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The strength {strength:g} is too low for {steps} steps.",
                strength=strength,
                steps=steps,
            ),
            sentence("Take 0 to keep the picture, or fewer steps."),
        )
