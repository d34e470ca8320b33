"""A double and a single block of Flux.1 at full size beside diffusers', with random weights."""
# pyright: basic
# torch and diffusers are absent from the environment that is type-checked.

import pytest

pytestmark = [pytest.mark.oracle, pytest.mark.slow, pytest.mark.timeout(3600)]
pytest.importorskip("torch")
pytest.importorskip("diffusers")

from tests.oracle.networks import targets  # noqa: E402
from tests.oracle.test_flux_networks import flux_case, small  # noqa: E402

SIZES = {
    "in_channels": 64,
    "out_channels": 64,
    "width": 3072,
    "heads": 24,
    "mlp_width": 12288,
    "context_width": 4096,
    "pooled_width": 768,
    "double_blocks": 1,
    "single_blocks": 1,
    "axes": (16, 56, 56),
}


def test_blocks_of_full_size_equal_diffusers() -> None:
    target = next(target for target in targets() if target.backend.name == "cpu")
    flux_case(small(**SIZES), (16, 24)).check(target)
