"""The section `quantized` on a small transformer: a step from a packed working copy."""

from pathlib import Path

from benchmarks.peers.quantized import QuantizedStep
from tests.compile.test_packed_copies import write_flux


def test_a_step_is_run_and_its_memory_told(tmp_path: Path) -> None:
    peer = QuantizedStep(str(write_flux(tmp_path / "flux.gguf")), "cpu", "f32", "in_place", 64)
    answer = peer.answer("step", {"result": str(tmp_path / "found.npy")})
    peer.close()
    assert (tmp_path / "found.npy").exists()
    assert answer["seconds"] > 0
    assert answer["load_processor_s"] > 0
    assert answer["cached"] > 0
