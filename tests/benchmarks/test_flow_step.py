"""Steps of small transformers as the benchmarks' peer runs them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks import make_gguf
from benchmarks.peers.flow_step import FlowStep
from tests.families.flux import files as flux
from tests.families.flux.files import FluxSizes
from tests.families.listings import Listing
from tests.families.zimage import files as zimage
from tests.families.zimage.files import ZImageSizes


def _flux() -> Listing:
    return flux.original(FluxSizes(256, 128, 512, 128, 128, 1, 1, guidance=False))


def _zimage() -> Listing:
    return zimage.original(ZImageSizes(256, 128, 256, 128, 256, 1, 1))


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("listing", "architecture"), [(_flux, "flux"), (_zimage, "lumina2")], ids=["flux", "zimage"]
)
def test_a_job_and_the_bare_runtime_run_the_same_step(
    tmp_path: Path, listing: Callable[[], Listing], architecture: str
) -> None:
    path = tmp_path / "few.gguf"
    make_gguf.write(path, listing(), architecture)
    found: list[np.ndarray] = []
    for bare in (False, True):
        peer = FlowStep(str(path), "cpu", "f32", bare=bare)
        saved = tmp_path / f"{bare}.npy"
        assert peer.answer("step", {"save": str(saved)})["seconds"] > 0
        found.append(np.load(saved))
        peer.close()
    assert np.isfinite(found[0]).all()
    assert np.abs(found[0]).max() > 1e-3
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-4 * np.abs(found[0]).max())
