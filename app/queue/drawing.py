"""The denoising that a picture takes: the size, steps and predictions of each of its passes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import msgspec

from engine.api.conventions import convention_of
from engine.api.evaluations import GuidedSampling
from engine.api.features import Features
from engine.api.masks import default_strength
from engine.api.redraw_steps import redrawn_steps, second_pass_rule
from engine.api.request import BaseRequest, GenerateRequest
from engine.api.second_passes import SecondPass
from engine.api.second_sizes import Size, second_size
from engine.api.values import InputRole, SamplerName

# Pixels a side of a latent's cell. Sizes in larger multiples differ too little to be timed.
_CELL = 8

# Returns the features of the checkpoint with a path.
FeaturesOf = Callable[[str], Features]


class Settled(Protocol):
    """The settings without gaps that a picture is drawn with."""

    @property
    def width(self) -> int:
        """Pixels."""
        ...

    @property
    def height(self) -> int:
        """Pixels."""
        ...

    @property
    def steps(self) -> int:
        """The steps, of which a redraw runs some."""
        ...

    @property
    def guidance(self) -> float:
        """The scale."""
        ...

    @property
    def sampler(self) -> SamplerName:
        """The sampler."""
        ...

    @property
    def strength(self) -> float:
        """The strength of a redraw, 0 to 1."""
        ...


class Drawing(msgspec.Struct, frozen=True):
    """One pass: width and height in pixels, and the steps that are run.

    `predictions` is how often the denoiser predicts in them. `checkpoint` is the path of its own;
    None for that of the first pass.
    """

    width: int
    height: int
    steps: int
    predictions: float
    checkpoint: str | None = None

    @property
    def area(self) -> int:
        """The pixels."""
        return self.width * self.height


def drawings(
    request: BaseRequest, settled: Settled, features_of: FeaturesOf
) -> tuple[Drawing, ...]:
    """Return the passes of a picture; `settled` fills the gaps of its request."""
    convention = convention_of(request.convention)
    run = settled.steps
    if any(given.role is InputRole.INIT for given in request.inputs):
        run = redrawn_steps(run, settled.strength, convention.redraw_steps)
    predictions = _sampling(request, settled, features_of(request.checkpoint or "")).predictions(
        run
    )
    passes = [Drawing(settled.width, settled.height, run, predictions)]
    for second in request.second_passes:
        before = passes[-1].width, passes[-1].height
        size = second_size(before, second, convention, _CELL).size
        passes.append(second_drawing(second, size, request, settled, features_of))
    return tuple(passes)


def second_drawing(
    second: SecondPass,
    size: Size,
    request: BaseRequest,
    settled: Settled,
    features_of: FeaturesOf,
) -> Drawing:
    """Return a second pass of a size; what it leaves open is that of the first pass."""
    wanted = settled.steps if second.steps is None else second.steps
    rule = second_pass_rule(convention_of(request.convention).redraw_steps)
    run = redrawn_steps(wanted, second.strength, rule)
    first = _sampling(request, settled, features_of(second.checkpoint or request.checkpoint or ""))
    sampling = replace(
        first,
        sampler=second.sampler or first.sampler,
        guidance=first.guidance if second.guidance is None else second.guidance,
    )
    return Drawing(*size, run, sampling.predictions(run), second.checkpoint)


def _sampling(request: BaseRequest, settled: Settled, features: Features) -> GuidedSampling:
    """Return the settings of the first pass, for a checkpoint with these features."""
    options, tool = request.guidance_options, convention_of(request.convention).name
    return GuidedSampling(settled.sampler, settled.guidance, options, tool, features)


def usual_strength(request: GenerateRequest, features: Features) -> float:
    """Return the strength of a request, or the one that is used where it gives none."""
    if request.strength is not None:
        return request.strength
    masked = any(given.role is InputRole.MASK for given in request.inputs)
    return default_strength(features.concat_channels, request.mask_options, masked=masked)
