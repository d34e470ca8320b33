"""The section `reference`, on a UNet of a few thousand weights."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import reference_step
from tests.tiny_checkpoint import write_checkpoint


@pytest.mark.oracle
@pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed")
def test_a_reference_that_is_the_latent_itself_leaves_the_step_and_attention_stays_fused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = str(write_checkpoint(tmp_path / "tiny"))
    feeds = {
        "sample": np.random.default_rng(0).standard_normal((1, 4, 8, 8), np.float32),
        "timestep": np.array([500], np.float32),
        "context": np.ones((2, 77, 64), np.float32),
    }

    def small(_component: str, _pictures: int) -> Mapping[str, np.ndarray]:
        return feeds

    monkeypatch.setattr(reference_step, "feeds", small)
    saved = tmp_path / "found.npy"
    found: list[np.ndarray] = []
    for way, task in (
        (reference_step.PLAIN, reference_step.ALONE),
        (reference_step.REFERENCE, reference_step.BESIDE),
    ):
        peer = reference_step.ReferenceStep(checkpoint, "f32", way, size=64)
        assert peer.answer(task, {"save": str(saved)})["seconds"] > 0
        found.append(np.load(saved))
        layers = peer.answer(reference_step.LAYERS, {})["layers"]
        # Fused attention is no product of matrices in the executed graph.
        assert all(layer["FullyConnected"] > 0 and not layer.get("MatMul") for layer in layers)
        peer.close()
    plain, beside = found
    np.testing.assert_allclose(beside, plain, rtol=1e-3, atol=1e-4)
