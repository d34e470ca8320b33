"""Noise models: the path from picture to noise that a network was trained on.

Each checkpoint has one. For a request it returns the levels of training, as a `NoiseSchedule` that
mixes picture and noise to latents of a level and scales them for the network.
"""

import math
from collections.abc import Mapping
from typing import Protocol

import msgspec

from engine.api.methods import SAMPLER_FACTS
from engine.api.record import ResolvedRequest
from engine.api.sentences import sentence
from engine.api.values import ConventionName, ErrorCode, PredictionType, SamplerName, ScheduleName
from engine.errors import EngineError
from engine.sampling.schedules.align_your_steps import AlignedFor
from engine.sampling.schedules.distilled import DistilledSchedule
from engine.sampling.schedules.edm import EdmLevels, EdmSchedule
from engine.sampling.schedules.flow import FlowSchedule
from engine.sampling.schedules.training import NoiseSchedule

FLOW_SAMPLERS = tuple(name for name, facts in SAMPLER_FACTS.items() if facts.takes_flows)
# Schedules spaced by training levels or times.
FLOW_SCHEDULES = (
    ScheduleName.SIMPLE,
    ScheduleName.SGM_UNIFORM,
    ScheduleName.NORMAL,
    ScheduleName.BETA,
)


class NoiseModel(Protocol):
    """The path from picture to noise, and the network's prediction type."""

    @property
    def prediction(self) -> PredictionType:
        """The network's prediction type."""
        ...

    @property
    def aligned_for(self) -> AlignedFor:
        """The model whose levels the schedule "Align Your Steps" uses."""
        ...

    def training(self, request: ResolvedRequest) -> NoiseSchedule:
        """Return the levels of training as in the request's tool. Raises REQUEST_INVALID."""
        ...

    def rescaled_as(self, convention: ConventionName) -> PredictionType | None:
        """Return the prediction type that `Denoiser.rescale` measures; None for the network's."""
        ...


class VarianceExploding(msgspec.Struct, frozen=True):
    """A `NoiseModel` of x = picture + sigma * noise: Stable Diffusion's; with `levels` EDM's."""

    prediction: PredictionType
    aligned_for: AlignedFor = AlignedFor.SD1
    # For networks that were trained by levels; None for timesteps.
    levels: EdmLevels | None = None

    def training(self, request: ResolvedRequest) -> NoiseSchedule:
        """Return the levels of training. Raises EngineError(REQUEST_INVALID)."""
        if self.prediction is PredictionType.FLOW:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence("This model was not trained by flow matching."),
                sentence("Leave its prediction to the file."),
            )
        name, levels = request.convention.name, self.levels
        if levels is not None:
            _refuse_zero_terminal_snr(request)
            ends = levels.sigma_min, levels.sigma_max
            return EdmSchedule.between(*ends, levels.sigma_data, name)
        trained = NoiseSchedule.scaled_linear(convention=name)
        if request.zero_terminal_snr:
            trained = trained.with_zero_terminal_snr()
        by_a1111 = request.sampler is SamplerName.LCM and name is ConventionName.A1111
        return DistilledSchedule.of(trained) if by_a1111 else trained

    def rescaled_as(self, convention: ConventionName) -> PredictionType | None:
        """Return V for ComfyUI, whose RescaleCFG always measures velocities."""
        return PredictionType.V if convention is ConventionName.COMFY else None


class SizeShift(msgspec.Struct, frozen=True):
    """A shift that grows with the tokens of a picture (diffusers `calculate_shift`).

    Its logarithm is `least` at `fewest` tokens and `most` at `many`, linear in between and beyond.
    """

    # The side of a token.
    pixels: int = 16
    fewest: int = 256
    many: int = 4096
    least: float = 0.5
    most: float = 1.15

    def __call__(self, request: ResolvedRequest) -> float:
        """Return the shift for pictures of a request's size."""
        tokens = (request.width // self.pixels) * (request.height // self.pixels)
        slope = (self.most - self.least) / (self.many - self.fewest)
        return math.exp(self.least + slope * (tokens - self.fewest))


class SizeAndStepsShift(msgspec.Struct, frozen=True):
    """A shift by the tokens of a picture and by the number of steps, as FLUX.2's authors fitted it.

    Its logarithm is a line by the tokens at 10 steps, and another one at 200; between and beyond
    them it is linear by the steps. Above `many` tokens it is the line of 200 steps (diffusers
    `compute_empirical_mu`, ComfyUI `Flux2Scheduler`).
    """

    # The side of a token.
    pixels: int = 16
    many: int = 4300
    at_10: tuple[float, float] = (8.73809524e-05, 1.89833333)
    at_200: tuple[float, float] = (0.00016927, 0.45666666)

    def __call__(self, request: ResolvedRequest) -> float:
        """Return the shift for pictures of a request's size in its steps."""
        tokens = (request.width // self.pixels) * (request.height // self.pixels)
        few, lots = (slope * tokens + base for slope, base in (self.at_10, self.at_200))
        if tokens > self.many:
            return math.exp(lots)
        return math.exp(lots + (lots - few) / 190 * (request.steps - 200))


Shift = float | SizeShift | SizeAndStepsShift


class FlowLevels(msgspec.Struct, frozen=True):
    """The levels that a tool has of a flow: how they are moved, and how many there are.

    `ends_lowest` is that of `FlowSchedule`.
    """

    shift: Shift = 1.0
    count: int = 1000
    ends_lowest: bool = False

    def schedule(self, request: ResolvedRequest) -> FlowSchedule:
        """Return the levels for pictures of a request."""
        shift = self.shift(request) if callable(self.shift) else self.shift
        return FlowSchedule.of(
            shift, request.convention.name, self.count, ends_lowest=self.ends_lowest
        )


class RectifiedFlow(msgspec.Struct, frozen=True):
    """A `NoiseModel` of x = (1 - t) * picture + t * noise, with t moved by a shift.

    `tools` has the levels of tools that move or count them otherwise.
    """

    shift: Shift = 1.0
    prediction: PredictionType = PredictionType.FLOW
    aligned_for: AlignedFor = AlignedFor.SD1
    tools: Mapping[ConventionName, FlowLevels] = msgspec.field(
        default_factory=dict[ConventionName, FlowLevels]
    )

    def training(self, request: ResolvedRequest) -> NoiseSchedule:
        """Return the levels for pictures of this size. Raises EngineError(REQUEST_INVALID)."""
        _refuse_zero_terminal_snr(request)
        levels = self.tools.get(request.convention.name, FlowLevels(self.shift))
        return levels.schedule(request)

    def rescaled_as(self, convention: ConventionName) -> PredictionType | None:
        """Return None: the network's own prediction type is measured."""
        return None


def _refuse_zero_terminal_snr(request: ResolvedRequest) -> None:
    if request.zero_terminal_snr:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "Zero terminal SNR stretches timesteps, and this model was trained without them."
            ),
            sentence("Leave it out."),
        )
