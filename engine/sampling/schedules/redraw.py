"""The part of a schedule that redraws a picture by a strength, by the rule of each tool."""

from dataclasses import dataclass

from engine.api.conventions import RedrawSteps
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.sampling.schedules.choice import ScheduleChoice
from engine.sampling.types import Sigmas

# ComfyUI makes a schedule of steps / strength steps; computing this many takes a tenth of a second.
_MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class RedrawnLevels:
    """The levels visited in a redraw, `taken`, which are the end of the schedule `whole`.

    A single visited level means that no step is taken.
    A1111 spans the Brownian tree of its SDE samplers over `whole`, ComfyUI over `taken`.
    """

    taken: Sigmas
    whole: Sigmas


def a1111_redrawn(steps: int, strength: float) -> int:
    """Return the number of steps by which A1111 noises a picture, `t_enc` (one less than run).

    A1111 `setup_img2img_steps`.
    """
    return int(min(strength, 0.999) * steps)


def redraw_sigmas(
    choice: ScheduleChoice, steps: int, strength: float, rule: RedrawSteps
) -> RedrawnLevels:
    """Return the levels that redraw a picture by `strength`, from 0 to 1.

    A1111 takes one step more than it goes back (`a1111_redrawn`), so 1 takes the whole schedule,
    and 0 only the last step, whose effect is invisible. ComfyUI (`KSampler.set_steps`) takes the
    last `steps` of a schedule of int(steps / strength) steps, and diffusers (`get_timesteps` of its
    pipelines) the last int(strength * steps); both take none for 0. Raises EngineError
    REQUEST_INVALID for a strength outside [0, 1] or so low that ComfyUI's schedule has more than
    100000 steps, and as `ScheduleChoice.sigmas` does.
    """
    if not 0 <= strength <= 1:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence("The strength must be between 0 and 1, not {strength}.", strength=strength),
            sentence("0 keeps the picture, 1 redraws all of it."),
        )
    whole = choice.sigmas(steps)
    match rule:
        case RedrawSteps.A1111:
            # Counted from the front: a schedule with more levels than asked for takes more steps.
            skipped = steps - 1 - a1111_redrawn(steps, strength)
            return RedrawnLevels(whole[skipped:], whole)
        case RedrawSteps.DIFFUSERS:
            skipped = steps - min(int(steps * strength), steps)
            return RedrawnLevels(whole[min(skipped, len(whole) - 1) :], whole)
        case RedrawSteps.COMFY:
            if strength > 0.9999:
                return RedrawnLevels(whole, whole)
            return _comfy(choice, steps, strength)


def _comfy(choice: ScheduleChoice, steps: int, strength: float) -> RedrawnLevels:
    if strength == 0:
        whole = choice.sigmas(steps)
        return RedrawnLevels(whole[-1:], whole)
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
    whole = choice.levels(int(steps / strength))
    return RedrawnLevels(choice.falling(whole[-(steps + 1) :]), whole)
