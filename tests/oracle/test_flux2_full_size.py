"""A double and a single block of FLUX.2 klein 4B at full size beside diffusers', random weights."""
# pyright: basic
# torch and diffusers are absent from the environment that is type-checked.

import pytest

pytestmark = [pytest.mark.oracle, pytest.mark.slow, pytest.mark.timeout(3600)]
pytest.importorskip("torch")
pytest.importorskip("diffusers")

from tests.oracle.networks import targets  # noqa: E402
from tests.oracle.test_flux2_networks import flux2_case, small  # noqa: E402

SIZES = {
    "in_channels": 128,
    "out_channels": 128,
    "width": 3072,
    "heads": 24,
    "mlp_width": 9216,
    "context_width": 7680,
    "double_blocks": 1,
    "single_blocks": 1,
}


def test_blocks_of_full_size_equal_diffusers() -> None:
    target = next(target for target in targets() if target.backend.name == "cpu")
    flux2_case(small(**SIZES), (8, 12), references=((6, 10),)).check(target)
