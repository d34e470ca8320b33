"""Every backend that may be chosen here computes SD 1.5's blocks as the processor does."""

from pathlib import Path

import pytest

from backends.base import DType, Precision
from backends.cpu import CpuBackend
from backends.registry import BACKENDS, BackendReference
from engine.cancel import CancelToken
from engine.devices import trial_network
from engine.devices.trial import TOLERANCES
from engine.devices.trials import TrialLimits, Trials
from engine.graphs.operators import GraphBuilder

REAL = [r for r in BACKENDS if r.automatic and not r.trusted]


@pytest.mark.oracle
@pytest.mark.parametrize("reference", REAL, ids=lambda r: r.name)
def test_every_backend_computes_correctly_in_each_precision(
    reference: BackendReference, shared: Path
) -> None:
    report = Trials(TrialLimits(silence_s=240)).run(reference, "now", shared, CancelToken())
    assert report.problem == ""
    usable = [d for d in report.devices if d.automatic and not d.unusable]
    if not usable:
        pytest.skip(f"{reference.name}: {[d.unusable or d.name for d in report.devices]}")
    for device in usable:
        assert device.works, device.sentence
        assert device.right_precisions == device.precisions, device.sentence
        for figure in device.figures:
            assert figure.milliseconds > 0
            assert 0 < figure.difference < TOLERANCES[Precision(figure.precision)]


def test_the_trial_network_has_the_blocks_of_sd_15(tmp_path: Path) -> None:
    network = trial_network.network(tmp_path)
    operators = CpuBackend().operators(CpuBackend().probe()[0])
    g = GraphBuilder(network.name, network.weights, operators, DType.F32, Precision.F32)
    network.emit(g)
    assert g.unused() == ()
    attention = "mid_block.attentions.0.transformer_blocks.0"
    assert network.weights[f"{attention}.attn2.to_k.weight"].shape == (320, 768)
    assert network.weights["mid_block.resnets.0.time_emb_proj.weight"].shape == (320, 1280)
    shapes = {name: array.shape for name, array in trial_network.feeds().items()}
    assert shapes["sample"] == (2, 4, 64, 64)
    assert shapes["context"] == (2, 77, 768)


def test_the_weights_are_written_once(tmp_path: Path) -> None:
    trial_network.network(tmp_path)
    (path,) = tmp_path.iterdir()
    before = path.stat()
    again = trial_network.network(tmp_path)
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert again.weights.elements * DType.F32.itemsize == before.st_size
