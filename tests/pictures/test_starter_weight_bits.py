"""Pictures of the starter, a trained model, rounded in several ways: close, and as asked for.

`python -m pytest --log-cli-level=INFO tests/pictures/test_starter_weight_bits.py` prints decibels.
"""

import logging
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from app.paths import starter_checkpoint
from backends.base import Precision
from backends.intel_openvino import OpenVinoBackend
from engine.api.values import (
    ConventionName,
    PrecisionName,
    SamplerName,
    ScheduleName,
    TextWeightBits,
    WeightBits,
)
from starter.judge import judge
from tests.families.gguf_parts import decibels
from tests.jobs.test_weight_bits import Bench
from tests.pictures.test_starter_pictures import ASKED, GUIDANCE, STEPS
from tests.pipeline.jobs import a_request

pytestmark = pytest.mark.oracle  # 24 pictures; tests/jobs has the same of small models
_log = logging.getLogger(__name__)
PROMPTS = tuple(ASKED)[:3]
# Roundings, and decibels of the median picture beside that of exact weights, at least.
LEAST = {
    (WeightBits.EIGHT, TextWeightBits.SAME): 55.0,
    (WeightBits.FOUR, TextWeightBits.SAME): 35.0,
    (WeightBits.ALL, TextWeightBits.EIGHT): 55.0,
    (WeightBits.ALL, TextWeightBits.FOUR): 38.0,
}
# The same for what weights of 8 bits are multiplied with, beside float32.
LEAST_COMPUTED_IN = {PrecisionName.INT8: 52.0, PrecisionName.BF16: 40.0}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    request = a_request(
        starter_checkpoint(),
        width=256,
        height=256,
        steps=STEPS,
        guidance=GUIDANCE,
        sampler=SamplerName.DPMPP_2M,
        schedule=ScheduleName.SGM_UNIFORM,
        convention=ConventionName.DIFFUSERS,
        backend="cpu",
    )
    return Bench(Path(tmp_path_factory.mktemp("starter")), request)


def pictures(
    bench: Bench, weights: WeightBits, texts: TextWeightBits, **changes: object
) -> list[NDArray[np.uint8]]:
    changed = msgspec.structs.replace(
        bench.request, weight_bits=weights, text_weight_bits=texts, **changes
    )
    return [
        bench.made(msgspec.structs.replace(changed, prompt=prompt, seed=seed))[2]
        for seed, prompt in enumerate(PROMPTS)
    ]


def right(pixels: NDArray[np.uint8], prompt: str) -> int:
    """The number of the four things that a prompt names which the judge sees."""
    seen = judge(Image.fromarray(pixels))
    places = zip(ASKED[prompt], (seen.colour, seen.time, seen.land, seen.place), strict=True)
    return sum(asked == found for asked, found in places)


def test_pictures_of_rounded_weights_are_close_and_as_right(bench: Bench) -> None:
    exact = pictures(bench, WeightBits.ALL, TextWeightBits.SAME)
    expected = sum(map(right, exact, PROMPTS))
    for (weights, texts), least in LEAST.items():
        made = pictures(bench, weights, texts)
        found = float(np.median(list(map(decibels, made, exact))))
        _log.info("starter, %s bits, text encoders %s: %.1f dB", weights, texts, found)
        assert least < found < float("inf")
        assert sum(map(right, made, PROMPTS)) >= expected - 1


def test_pictures_computed_in_8_bits_are_close_and_as_right(bench: Bench) -> None:
    """Rounding what weights are multiplied with changes less than bfloat16, which rounds all."""
    precisions = OpenVinoBackend().probe()[-1].precisions
    if Precision.INT8 not in precisions:
        pytest.skip("this processor has no instructions for 8 bits")

    def computed_in(precision: PrecisionName) -> list[NDArray[np.uint8]]:
        changes = {"backend": "intel_openvino", "precision": precision}
        return pictures(bench, WeightBits.EIGHT, TextWeightBits.SAME, **changes)

    exact = computed_in(PrecisionName.F32)
    expected = sum(map(right, exact, PROMPTS))
    for precision, least in LEAST_COMPUTED_IN.items():
        if Precision(precision.value) not in precisions:
            continue
        made = computed_in(precision)
        found = float(np.median(list(map(decibels, made, exact))))
        _log.info("starter, weights of 8 bits, computed in %s: %.1f dB", precision, found)
        assert least < found < float("inf")
        assert sum(map(right, made, PROMPTS)) >= expected - 1
