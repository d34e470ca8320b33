"""Blocks of Z-Image at full size beside diffusers', with random weights."""
# pyright: basic
# torch and diffusers are absent from the environment that is type-checked.

import pytest

pytestmark = [pytest.mark.oracle, pytest.mark.slow, pytest.mark.timeout(3600)]
pytest.importorskip("torch")
pytest.importorskip("diffusers")

from tests.oracle.networks import targets  # noqa: E402
from tests.oracle.test_zimage_networks import small, zimage_case  # noqa: E402

SIZES = {
    "width": 3840,
    "heads": 30,
    "mlp_width": 10240,
    "context_width": 2560,
    "embedding_width": 256,
    "layers": 1,
    "refiners": 1,
    "axes": (32, 48, 48),
}


def test_blocks_of_full_size_equal_diffusers() -> None:
    target = next(target for target in targets() if target.backend.name == "cpu")
    zimage_case(small(**SIZES), (16, 24)).check(target)
