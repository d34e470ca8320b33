"""Noise models: the path from picture to noise that a network was trained on.

A model is a checkpoint's; for a request it gives the levels of training, as a `NoiseSchedule` that
knows how a picture and noise make latents of a level and what the network is given of them.
"""

import math
from dataclasses import dataclass
from typing import Protocol

from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName, ErrorCode, PredictionType, SamplerName, ScheduleName
from engine.errors import EngineError
from engine.sampling.schedules.align_your_steps import AlignedFor
from engine.sampling.schedules.distilled import DistilledSchedule
from engine.sampling.schedules.edm import EdmLevels, EdmSchedule
from engine.sampling.schedules.flow import FlowSchedule
from engine.sampling.schedules.training import NoiseSchedule

# Those that integrate dx/dt = (x - picture) / t without adding noise, which flow adds otherwise.
FLOW_SAMPLERS = (
    SamplerName.EULER,
    SamplerName.HEUN,
    SamplerName.DPM2,
    SamplerName.LMS,
    SamplerName.DPMPP_2M,
    SamplerName.RES_MULTISTEP,
    SamplerName.DEIS,
)
# Those that are spaced by training levels or times, which flow has.
FLOW_SCHEDULES = (
    ScheduleName.SIMPLE,
    ScheduleName.SGM_UNIFORM,
    ScheduleName.NORMAL,
    ScheduleName.BETA,
)


class NoiseModel(Protocol):
    """The path from picture to noise, and what the network predicts on it."""

    @property
    def prediction(self) -> PredictionType:
        """What the network predicts."""
        ...

    @property
    def aligned_for(self) -> AlignedFor:
        """Whose levels the schedule "Align Your Steps" has."""
        ...

    def training(self, request: ResolvedRequest) -> NoiseSchedule:
        """The levels of training as the request's tool has them. Raises REQUEST_INVALID."""
        ...

    def rescaled_as(self, convention: ConventionName) -> PredictionType | None:
        """The prediction whose contrast is brought back; None for the network's own."""
        ...


@dataclass(frozen=True, slots=True)
class VarianceExploding:
    """A `NoiseModel` of x = picture + sigma * noise: Stable Diffusion's; with `levels` EDM's."""

    prediction: PredictionType
    aligned_for: AlignedFor = AlignedFor.SD1
    # Of networks that were trained by levels; None for timesteps.
    levels: EdmLevels | None = None

    def training(self, request: ResolvedRequest) -> NoiseSchedule:
        """The levels of training. Raises EngineError(REQUEST_INVALID)."""
        if self.prediction is PredictionType.FLOW:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                "This model was not trained by flow matching.",
                "Leave its prediction to the file.",
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
        """ComfyUI's RescaleCFG measures velocities, whatever the network predicts."""
        return PredictionType.V if convention is ConventionName.COMFY else None


@dataclass(frozen=True, slots=True)
class SizeShift:
    """A shift that grows with the tokens of a picture (diffusers `calculate_shift`).

    Its logarithm is `least` at `fewest` tokens and `most` at `many`, linear in between and beyond.
    """

    # Of a token's side.
    pixels: int = 16
    fewest: int = 256
    many: int = 4096
    least: float = 0.5
    most: float = 1.15

    def __call__(self, width: int, height: int) -> float:
        """The shift of pictures of this size in pixels."""
        tokens = (width // self.pixels) * (height // self.pixels)
        slope = (self.most - self.least) / (self.many - self.fewest)
        return math.exp(self.least + slope * (tokens - self.fewest))


@dataclass(frozen=True, slots=True)
class RectifiedFlow:
    """A `NoiseModel` of x = (1 - t) * picture + t * noise, with t moved by a shift."""

    shift: float | SizeShift = 1.0
    prediction: PredictionType = PredictionType.FLOW
    aligned_for: AlignedFor = AlignedFor.SD1

    def training(self, request: ResolvedRequest) -> NoiseSchedule:
        """The levels for pictures of the request's size. Raises EngineError(REQUEST_INVALID)."""
        _refuse_zero_terminal_snr(request)
        shift = self.shift
        if isinstance(shift, SizeShift):
            shift = shift(request.width, request.height)
        return FlowSchedule.of(shift, request.convention.name)

    def rescaled_as(self, convention: ConventionName) -> PredictionType | None:
        """Its own."""
        return None


def _refuse_zero_terminal_snr(request: ResolvedRequest) -> None:
    if request.zero_terminal_snr:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            "Zero terminal SNR stretches timesteps, and this model was trained without them.",
            "Leave it out.",
        )
