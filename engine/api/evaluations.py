"""The evaluations of a denoiser that a run takes, as they follow from its settings."""

import math

import msgspec

from engine.api.features import Features
from engine.api.methods import SAMPLER_FACTS
from engine.api.record import ResolvedRequest
from engine.api.request import DEFAULT_IMAGE_GUIDANCE, GuidanceOptions
from engine.api.values import ConventionName, SamplerName

# The most evaluations of one of DPM-Solver's steps, which DPM adaptive always takes.
_DPM_ORDER = 3
# Steps of DPM adaptive, which takes as many as it needs, that are counted one by one.
_ADAPTIVE_STEPS = 1000
# The evaluations of such a run for estimates, whatever the steps: 45 for the pictures that samplers
# are tested on, with the noise that A1111 adds.
_ADAPTIVE_EVALUATIONS = 45


def step_places(sampler: SamplerName, steps: int, tool: ConventionName) -> tuple[int, ...]:
    """Return the step of each evaluation in a run of so many steps.

    PLMS evaluates twice in its first step, except in ComfyUI; A1111's UniPC once before its first
    step and then at the end of each but the last. DPM fast takes steps of three evaluations.
    """
    match sampler:
        case SamplerName.DPM_ADAPTIVE:
            return tuple(place // _DPM_ORDER for place in range(_DPM_ORDER * _ADAPTIVE_STEPS))
        case SamplerName.DPM_FAST:
            whole, rest = divmod(steps, _DPM_ORDER)
            orders = [_DPM_ORDER] * whole + [rest] if rest else [_DPM_ORDER] * (whole - 1) + [2, 1]
            return tuple(place for place, order in enumerate(orders) for _ in range(order))
        case SamplerName.PLMS if tool is not ConventionName.COMFY:
            return (0, *range(steps))
        case SamplerName.UNIPC | SamplerName.UNIPC_BH2 if tool is ConventionName.A1111:
            return (0, *range(max(steps - 1, 0)))
        case _:
            times = SAMPLER_FACTS[sampler].evaluations
            return (*(place for place in range(steps - 1) for _ in range(times)), max(steps - 1, 0))


def run_evaluations(sampler: SamplerName, steps: int, tool: ConventionName) -> int:
    """Return the evaluations of a run of so many steps; 0 for none, a usual number if it varies."""
    if not steps:
        return 0
    if sampler is SamplerName.DPM_ADAPTIVE:
        return _ADAPTIVE_EVALUATIONS
    return len(step_places(sampler, steps, tool))


def steps_within(part: tuple[float, float], steps: int) -> range:
    """Return the steps that begin within a part of a run of so many.

    `part` is the part's start and end as shares of the steps, 0 to 1.
    """
    return range(math.ceil(part[0] * steps), math.ceil(part[1] * steps))


class GuidanceTerms(msgspec.Struct, frozen=True):
    """The predictions that guidance compares at each evaluation of a run.

    `scale` is that of classifier-free guidance, `image` that for the picture that is edited; 1
    turns either off. `perturbs`: the positive prompts are also evaluated with perturbed attention.
    `looks_again`: each evaluation is followed by that of a degraded picture; `degrades_negative`:
    it is degraded under the negative prompt, even where that is not needed otherwise.
    `needs_negative`: so does the sampler itself need it, where guidance acts.
    """

    scale: float
    image: float = 1.0
    perturbs: bool = False
    looks_again: bool = False
    degrades_negative: bool = False
    needs_negative: bool = False

    @property
    def asks_without_picture(self) -> bool:
        """True if the denoiser is also evaluated without the picture that it edits."""
        return self.image != 1

    @property
    def is_guided(self) -> bool:
        """True if the denoiser is also evaluated with the negative prompt."""
        is_steered = self.scale != 1 or self.asks_without_picture
        return is_steered or self.degrades_negative or self.needs_negative

    def predictions_per_evaluation(
        self, options: GuidanceOptions, steps: int, positives: int = 1
    ) -> float:
        """Return the predictions in an evaluation, the mean over a run of so many steps.

        `positives` are the parts of the prompt that are predicted one by one.
        """
        guided, perturbed = (
            len(steps_within(part, steps)) / max(steps, 1)
            for part in (options.range, options.pag_range)
        )
        negative = 1.0 if self.degrades_negative else self.is_guided * guided
        without = self.asks_without_picture * guided
        each = 1 + self.perturbs * perturbed
        return positives * each + negative + without + self.looks_again


class GuidedSampling(msgspec.Struct, frozen=True):
    """The settings of a pass that decide how often it asks its denoiser.

    `features` are those of the pass's checkpoint.
    """

    sampler: SamplerName
    guidance: float
    options: GuidanceOptions
    tool: ConventionName
    features: Features

    @classmethod
    def of(cls, request: ResolvedRequest, features: Features) -> "GuidedSampling":
        """Return the settings of a request, for a checkpoint with these features."""
        options, tool = request.guidance_options, request.convention.name
        return cls(request.sampler, request.guidance, options, tool, features)

    @property
    def terms(self) -> GuidanceTerms:
        """The predictions that guidance compares.

        What refines or redraws the result of a checkpoint that edits a picture does not edit.
        """
        options, features, guidance, image = self.options, self.features, self.guidance, 1.0
        by_diffusers = self.tool is ConventionName.DIFFUSERS
        if features.edits:
            image = options.image_guidance
            image = DEFAULT_IMAGE_GUIDANCE if image is None else image
            if by_diffusers and (guidance <= 1 or image < 1):
                guidance = image = 1.0  # diffusers then switches off guidance altogether
        looks_again = options.sag_scale != 0
        return GuidanceTerms(
            features.cfg_scale(guidance, options.true_cfg),
            image,
            perturbs=options.pag_scale > 0,
            looks_again=looks_again,
            degrades_negative=looks_again and not by_diffusers and not features.embeds_guidance,
            needs_negative=SAMPLER_FACTS[self.sampler].needs_negative,
        )

    def predictions(self, steps: int, positives: int = 1, share: float = 1.0) -> float:
        """Return the predictions of a run of so many steps, or of a share of its evaluations.

        At least one evaluation is counted, but none of a run without steps. `positives` are the
        parts of the prompt that are predicted one by one.
        """
        whole = run_evaluations(self.sampler, steps, self.tool)
        evaluations = min(whole, max(round(share * whole), 1))
        each = self.terms.predictions_per_evaluation(self.options, steps, positives)
        return evaluations * each
