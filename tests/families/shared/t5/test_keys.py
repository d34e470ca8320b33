"""T5's keys in files, and the sizes that are read off their shapes."""

from pathlib import Path

import pytest

from backends.base import DType, FileSlice
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.checkpoint import Component
from engine.families.shared.keys.layout import KeyLayout
from engine.families.shared.t5.keys import T5_KEYS
from engine.families.shared.t5.sizes import t5_config
from engine.graphs.t5 import T5Config, t5_encoder
from engine.weights.sources import ScaledSlice
from tests.graphs.networks import wanted

FILE = Path("t5xxl.safetensors")
TEXT = Component.TEXT_ENCODER_2
LAYOUT = KeyLayout(
    labels={TEXT: sentence("second text encoder (T5-XXL)")}, networks={TEXT: T5_KEYS}, prefixes={}
)
SIZES = T5Config(vocabulary=300, width=48, heads=4, head_width=8, mlp_width=80, layers=3)
QUERY = "encoder.block.0.layer.0.SelfAttention.q.weight"


def file_of(config: T5Config, dtype: DType = DType.F16) -> dict[str, FileSlice]:
    named = wanted(lambda g: t5_encoder(g, config))
    return {name: FileSlice(FILE, 0, dtype, weight.shape) for name, weight in named.items()}


def scalar() -> FileSlice:
    return FileSlice(FILE, 0, DType.F32, ())


def test_sizes_are_read_off_the_shapes() -> None:
    named = LAYOUT.canonical(TEXT, file_of(SIZES), FILE)
    assert t5_config(named.weights, FILE) == SIZES
    assert named.weights.keys() == file_of(SIZES).keys()


def test_the_encoders_own_name_of_the_table_serves_where_the_shared_one_is_missing() -> None:
    tensors = file_of(SIZES)
    table = tensors["shared.weight"]
    both = LAYOUT.canonical(TEXT, {**tensors, "encoder.embed_tokens.weight": table}, FILE)
    assert both.weights.keys() == tensors.keys()
    del tensors["shared.weight"]
    own = LAYOUT.canonical(TEXT, {**tensors, "encoder.embed_tokens.weight": table}, FILE)
    assert own.weights["shared.weight"] == table


def test_a_decoder_and_the_tokenizers_file_are_left_out() -> None:
    tensors = file_of(SIZES)
    more = {"decoder.block.0.layer.0.layer_norm.weight", "lm_head.weight", "spiece_model"}
    named = LAYOUT.canonical(TEXT, tensors | dict.fromkeys(more, scalar()), FILE)
    assert named.weights.keys() == tensors.keys()
    assert named.ignored == len(more)


def test_scaled_fp8_is_read_with_its_scales() -> None:
    tensors = file_of(SIZES, DType.F8_E4M3)
    scale = QUERY.removesuffix(".weight") + ".scale_weight"
    named = LAYOUT.canonical(TEXT, {**tensors, scale: scalar(), "scaled_fp8": scalar()}, FILE)
    assert isinstance(named.weights[QUERY], ScaledSlice)
    assert t5_config(named.weights, FILE) == SIZES


@pytest.mark.parametrize("name", ["encoder.block.0.layer.1.DenseReluDense.wi.weight", "other"])
def test_an_encoder_with_other_layers_is_refused(name: str) -> None:
    with pytest.raises(EngineError) as raised:
        LAYOUT.canonical(TEXT, file_of(SIZES) | {name: scalar()}, FILE)
    assert raised.value.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert name in str(raised.value)
