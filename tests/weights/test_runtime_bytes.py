"""The bytes that runtimes hold of weights in blocks."""

from pathlib import Path

import msgspec
import pytest

from backends.base import Device, DType, FileSlice, OperatorSet
from backends.cpu import CpuBackend
from backends.intel_openvino import OpenVinoBackend
from backends.nvidia_cuda import OPERATORS as CUDA
from engine.weights.packing import Field, PackedWeight, Packing, bound_bytes
from engine.weights.runtime_bytes import in_place_names, runtime_bytes
from engine.weights.sources import FileWeight
from tests.checkpoints.gguf_files import blocks
from tests.weights.test_dequantization import written


@pytest.mark.parametrize("dtype", [DType.Q4_0, DType.Q4_K, DType.Q8_0])
def test_a_card_holds_all_blocks_and_one_layer_in_16_bits(dtype: DType, tmp_path: Path) -> None:
    weight, small = written(tmp_path, blocks(dtype, (8, 512))), DType.F16
    whole = bound_bytes(weight, small, CUDA.blocks)
    assert runtime_bytes([weight] * 3, small, CUDA) == 3 * whole + 8 * 512 * small.itemsize


def test_openvino_holds_scales_and_zeros_in_32_bits(tmp_path: Path) -> None:
    weight, backend = written(tmp_path, blocks(DType.Q4_K, (8, 512))), OpenVinoBackend()
    operators = backend.operators(Device(backend.name, "cpu", ""))
    bytes_in_blocks = 8 * 512 // 2 + 2 * 8 * 512 // 32 * 4
    for element in (DType.F32, DType.BF16):
        assert runtime_bytes([weight], element, operators) == bytes_in_blocks
    vector = FileWeight(FileSlice(weight.slice.path, 0, DType.F32, (8,)))
    assert runtime_bytes([vector], DType.BF16, operators) == 8 * DType.BF16.itemsize


def test_the_processor_holds_integers_that_it_packs_and_no_scales(tmp_path: Path) -> None:
    weight = written(tmp_path, blocks(DType.Q4_0, (8, 512)))
    backend = CpuBackend()
    operators: OperatorSet = backend.operators(backend.probe()[0])
    assert runtime_bytes([weight], DType.F32, operators) == 8 * 512 // 2
    assert runtime_bytes([weight], DType.F32, operators, in_place=True) == 8 * 512 * 4
    wide = msgspec.structs.replace(operators, reads_in_place=False)
    assert runtime_bytes([weight], DType.F32, wide) > 8 * 512 * 4


def test_the_processor_reads_matrices_beside_blocks_where_they_are(tmp_path: Path) -> None:
    block = written(tmp_path, blocks(DType.Q4_0, (8, 512)))
    plain = FileWeight(FileSlice(block.slice.path, 0, DType.F16, (8, 256)))
    kernel = FileWeight(FileSlice(block.slice.path, 0, DType.F16, (8, 4, 3, 3)))
    backend = CpuBackend()
    operators = backend.operators(backend.probe()[0])
    assert runtime_bytes([plain], DType.F32, operators) == 8 * 256 * 4
    packed = 8 * 512 // 2 + 8 * 4 * 9 * 4
    assert runtime_bytes([block, plain, kernel], DType.F32, operators) == packed
    integers = PackedWeight(block, Packing(4, 32), Field.INTEGERS)
    assert in_place_names({"plain": plain, "kernel": kernel}, DType.F32, None) == set()
    beside = {"plain": plain, "kernel": kernel, "integers": integers}
    assert in_place_names(beside, DType.F32, None) == {"plain"}
    assert in_place_names(beside, DType.F32, integers.elements) == {"plain"}
    assert in_place_names(beside, DType.F32, integers.elements - 1) == {"plain", "integers"}
