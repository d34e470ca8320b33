"""A VAE that overflows in bfloat16 alone gives float32's picture, with one retry in the record.

The decoder's last norm has a bias of 3.4e38 in one channel: finite in float32, beyond bfloat16's
largest number (3.39e38). The last convolution takes that channel times 1e-34 and subtracts the
constant again, so in float32 the channel has no say. In bfloat16 it becomes infinite or, where the
runtime clamps as OpenVINO does, wrong by 0.3 %, which is hundreds of times white.
"""

from pathlib import Path

import numpy as np
import pytest

from backends.base import Precision
from backends.intel_openvino import OpenVinoBackend
from engine.api.record import Retry
from engine.api.values import Phase, PrecisionName
from engine.families import Component
from tests.pipeline.jobs import a_request, psnr, run
from tests.tiny_checkpoint import Weights, write_checkpoint

BACKEND = OpenVinoBackend()
BF16, F32 = Precision.BF16, Precision.F32
pytestmark = pytest.mark.skipif(
    BF16 not in BACKEND.probe()[0].precisions, reason="this processor does not compute in bfloat16"
)
RETRY = {"from_precision": PrecisionName.BF16, "to_precision": PrecisionName.F32}


def overflowing(weights: Weights) -> None:
    vae = weights[Component.VAE]
    vae["decoder.conv_norm_out.weight"][0] = 0
    vae["decoder.conv_norm_out.bias"][0] = 3.4e38
    last = vae["decoder.conv_out.weight"]
    last[:, 0] = 0
    last[:, 0, 1, 1] = 1e-34
    vae["decoder.conv_out.bias"] -= np.float32(1e-34) * np.float32(3.4e38)


def silent(weights: Weights) -> None:
    """A denoiser that predicts no noise: the same in every precision, to the last bit."""
    for name in ("conv_out.weight", "conv_out.bias"):
        weights[Component.DENOISER][name] *= 0


def both(weights: Weights) -> None:
    overflowing(weights)
    silent(weights)


def test_the_picture_is_that_of_float32_after_one_retry(tmp_path: Path) -> None:
    request = a_request(write_checkpoint(tmp_path / "overflowing", change=both), steps=2, count=2)
    retried = run(request, BACKEND, (BF16, F32), together=True)
    assert len(retried.retries) == 1
    (retry,) = retried.retries
    assert retry == Retry(phase=Phase.DECODE, reason=retry.reason, **RETRY)
    assert retry.reason in {"not a number", "infinite", "a single colour"}
    exact = run(request, BACKEND, (F32,))
    assert exact.retries == ()
    np.testing.assert_array_equal(retried.pixels, exact.pixels)
    assert all(pixels.std() > 20 for pixels in exact.pixels)


@pytest.mark.oracle
def test_the_same_vae_without_the_overflow_needs_no_retry(tmp_path: Path) -> None:
    """So it is the overflow that was seen, and nothing else about these weights."""
    broken = a_request(write_checkpoint(tmp_path / "overflowing", change=overflowing), steps=2)
    healthy = a_request(write_checkpoint(tmp_path / "healthy"), steps=2)
    low = run(healthy, BACKEND, (BF16, F32))
    assert low.retries == ()
    retried = run(broken, BACKEND, (BF16, F32))
    assert [retry.phase for retry in retried.retries] == [Phase.DECODE]
    # One channel of 32 is all that tells the two decoders apart.
    assert psnr(retried.pixels[0], low.pixels[0]) > 15
