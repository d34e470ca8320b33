"""The evaluations of a run in which a control layer or an image prompt acts."""

import math
from collections.abc import Callable

import msgspec

from engine.api.control_rules import RangeRule
from engine.api.evaluations import step_places
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName, SamplerName
from engine.pipeline.denoise.denoising import Denoising
from engine.sampling.plan import A1111_BY_TIMESTEPS


class StepCount(msgspec.Struct, frozen=True):
    """The steps of a run as a tool counts them.

    `places` has the step of each evaluation of the denoiser. A step is `reported` to be finished
    after its first evaluation or, if that is `late`, after its last.
    """

    steps: int
    places: tuple[int, ...]
    late: bool = False

    def place(self, evaluation: int) -> int:
        """Return the step of an evaluation, counted from 0."""
        return self.places[min(evaluation, len(self.places) - 1)]

    def reported(self, evaluation: int) -> int:
        """Return the latest step that was reported before an evaluation; 0 for none."""
        step = self.place(evaluation)
        begins = evaluation == 0 or self.place(evaluation - 1) != step
        return max(step - 1 if begins or self.late else step, 0)


class ActingSteps(msgspec.Struct, frozen=True):
    """Tells when a layer acts that is to act within a part of a run, by a tool's rule.

    `level_at` returns the noise level at a share of the timesteps.
    """

    rule: RangeRule
    count: StepCount
    level_at: Callable[[float], float]

    def acts(self, part: tuple[float, float], evaluation: int, sigma: float) -> bool:
        """Tell whether an evaluation, counted from 0, at a noise level is in a part of the run.

        `part` is the range of a control layer or an image prompt, as shares of the run.
        """
        (start, end), count = part, self.count
        match self.rule:
            case RangeRule.FINISHED:
                return start <= count.reported(evaluation) / count.steps <= end
            case RangeRule.LEVELS:
                return self.level_at(end) <= sigma <= self.level_at(start)
            case RangeRule.WHOLE_STEPS:
                total = len(count.places)
                return evaluation / total >= start and (evaluation + 1) / total <= end
            case RangeRule.TOUCHED_STEPS:
                first, last = math.floor(start * count.steps), math.ceil(end * count.steps)
                return first <= count.place(evaluation) <= last


def acting_steps(request: ResolvedRequest, denoising: Denoising) -> ActingSteps:
    """Return the rule of a pass with this request."""
    convention, sampler = request.convention, request.sampler
    a1111 = convention.name is ConventionName.A1111
    late = a1111 and sampler is SamplerName.DPM_ADAPTIVE
    places = step_places(sampler, denoising.steps, convention.name)
    total = _counted(request, denoising) if a1111 else denoising.steps
    count = StepCount(max(total, 1), places, late)
    return ActingSteps(convention.control.acting_steps, count, denoising.level_at)


def _counted(request: ResolvedRequest, denoising: Denoising) -> int:
    """Return the number of steps by which A1111 divides (`launch_sampling`).

    Its samplers by timesteps take fewer.
    """
    if request.sampler not in A1111_BY_TIMESTEPS:
        return denoising.steps
    return denoising.steps + 2 if denoising.redraws else request.steps
