"""The denoising that a picture takes: the size, steps and predictions of each of its passes."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from engine.api.conventions import Convention, convention_of
from engine.api.evaluations import guidance_terms, run_evaluations
from engine.api.features import Features
from engine.api.masks import default_strength
from engine.api.redraw_steps import redrawn_steps, second_pass_rule
from engine.api.request import BaseRequest, GenerateRequest, GuidanceOptions
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


class _Method(msgspec.Struct, frozen=True):
    """The settings that say how often a step asks the denoiser."""

    sampler: SamplerName
    guidance: float
    options: GuidanceOptions
    convention: Convention

    def predictions(self, steps: int, features: Features) -> float:
        """Return how often a denoiser with these features predicts in so many steps."""
        tool = self.convention.name
        terms = guidance_terms(self.sampler, self.guidance, self.options, tool, features)
        return run_evaluations(self.sampler, steps, tool) * terms.predictions(self.options, steps)


def drawings(
    request: BaseRequest, settled: Settled, features_of: FeaturesOf
) -> tuple[Drawing, ...]:
    """Return the passes of a picture; `settled` fills the gaps of its request."""
    convention = convention_of(request.convention)
    run = settled.steps
    if any(given.role is InputRole.INIT for given in request.inputs):
        run = redrawn_steps(run, settled.strength, convention.redraw_steps)
    method = _method(request, settled)
    features = features_of(request.checkpoint or "")
    predictions = method.predictions(run, features)
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
    method = _method(request, settled)
    wanted = settled.steps if second.steps is None else second.steps
    rule = second_pass_rule(method.convention.redraw_steps)
    run = redrawn_steps(wanted, second.strength, rule)
    method = msgspec.structs.replace(
        method,
        sampler=second.sampler or method.sampler,
        guidance=method.guidance if second.guidance is None else second.guidance,
    )
    features = features_of(second.checkpoint or request.checkpoint or "")
    return Drawing(*size, run, method.predictions(run, features), second.checkpoint)


def _method(request: BaseRequest, settled: Settled) -> _Method:
    convention = convention_of(request.convention)
    return _Method(settled.sampler, settled.guidance, request.guidance_options, convention)


def usual_strength(request: GenerateRequest, features: Features) -> float:
    """Return the strength of a request, or the one that is used where it gives none."""
    if request.strength is not None:
        return request.strength
    masked = any(given.role is InputRole.MASK for given in request.inputs)
    return default_strength(features.concat_channels, request.mask_options, masked=masked)
