"""The steps in which a control layer acts, and the weights of its residuals."""

import math
from dataclasses import dataclass

from engine.api.control import ControlLayer, ControlMode
from engine.api.control_rules import ControlRules, FadeRule, RangeRule

# The base of sd-webui-controlnet's weights, and the exponent of the outermost residual.
_FADING, _DEEPEST = 0.825, 12
# Its weights of the images of a T2I-Adapter.
_ADAPTER_FADE = (0.25, 0.62, 0.825, 1.0)
# The last timestep of Stable Diffusion.
_LAST_TIMESTEP = 999


@dataclass(frozen=True, slots=True)
class StepCount:
    """The steps of a run and the denoiser's evaluations in each, but one in the last step."""

    steps: int
    evaluations: int

    @property
    def all_evaluations(self) -> int:
        """The evaluations of the whole run."""
        return self.steps * self.evaluations - (self.evaluations - 1)


def acts_at(
    part: tuple[float, float], rule: RangeRule, count: StepCount, evaluation: int, timestep: float
) -> bool:
    """Tell whether an evaluation of a run, counted from 0, at a timestep is in a part of the run.

    `part` is the range of a control layer or an image prompt, as shares of the run.
    """
    start, end = part
    step, within = divmod(evaluation, count.evaluations)
    match rule:
        case RangeRule.FINISHED:
            # A step is counted once its first evaluation is done (`callback_state`).
            finished = step if within else max(step - 1, 0)
            return start <= finished / count.steps <= end
        case RangeRule.LEVELS:
            highest = math.inf if start <= 0 else (1 - start) * _LAST_TIMESTEP
            lowest = -math.inf if end >= 1 else (1 - end) * _LAST_TIMESTEP
            return lowest <= timestep <= highest
        case RangeRule.WHOLE_STEPS:
            total = count.all_evaluations
            return evaluation / total >= start and (evaluation + 1) / total <= end
        case RangeRule.TOUCHED_STEPS:
            return math.floor(start * count.steps) <= step <= math.ceil(end * count.steps)


def residual_weights(
    layer: ControlLayer, rules: ControlRules, residuals: int, *, means: bool, adapts: bool
) -> tuple[float, ...]:
    """Return the weight of each of a network's residuals, the outermost first, the middle's last.

    `means`: the residuals are means over the picture, which diffusers does not fade. `adapts`: they
    are the four images of a T2I-Adapter.
    """
    if layer.mode is ControlMode.BALANCED or (means and rules.fade is FadeRule.DECADE):
        return (layer.weight,) * residuals
    if adapts:
        return tuple(layer.weight * fade for fade in _ADAPTER_FADE)
    if rules.fade is FadeRule.POWERS:
        # SDXL's ten residuals have the weights of the first ten of thirteen.
        return tuple(layer.weight * _FADING ** (_DEEPEST - i) for i in range(residuals))
    return tuple(layer.weight * 10 ** (i / (residuals - 1) - 1) for i in range(residuals))


def leads_negative(layer: ControlLayer, rules: ControlRules, *, means: bool) -> bool:
    """Tell whether a layer also acts on the prediction for the negative prompt."""
    return layer.mode is not ControlMode.CONTROL and (rules.means_lead_negative or not means)
