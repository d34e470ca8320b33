"""The denoising that a picture takes: the size and the steps of each of its passes."""

import msgspec

from engine.api.conventions import Convention, convention_of
from engine.api.features import Features
from engine.api.masks import default_strength
from engine.api.redraw_steps import redrawn_steps, second_pass_rule
from engine.api.request import BaseRequest, GenerateRequest
from engine.api.second_passes import SecondPass
from engine.api.second_sizes import Size, second_size
from engine.api.values import InputRole

# Pixels a side of a latent's cell. Sizes in larger multiples differ too little to be timed.
_CELL = 8


class Drawing(msgspec.Struct, frozen=True):
    """One pass: width and height in pixels, and the steps that are run.

    `checkpoint` is the path of its own; None for that of the first pass.
    """

    width: int
    height: int
    steps: int
    checkpoint: str | None = None

    @property
    def area(self) -> int:
        """The pixels."""
        return self.width * self.height


def drawings(
    request: BaseRequest, width: int, height: int, steps: int, strength: float
) -> tuple[Drawing, ...]:
    """Return the passes of a picture whose size, steps and strength have no gaps."""
    convention = convention_of(request.convention)
    run = steps
    if any(given.role is InputRole.INIT for given in request.inputs):
        run = redrawn_steps(steps, strength, convention.redraw_steps)
    passes = [Drawing(width, height, run)]
    for second in request.second_passes:
        before = passes[-1].width, passes[-1].height
        size = second_size(before, second, convention, _CELL).size
        passes.append(second_drawing(second, size, steps, convention))
    return tuple(passes)


def second_drawing(second: SecondPass, size: Size, steps: int, convention: Convention) -> Drawing:
    """Return a second pass of a size; `steps` are those of the first pass."""
    rule = second_pass_rule(convention.redraw_steps)
    wanted = steps if second.steps is None else second.steps
    run = redrawn_steps(wanted, second.strength, rule)
    return Drawing(*size, run, second.checkpoint)


def usual_strength(request: GenerateRequest, features: Features) -> float:
    """Return the strength of a request, or the one that is used where it gives none."""
    if request.strength is not None:
        return request.strength
    masked = any(given.role is InputRole.MASK for given in request.inputs)
    return default_strength(features.concat_channels, request.mask_options, masked=masked)
