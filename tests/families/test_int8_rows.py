"""Transformers and encoders in int8 with a scale for each row, with and without ConvRot."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from backends.base import DType
from backends.cpu import CpuBackend
from backends.forms import BlockForm
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families import Component, identify, supply
from engine.pipeline.inspection import inspect
from engine.weights.int8_rows import Int8Rows
from engine.weights.packing import bound_bytes
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.families.flow_models import MODELS, Written, write_parts
from tests.families.flux import files as flux
from tests.families.flux.files import drawn
from tests.families.gguf_parts import WideBackend, decibels
from tests.families.int8_files import Way, write_int8
from tests.families.test_gguf import picture, with_part
from tests.thinned import in_turn, thinned

# One family in each way, and the one whose rows are cut in parts.
READ_OFTEN = [*product(["zimage"], Way), ("flux1", Way.ROTATED)]
PICTURED = list(product(MODELS, [Way.ROWS, Way.ROTATED]))


@pytest.fixture(scope="module", params=MODELS)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    model = MODELS[request.param]
    return write_parts(tmp_path_factory.mktemp(model.family), model)


@pytest.mark.parametrize(("family", "way"), thinned(list(product(MODELS, Way)), READ_OFTEN))
def test_weights_are_the_integers_times_their_scales(family: str, way: Way, tmp_path: Path) -> None:
    """Bit for bit; to float32's rounding where they are rotated back."""
    prefix = "model.diffusion_model." if family in ("zimage", "chroma") else ""
    path = tmp_path / "int8.safetensors"
    meant = write_int8(path, drawn(MODELS[family].transformer), way, prefix)
    write_arrays(tmp_path / "whole.safetensors", meant)
    found = identify(path)
    assert found.family == family
    assert inspect(found).components[0].precisions == ("f32", "int8")
    expected = identify(tmp_path / "whole.safetensors").components[Component.DENOISER].weights
    weights = found.components[Component.DENOISER].weights
    assert weights.keys() == expected.keys()
    rows = [weight for weight in weights.values() if isinstance(weight, Int8Rows)]
    assert len(rows) > 5
    assert any(row.rotation for row in rows) == way.rotates
    for name, weight in weights.items():
        read, wanted = (as_source(stored).read_as(DType.F32) for stored in (weight, expected[name]))
        if isinstance(weight, Int8Rows) and weight.rotation:
            np.testing.assert_allclose(read, wanted, rtol=0, atol=2e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(read, wanted, name)


@pytest.mark.parametrize(
    ("written", "way"),
    thinned(
        PICTURED,
        [("zimage", Way.ROTATED)],
        seldom=set(PICTURED) - set(in_turn(list(MODELS), [Way.ROWS, Way.ROTATED])),
    ),
    indirect=["written"],
)
def test_a_picture_is_that_of_the_numbers(written: Written, way: Way, tmp_path: Path) -> None:
    """With numbers of 32 bits at least 60 dB; in blocks of 8 bits, too, or 40 if rotated back."""
    transformer = drawn(written.model.transformer)
    path = tmp_path / f"{written.model.name}-int8.safetensors"
    meant = write_int8(path, transformer, way)
    whole = tmp_path / f"{written.model.name}.safetensors"
    write_arrays(whole, meant)
    expected = picture(whole, written.parts)
    assert expected.std() > 1
    assert decibels(picture(path, written.parts, WideBackend), expected) > 60
    in_blocks = picture(path, written.parts, CpuBackend)
    assert decibels(in_blocks, expected) > (60 if way is Way.ROWS else 40)


def test_rows_stay_at_8_bits_without_loss(tmp_path: Path) -> None:
    """Integers as they are and a scale for each 32: 9 bits a number, where 16 bits take 16."""
    name = "single_blocks.0.linear2.weight"
    numbers = drawn(flux.original(flux.SMALL))
    write_int8(tmp_path / "int8.safetensors", numbers, Way.ROWS)
    weights = identify(tmp_path / "int8.safetensors").components[Component.DENOISER].weights
    rows = as_source(next(w for w in weights.values() if w.shape == numbers[name].shape))
    assert bound_bytes(rows, DType.F32, BlockForm()) * 8 == 9 * rows.elements
    assert bound_bytes(rows, DType.F32, BlockForm(bits=4)) * 8 == 5 * rows.elements


# A T5 and a Qwen3 encoder by `make oracle`.
@pytest.mark.parametrize(
    "written", thinned(MODELS, ["chroma"], seldom=["sd3", "flux2"]), indirect=True
)
def test_an_encoder_in_int8_supplies(written: Written, tmp_path: Path) -> None:
    model = written.model
    transformer, encoder = tmp_path / f"{model.name}.safetensors", tmp_path / "te.safetensors"
    write_arrays(transformer, drawn(model.transformer))
    meant = write_int8(encoder, drawn(model.encoder, 1), Way.ROTATED)
    write_arrays(tmp_path / "wide.safetensors", meant)
    made = [
        picture(transformer, with_part(written.parts, model.encoder_part, file), WideBackend)
        for file in (encoder, tmp_path / "wide.safetensors")
    ]
    assert decibels(*made) > 60
    given = with_part(written.parts, model.encoder_part, encoder)
    found = supply(identify(transformer), given)
    weights = found.components[Component(model.encoder_part)].weights.values()
    assert any(isinstance(weight, Int8Rows) for weight in weights)


LAYER = "double_blocks.0.img_attn.proj"


@pytest.mark.parametrize(
    ("note", "code", "says"),
    [
        (b"\xff{", ErrorCode.CHECKPOINT_CORRUPT, "cannot be read"),
        (b"[" * 5000, ErrorCode.CHECKPOINT_CORRUPT, "cannot be read"),
        (b'{"convrot": 7}', ErrorCode.CHECKPOINT_CORRUPT, "cannot be read"),
        (b'{"convrot": true, "convrot_groupsize": 0}', ErrorCode.CHECKPOINT_CORRUPT, "rotated"),
        (b'{"convrot": true, "convrot_groupsize": 48}', ErrorCode.CHECKPOINT_CORRUPT, "rotated"),
        (b'{"convrot": true, "convrot_groupsize": 256}', ErrorCode.CHECKPOINT_CORRUPT, "rotated"),
        (b'{"format": "convrot_w4a4"}', ErrorCode.CHECKPOINT_UNREADABLE, "int4"),
        (b'{"format": "newest"}', ErrorCode.CHECKPOINT_UNREADABLE, "newest"),
    ],
)
def test_other_notes_are_refused(note: bytes, code: ErrorCode, says: str, tmp_path: Path) -> None:
    """Rows of 64 numbers have no groups of 256."""
    numbers = drawn(flux.original(flux.SMALL))
    weight = f"{LAYER}.weight"
    beside = {
        f"{LAYER}.weight_scale": np.ones((64, 1), np.float32),
        f"{LAYER}.comfy_quant": np.frombuffer(note, np.uint8),
    }
    types = dict.fromkeys(numbers, DType.F32) | {weight: DType.I8}
    types |= {f"{LAYER}.weight_scale": DType.F32, f"{LAYER}.comfy_quant": DType.U8}
    path = tmp_path / "flux.safetensors"
    write_arrays(path, numbers | beside, types)
    with pytest.raises(EngineError, match=says) as caught:
        identify(path)
    assert caught.value.code is code


@pytest.mark.parametrize("shape", [(63, 1), (64, 2)])
def test_scales_of_other_rows_are_refused(shape: tuple[int, int], tmp_path: Path) -> None:
    numbers = drawn(flux.original(flux.SMALL))
    beside = {f"{LAYER}.weight_scale": np.ones(shape, np.float32)}
    types = dict.fromkeys(numbers | beside, DType.F32) | {f"{LAYER}.weight": DType.I8}
    path = tmp_path / "flux.safetensors"
    write_arrays(path, numbers | beside, types)
    with pytest.raises(EngineError, match="in parts"):
        identify(path)
