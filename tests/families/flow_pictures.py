"""Pictures by the tiny checkpoints of families with a transformer, and what holds of all."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backends.base import Precision
from backends.cpu import CpuBackend
from engine.api.features import OptionalSetting
from engine.api.second_passes import LatentUpscaler, SecondPass
from engine.api.values import SamplerName, ScheduleName
from engine.families import identify
from engine.memory.plan import WeightPlacement
from tests.pipeline.jobs import RESIDENCY, a_request, run

Picture = Callable[..., NDArray[np.uint8]]


def picture(
    path: Path, weights: WeightPlacement = WeightPlacement.MEMORY, /, **changes: object
) -> NDArray[np.uint8]:
    """Make a picture, uint8 [64, 96, 3]; `changes` are fields of the request."""
    fields: dict[str, object] = {
        "width": 96,
        "height": 64,
        "steps": 2,
        "seed": 7,
        "prompt": "a red house by the sea",
        "sampler": SamplerName.EULER,
        "schedule": ScheduleName.SIMPLE,
    }
    request = a_request(path, **(fields | changes))
    made = run(request, CpuBackend(), (Precision.F32,), residency=RESIDENCY, weights=weights)
    return np.asarray(made.pixels[0])


def check_changes(
    made: Picture, path: Path, convention: str, *changes: Mapping[str, object]
) -> None:
    """Check that a picture can be made again, and that each of the changes makes another."""
    first = made(path, convention=convention)
    assert first.shape == (64, 96, 3)
    np.testing.assert_array_equal(made(path, convention=convention), first)
    for change in changes:
        assert not np.array_equal(made(path, convention=convention, **change), first)


def check_second_pass(made: Picture, path: Path, upscaler: str = LatentUpscaler.BILINEAR) -> None:
    """Check that a second pass enlarges a picture, and redraws it by its strength."""
    assert OptionalSetting.SECOND_PASSES in identify(path).architecture.features.options
    redrawn = [
        made(path, second_passes=(SecondPass(scale=1.5, upscaler=upscaler, strength=strength),))
        for strength in (0.3, 0.7)
    ]
    assert redrawn[0].shape == (96, 144, 3)
    assert not np.array_equal(redrawn[0], redrawn[1])
