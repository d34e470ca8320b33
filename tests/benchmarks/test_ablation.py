"""The ablation as far as it gets without a CUDA GPU: what is said, what is compared, and the peers.

The peers run a checkpoint of 14 MB on the processor: all of their way but the device.
"""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from backends import hardware
from benchmarks.ablation_steps import STEPS
from benchmarks.child import PeerError
from benchmarks.measure import Series
from benchmarks.peers.unet_step import UnetStep
from benchmarks.sections import SECTIONS
from benchmarks.sections.ablation import Contestant, Measured, contestants, found_for
from benchmarks.sections.setting import Setting
from tests.tiny_checkpoint import DOWNSCALE, SIDE, write_checkpoint

SIZE = 8 * SIDE // DOWNSCALE
SECTION = import_module("benchmarks.sections.ablation")


def setting(folder: Path) -> Setting:
    return Setting(folder, Path("python"), True, None, None, lambda text: None)


def test_a_machine_without_a_card_has_no_figures_and_makes_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hardware, "list_adapters", list)
    findings = SECTIONS["ablation"](setting(tmp_path / "none"))
    (target,) = findings.targets
    assert (target.measured, target.limit) == (None, 1.1)
    assert target.reason == "no NVIDIA graphics card found"
    assert not (tmp_path / "none").exists()


def test_our_time_is_compared_with_the_best_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = contestants("a checkpoint", "a folder", 512)
    seconds = dict.fromkeys(others, 0.2) | {"as it ships": 0.11, "diffusers": 0.1}

    def measure(contestant: Contestant, pictures: int, rounds: int) -> Measured:
        name = next(name for name, other in others.items() if other is contestant)
        if name == "torch_device":
            raise PeerError("the process ended\nout of memory")
        return Measured(Series([seconds[name]] * rounds), 2_000_000_000)

    monkeypatch.setattr(SECTION, "measure", measure)
    table, target = found_for(setting(tmp_path), others, 1, "a card")
    assert target.measured == pytest.approx(1.1)
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows.keys() == others.keys()
    assert rows["plain"] == (200.0, 10.0, 1.0, 2.0, 10.2)
    assert rows["diffusers"] == (100.0, 5.0, 0.5, 2.0, "-")
    assert rows["torch_device"][0] == "out of memory"
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert list(STEPS) == list(rows)[: len(STEPS)]


def test_our_peer_takes_steps_of_one_picture_and_of_several(tmp_path: Path) -> None:
    checkpoint = write_checkpoint(tmp_path / "tiny")
    peer = UnetStep(str(checkpoint), "cpu", "f32", size=SIZE)
    for pictures in (1, 2, 1):
        answer = peer.answer("step", {"pictures": pictures, "save": tmp_path / "result.npy"})
        assert answer["seconds"] > 0
        assert np.load(tmp_path / "result.npy").shape[0] == 2 * pictures
    assert isinstance(peer.answer("memory", {})["bytes"], int)


@pytest.mark.oracle
@pytest.mark.skipif(find_spec("diffusers") is None, reason="diffusers is not installed")
def test_all_peers_compute_the_same(tmp_path: Path) -> None:
    from benchmarks.peers.diffusers_gpu import DiffusersGpu

    checkpoint = str(write_checkpoint(tmp_path / "tiny"))
    peers = [
        UnetStep(checkpoint, "cpu", "f32", size=SIZE),
        UnetStep(checkpoint, "torch_device", "f32", size=SIZE),
        DiffusersGpu(checkpoint, "f32", device="cpu", size=SIZE),
    ]
    results = []
    for peer in peers:
        peer.answer("step", {"pictures": 2, "save": tmp_path / "result.npy"})
        results.append(np.load(tmp_path / "result.npy"))
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=0, atol=1e-4)
