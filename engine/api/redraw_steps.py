"""The number of steps that a redraw takes, as far as it follows from its strength alone."""

from engine.api.conventions import RedrawSteps


def redrawn_steps(steps: int, strength: float, rule: RedrawSteps) -> int:
    """Return how many of `steps` are run for a strength from 0 to 1.

    Schedules with more levels than asked for take more.
    """
    match rule:
        case RedrawSteps.A1111:
            return min(steps, int(min(strength, 0.999) * steps) + 1)
        case RedrawSteps.DIFFUSERS:
            return int(min(steps * strength, steps))
        case RedrawSteps.A1111_EXACT | RedrawSteps.COMFY:
            return steps if strength else 0


def second_pass_rule(rule: RedrawSteps) -> RedrawSteps:
    """Return the rule of second passes: A1111 takes all of their steps whatever the strength."""
    return RedrawSteps.A1111_EXACT if rule is RedrawSteps.A1111 else rule
