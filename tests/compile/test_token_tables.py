"""Tables of tokens count for no device to which weights are streamed, nor where all are mapped."""

from pathlib import Path

import pytest

from backends.base import Device, DType, FileSlice, Precision
from backends.cpu import CpuBackend
from backends.torch_device import TorchBackend
from engine.compile.compiler import Compiler
from engine.compile.token_tables import without_tables
from engine.memory.component_bytes import ComponentBytes
from engine.memory.placement import WeightPlacement
from engine.weights.rounding import EXACT, Role, Rounding
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies
from tests.families import listings
from tests.families.listings import Listing
from tests.families.zimage.files import qwen3

CARD = Device("torch_device", "cuda:0", "a card")
QWEN3_4B = qwen3(2560, heads=32, key_heads=8, head=128, layers=36, mlp=9728)


def weights_of(names: Listing, dtype: DType = DType.BF16) -> WeightSet:
    """Weights whose files nobody reads."""
    given = {
        name.removeprefix("model."): FileSlice(Path("absent"), 0, dtype, shape)
        for name, shape in names.items()
    }
    return WeightSet("content", given, role=Role.TEXT_ENCODER)


def on_card(folder: Path, rounding: Rounding = EXACT) -> Compiler:
    return Compiler(TorchBackend(), CARD, WorkingCopies(folder), rounding=rounding)


@pytest.mark.parametrize("bits", [16, 8])
def test_a_card_holds_two_layers_of_qwen3_and_no_table(tmp_path: Path, bits: int) -> None:
    """The table would be twice 0.78 GB."""
    compiler, weights = on_card(tmp_path, Rounding(text_encoder=bits)), weights_of(QWEN3_4B)
    layer, in_blocks = 9728 * 2560 * 2, 9728 * 2560 * (1 + 2 / 32)
    # Layers in blocks are as wide as their numbers while they run.
    expected = 2 * layer if bits == 16 else 2 * in_blocks + layer
    assert compiler.in_place_bytes(weights, Precision.BF16) == expected


def test_with_room_for_all_layers_the_table_is_not_there_either(tmp_path: Path) -> None:
    compiler, weights = on_card(tmp_path), weights_of(QWEN3_4B)
    table = 151936 * 2560 * 2
    assert compiler.looked_up_bytes(weights, Precision.BF16) == table
    packed = compiler.packed_bytes(weights, Precision.BF16)
    part = ComponentBytes(
        packed,
        0,
        in_place=compiler.in_place_bytes(weights, Precision.BF16),
        looked_up=compiler.looked_up_bytes(weights, Precision.BF16),
    )
    assert part.packing(10**12).bytes(WeightPlacement.STREAMED) == packed - table
    assert part.packing(10**12).bytes(WeightPlacement.WORKING_COPY) == packed


def on_processor(folder: Path) -> Compiler:
    backend = CpuBackend()
    return Compiler(backend, backend.probe()[0], WorkingCopies(folder))


def test_where_nothing_is_streamed_nothing_is_looked_up(tmp_path: Path) -> None:
    assert on_processor(tmp_path).looked_up_bytes(weights_of(QWEN3_4B), Precision.F32) == 0


@pytest.mark.parametrize("dtype", [DType.BF16, DType.Q4_0])
def test_the_processor_holds_no_table(tmp_path: Path, dtype: DType) -> None:
    """ONNX Runtime looks its rows up where it is mapped: 1.56 GB in float32."""
    weights = weights_of(QWEN3_4B, dtype)
    rest = sum(weight.elements for weight in without_tables(weights))
    packed = on_processor(tmp_path).packed_bytes(weights, Precision.F32)
    norms = sum(weight.elements for weight in weights.values() if len(weight.shape) == 1)
    expected = rest * 4 if dtype is DType.BF16 else (rest - norms) // 2
    assert packed == expected
    in_place = on_processor(tmp_path).in_place_bytes(weights, Precision.F32)
    # One layer at a time is as wide as its numbers while it runs.
    assert in_place == (0 if dtype is DType.BF16 else 9728 * 2560 * 4)


@pytest.mark.parametrize("names", [QWEN3_4B, listings.t5_encoder(64), listings.clip_text()])
def test_each_text_encoder_has_one_table(names: Listing) -> None:
    weights = weights_of(names)
    (table,) = set(weights.values()) - set(without_tables(weights))
    assert table.shape == max(names.values(), key=lambda shape: shape[0])
