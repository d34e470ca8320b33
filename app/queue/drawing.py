"""The denoising that a picture takes: the size, steps and predictions of each of its passes."""

from collections.abc import Callable
from math import prod
from typing import Protocol

import msgspec

from engine.api.conventions import convention_of
from engine.api.evaluations import GuidedSampling, steps_within
from engine.api.features import Features
from engine.api.masks import default_strength
from engine.api.redraw_steps import redrawn_steps, second_pass_rule
from engine.api.request import BaseRequest, GenerateRequest
from engine.api.second_passes import SecondPass
from engine.api.second_sizes import Size, second_size
from engine.api.tile_starts import tile_starts
from engine.api.values import InputRole, SamplerName

# Pixels a side of a latent's cell. Sizes in larger multiples differ too little to be timed.
CELL = 8
# Stands for the path of a reference, for which the denoiser itself runs once more.
REFERENCE = "reference"
# The weights of a ControlNet of SD 1.5 as a part of its denoiser's: 361 of 860 million.
USUAL_CONTROL = 0.42

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


class Beside(msgspec.Struct, frozen=True):
    """A network beside or within a denoiser: its path, and the part of the steps it acts in.

    `usual` is the time of one of its runs, in predictions of the denoiser, where its weights are
    not known. `pictures` is the number of those that an encoder sees before, for an image prompt.
    """

    network: str
    part: float
    usual: float
    pictures: int = 0


class Drawing(msgspec.Struct, frozen=True):
    """One pass: width and height in pixels, and the steps that are run.

    `predictions` is how often the denoiser predicts in them. `checkpoint` is the path of its own;
    None for that of the first pass. `tile` is the longest side in pixels that is redrawn at once;
    None for all. `beside` are the networks that act in each prediction.
    """

    width: int
    height: int
    steps: int
    predictions: float
    checkpoint: str | None = None
    tile: int | None = None
    beside: tuple[Beside, ...] = ()

    @property
    def area(self) -> int:
        """The pixels of the picture."""
        return self.width * self.height

    @property
    def seen(self) -> int:
        """The pixels that the denoiser sees for each prediction: where tiles overlap, again."""
        if self.tile is None:
            return self.area
        sides = [side // CELL for side in (self.width, self.height)]
        tiles = [min(side, self.tile // CELL) for side in sides]
        counts = map(len, map(tile_starts, sides, tiles))
        return prod(tile * count * CELL for tile, count in zip(tiles, counts, strict=True))


def drawings(
    request: BaseRequest, settled: Settled, features_of: FeaturesOf
) -> tuple[Drawing, ...]:
    """Return the passes of a picture; `settled` fills the gaps of its request."""
    convention = convention_of(request.convention)
    run = settled.steps
    if any(given.role is InputRole.INIT for given in request.inputs):
        run = redrawn_steps(run, settled.strength, convention.redraw_steps)
    sampling = _sampling(request, settled, features_of(request.checkpoint or ""))
    first = Drawing(settled.width, settled.height, run, sampling.predictions(run))
    passes = [msgspec.structs.replace(first, beside=_beside(request, run))]
    for second in request.second_passes:
        before = passes[-1].width, passes[-1].height
        size = second_size(before, second, convention, CELL).size
        passes.append(second_drawing(second, size, request, settled, features_of))
        sampling = _second_sampling(second, request, settled, features_of)
    return (*passes[:-1], *_refined(passes[-1], sampling, request, features_of))


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
    predictions = _second_sampling(second, request, settled, features_of).predictions(run)
    beside = _beside(request, run)
    return Drawing(*size, run, predictions, second.checkpoint, second.tile, beside)


def _second_sampling(
    second: SecondPass, request: BaseRequest, settled: Settled, features_of: FeaturesOf
) -> GuidedSampling:
    first = _sampling(request, settled, features_of(second.checkpoint or request.checkpoint or ""))
    return msgspec.structs.replace(
        first,
        sampler=second.sampler or first.sampler,
        guidance=first.guidance if second.guidance is None else second.guidance,
    )


def _refined(
    last: Drawing, sampling: GuidedSampling, request: BaseRequest, features_of: FeaturesOf
) -> tuple[Drawing, ...]:
    """Return the last pass, of which a refiner takes the steps that are its part.

    Nothing acts beside the refiner.
    """
    choice = request.refiner
    if choice is None or choice.checkpoint is None or choice.switch_at >= 1:
        return (last,)
    own, steps, at = choice.checkpoint, last.steps, choice.switch_at
    refining = msgspec.structs.replace(sampling, features=features_of(own))
    refined = msgspec.structs.replace(
        last,
        steps=steps - round(at * steps),
        predictions=refining.predictions(steps, share=1 - at),
        checkpoint=own,
        beside=(),
    )
    if at <= 0:
        return (refined,)
    taken, predictions = round(at * steps), sampling.predictions(steps, share=at)
    return msgspec.structs.replace(last, steps=taken, predictions=predictions), refined


def _beside(request: BaseRequest, steps: int) -> tuple[Beside, ...]:
    """Return the networks that act in each prediction of a run of so many steps.

    The few tokens of an image prompt are less than a hundredth of the denoiser's arithmetic.
    """

    def part(range_: tuple[float, float]) -> float:
        return len(steps_within(range_, steps)) / max(steps, 1)

    found: list[Beside] = []
    for layer in request.controls:
        if not (layer.enabled and layer.image):
            continue
        if layer.is_reference:
            found.append(Beside(REFERENCE, part(layer.range), 1.0))
        elif layer.network is not None:
            found.append(Beside(layer.network, part(layer.range), USUAL_CONTROL))
    for prompt in request.image_prompts:
        if prompt.enabled and prompt.image and prompt.adapter is not None:
            pictures = 1 + len(prompt.further)
            found.append(Beside(prompt.adapter, part(prompt.range), 0.0, pictures))
    return tuple(found)


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
