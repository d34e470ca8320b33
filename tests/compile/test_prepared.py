"""The forms of operators that networks are written in, by their weights and their precision."""

from pathlib import Path

import msgspec
import pytest

from backends.base import DType, OperatorSet, Precision
from backends.forms import BlockForm
from engine.compile.prepared import operators_for
from engine.weights.rounding import EXACT, Role, Rounding
from engine.weights.weight_set import WeightSet
from tests.checkpoints.gguf_files import blocks
from tests.weights.test_dequantization import written

OWN = OperatorSet(20, blocks=BlockForm(), joined_blocks=frozenset({Precision.INT8}))


def weights_of(folder: Path, dtype: DType, role: Role = Role.OTHER) -> WeightSet:
    return WeightSet("one", {"a.weight": written(folder, blocks(dtype, (4, 512)))}, role=role)


@pytest.mark.parametrize("role", Role)
def test_weights_are_rounded_as_is_asked_for_their_part_of_a_model(
    role: Role, tmp_path: Path
) -> None:
    weights, rounding = weights_of(tmp_path, DType.Q4_K, role), Rounding(text_encoder=8, denoiser=4)
    bits = {Role.TEXT_ENCODER: 8, Role.DENOISER: 4, Role.OTHER: 16}[role]
    found = operators_for(OWN, weights, rounding, Precision.INT8)
    assert found == msgspec.structs.replace(OWN, blocks=BlockForm(bits))
    assert operators_for(OWN, weights, EXACT, Precision.INT8) == OWN


@pytest.mark.parametrize("bits", [16, 8, 4])
def test_blocks_are_joined_in_the_precisions_that_round_what_they_are_multiplied_with(
    bits: int, tmp_path: Path
) -> None:
    weights, rounding = weights_of(tmp_path, DType.Q6_K, Role.DENOISER), Rounding(denoiser=bits)
    for precision in (Precision.INT8, Precision.F32):
        joined = precision is Precision.INT8
        found = operators_for(OWN, weights, rounding, precision)
        assert found == msgspec.structs.replace(OWN, blocks=BlockForm(bits, joined))


def test_a_runtime_without_blocks_gets_none(tmp_path: Path) -> None:
    weights, wide = (
        weights_of(tmp_path, DType.Q6_K, Role.DENOISER),
        msgspec.structs.replace(OWN, blocks=None),
    )
    assert operators_for(wide, weights, Rounding(8, 8), Precision.INT8) is wide
