"""The schedules that NVIDIA optimised for Stable Diffusion.

Sabour et al. (2024), "Align Your Steps: Optimizing Sampling Schedules in Diffusion Models"; the
tables are those of its project page (quick-start guide), and more digits of them in ComfyUI.
"""

from collections.abc import Mapping
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from engine.api.values import ConventionName
from engine.sampling.schedules.ramp import with_zero
from engine.sampling.types import Sigmas


class AlignedFor(Enum):
    """The kind of checkpoint that the steps were optimised for."""

    SD1 = "sd1"
    SDXL = "sdxl"


# fmt: off
_LEVELS: Mapping[AlignedFor, tuple[float, ...]] = {
    AlignedFor.SD1: (
        14.615, 6.475, 3.861, 2.697, 1.886, 1.396, 0.963, 0.652, 0.399, 0.152, 0.029,
    ),
    AlignedFor.SDXL: (
        14.615, 6.315, 3.771, 2.181, 1.342, 0.862, 0.555, 0.380, 0.234, 0.113, 0.029,
    ),
}
_FINER_LEVELS: Mapping[AlignedFor, tuple[float, ...]] = {
    AlignedFor.SD1: (
        14.6146412293, 6.4745760956, 3.8636745985, 2.6946151520, 1.8841921177, 1.3943805092,
        0.9642583904, 0.6523686016, 0.3977456272, 0.1515232662, 0.0291671582,
    ),
    AlignedFor.SDXL: (
        14.6146412293, 6.3184485287, 3.7681790315, 2.1811480769, 1.3405244945, 0.8620721141,
        0.5550693289, 0.3798540708, 0.2332364134, 0.1114188177, 0.0291671582,
    ),
}
# fmt: on


def align_your_steps(steps: int, aligned_for: AlignedFor, convention: ConventionName) -> Sigmas:
    """Return the published levels for ten steps; other numbers are interpolated in log sigma.

    A1111 (`get_align_your_steps_sigmas`) makes `steps` levels and appends 0; for one step it makes
    the lowest level. ComfyUI (`AlignYourStepsScheduler`) makes one more and sets the last to 0.
    """
    if convention is ConventionName.COMFY:
        sigmas = _interpolated(_FINER_LEVELS[aligned_for], steps + 1)
        return with_zero(sigmas[:-1])
    return with_zero(_interpolated(_LEVELS[aligned_for], steps))


def _interpolated(levels: tuple[float, ...], count: int) -> NDArray[np.float64]:
    """Return `count` falling levels at evenly spaced places; unchanged if there are as many."""
    if count == len(levels):
        return np.array(levels)
    places = np.linspace(0, 1, count)
    rising = np.log(levels[::-1])
    return np.exp(np.interp(places, np.linspace(0, 1, len(levels)), rising))[::-1]
