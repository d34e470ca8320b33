"""Working copies of networks whose linear layers stay in blocks."""

from pathlib import Path

import msgspec
import numpy as np

from backends.base import DType, Precision
from backends.cpu import CpuBackend
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.families import Component, identify
from engine.memory.plan import WeightPlacement
from engine.weights.patched import FullDifference
from engine.weights.sources import FileWeight
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.gguf_files import plain, quantized, write_gguf
from tests.families.flux.files import SMALL, drawn, original


def write_flux(path: Path) -> Path:
    numbers = drawn(original(SMALL))
    tensors = {
        name: quantized(array, DType.Q8_0)
        if array.ndim == 2 and array.shape[1] % 32 == 0
        else plain(array)
        for name, array in numbers.items()
    }
    return write_gguf(path, tensors, {"general.architecture": "flux"})


def test_a_packed_copy_is_made_once_found_again_and_as_large_as_was_said(tmp_path: Path) -> None:
    checkpoint = identify(write_flux(tmp_path / "flux.gguf"))
    weights = checkpoint.weights_of(Component.DENOISER)
    backend, copies = CpuBackend(), WorkingCopies(tmp_path / "copies")
    compiler = Compiler(backend, backend.probe()[0], copies)
    assert not compiler.has_copy(weights, Precision.F32)
    said = compiler.converted_bytes(weights, Precision.F32)
    network = checkpoint.architecture.denoiser.network(64, 64)
    emitted = compiler.prepared(network, Precision.F32)
    bound = emitted._binding(emitted.used).bind(  # pyright: ignore[reportPrivateUsage]
        WeightPlacement.MEMORY, lambda _done, _total: None
    )
    sizes = emitted.graph.weight_sizes
    assert sizes == {name: ref.nbytes for name, ref in bound.items()}, "known before it is bound"
    reports: list[int] = []
    for _ in range(2):
        reports.clear()
        compiler.load(
            network,
            Precision.F32,
            WeightPlacement.WORKING_COPY,
            lambda done, _total: reports.append(done),
            CancelToken(),
        ).close()
    assert not reports, "the second load converts nothing"
    assert compiler.has_copy(weights, Precision.F32)
    (copy,) = copies.listed()
    assert "-packed" in copy.name
    dense = sum(weight.elements for weight in weights.values()) * DType.F32.itemsize
    assert said < 0.45 * dense
    assert 0.8 * copy.bytes < said < 1.1 * copy.bytes


def test_loras_of_other_layers_leave_each_other_their_packed_copies(tmp_path: Path) -> None:
    checkpoint = identify(write_flux(tmp_path / "flux.gguf"))
    backend, copies = CpuBackend(), WorkingCopies(tmp_path / "copies")
    compiler = Compiler(backend, backend.probe()[0], copies)
    plain = checkpoint.architecture.denoiser.network(64, 64)

    def files_with_a_lora_of(layer: str) -> dict[str, int]:
        """The copies by name, as the numbers of their files, after a network was loaded."""
        ones = {layer: np.ones(plain.weights[layer].shape, np.float32)}
        numbers = write_arrays(tmp_path / f"{layer}.safetensors", ones)[layer]
        patch = FullDifference(FileWeight(numbers), 1.0)
        patched = msgspec.structs.replace(
            plain, weights=plain.weights.patched(layer, {layer: [patch]})
        )
        compiler.load(
            patched,
            Precision.F32,
            WeightPlacement.WORKING_COPY,
            lambda _done, _total: None,
            CancelToken(),
        ).close()
        paths = copies.folder.glob("*.safetensors")
        return {path.name: path.stat().st_ino for path in paths}

    first, second = (f"transformer_blocks.{block}.ff.net.0.proj.weight" for block in range(2))
    files_with_a_lora_of(first)
    both = files_with_a_lora_of(second)
    assert len(both) == 2
    assert files_with_a_lora_of(first) == both
    assert files_with_a_lora_of(second) == both
