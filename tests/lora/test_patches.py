"""Every type of change: stored types, parts of weights, biases, and layers that do not fit."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType
from engine.api.lora_rules import DoraRule, LoraRules
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.lora.modules import LoraModule
from engine.lora.patches import is_known, is_measured_otherwise, patches_of
from engine.weights.patched import Patch, PatchedWeight
from tests.checkpoints.arrays import write_arrays
from tests.lora.cases import CASES, KERNEL, LINEAR, Case, numbers
from tests.weights.files import write_sources

LAYER = "lora_te_text_model_encoder_layers_0_mlp_fc1"
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def patches(
    folder: Path,
    tensors: Mapping[str, Array],
    shape: tuple[int, ...] | None,
    strength: float = 1.0,
    dtype: DType = DType.F32,
    rank: int | None = None,
) -> dict[str, Patch]:
    module = LoraModule(LAYER, write_arrays(folder / "lora.safetensors", tensors, dtype))
    return patches_of(module, strength, shape=shape, rank=rank)


def patched(folder: Path, case: Case, dtype: DType = DType.F32) -> PatchedWeight:
    weight = patches(folder, case.tensors, case.shape, 0.7, dtype)["weight"]
    base = write_sources(folder / "base.safetensors", {"w": case.base})["w"]
    return PatchedWeight(base, (weight,))


@cases
@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16, DType.F8_E4M3, DType.F8_E5M2])
def test_numbers_of_any_type_are_used_as_they_are_stored(
    tmp_path: Path, case: Case, dtype: DType
) -> None:
    rounded = {part: array.astype(dtype.numpy) for part, array in case.tensors.items()}
    exact = {part: array.astype(np.float32) for part, array in rounded.items()}
    found = patched(tmp_path, case, dtype).read()
    wanted = patched(tmp_path, Case(case.name, case.shape, exact, ())).read()
    np.testing.assert_array_equal(found, wanted)


def test_alpha_of_whole_kronecker_factors_is_not_read(tmp_path: Path) -> None:
    """AI-toolkit's is 9999999999 unless a rank is asked for, which float16 stores as infinity."""
    case = next(case for case in CASES if case.name == "lokr whole")
    tensors = {part: tensor for part, tensor in case.tensors.items() if part != "alpha"}
    plain = patched(tmp_path, Case("", case.shape, tensors, ())).read()
    tensors["alpha"] = np.asarray(np.inf, np.float32)
    np.testing.assert_array_equal(
        patched(tmp_path, Case("", case.shape, tensors, ())).read(), plain
    )


@cases
def test_a_part_of_a_weight_is_that_part_of_the_whole(tmp_path: Path, case: Case) -> None:
    whole = patched(tmp_path, case)
    part = whole.rows(2, 5)
    np.testing.assert_allclose(part.read(), whole.read()[2:5], rtol=1e-5, atol=1e-6)
    flat = whole.reshaped((whole.elements,)).rows(7, 8)
    np.testing.assert_allclose(flat.read(), whole.read().reshape(-1)[7:8], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(whole.base.read(), case.base)


@cases
@pytest.mark.parametrize("element", [DType.F16, DType.BF16])
def test_a_weight_is_rounded_once(tmp_path: Path, case: Case, element: DType) -> None:
    whole = patched(tmp_path, case)
    rounded = whole.read().astype(element.numpy)
    np.testing.assert_array_equal(whole.read_as(element), rounded)


@cases
def test_all_numbers_of_a_change_are_described_for_the_digest(tmp_path: Path, case: Case) -> None:
    """A tensor that is read later is among the parts, or its number is in the description."""
    whole = patched(tmp_path, case)
    offsets = {part.offset for part in whole.parts() if part.path.name == "lora.safetensors"}
    module = write_arrays(tmp_path / "lora.safetensors", case.tensors)
    read = {part for part, tensor in module.items() if tensor.offset in offsets}
    biases = {"b_norm"}
    assert read == {part for part, tensor in case.tensors.items() if tensor.size > 1} - biases


def test_strengths_and_rules_differ_in_the_description(tmp_path: Path) -> None:
    seen: set[str] = set()
    chosen = [case for case in CASES if case.name in ("dora outputs", "oft linear", "glora old")]
    variants = [(0.5, LoraRules()), (0.6, LoraRules())]
    variants.append((0.5, LoraRules(dora=DoraRule.UNCHANGED, glora_alpha=True)))
    for case in chosen:
        module = LoraModule(LAYER, write_arrays(tmp_path / "lora.safetensors", case.tensors))
        for strength, rules in variants:
            patch = patches_of(module, strength, rules, shape=case.shape)["weight"]
            seen.add(str(patch.describe(lambda part: [part.offset, list(part.shape)])))
    # The third rules change nothing of rotations.
    assert len(seen) == 8


@pytest.mark.parametrize("name", ["lora linear", "lora 3x3", "lora tucker"])
def test_a_limited_rank_uses_the_first_ranks_at_the_scale_of_all(tmp_path: Path, name: str) -> None:
    """A1111's `dyn=2`."""
    case = next(case for case in CASES if case.name == name)
    tensors = {part: array.copy() for part, array in case.tensors.items()}
    limited = patches(tmp_path, tensors, case.shape, rank=2)["weight"]
    base = write_sources(tmp_path / "base.safetensors", {"w": case.base})["w"]
    found = PatchedWeight(base, (limited,)).read()
    tensors["lora_up.weight"][:, 2:] = 0
    wanted = PatchedWeight(base, (patches(tmp_path, tensors, case.shape)["weight"],)).read()
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    assert not np.array_equal(found, case.base)


def test_a_trained_scalar_multiplies_the_change(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "lora linear")
    plain = patched(tmp_path, case).read() - case.base
    scaled = dict(case.tensors) | {"scalar": np.asarray(-2.0, np.float32)}
    found = patched(tmp_path, Case("", case.shape, scaled, ())).read() - case.base
    np.testing.assert_allclose(found, -2 * plain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("strength", [1.0, 0.25, -3.0])
def test_a_weight_is_replaced_whatever_the_strength(tmp_path: Path, strength: float) -> None:
    """ComfyUI and InvokeAI do the same."""
    other = numbers("other", *LINEAR)
    patch = patches(tmp_path, {"set_weight": other}, LINEAR, strength)["weight"]
    base = write_sources(tmp_path / "base.safetensors", {"w": numbers("base", *LINEAR)})["w"]
    np.testing.assert_array_equal(PatchedWeight(base, (patch,)).read(), other)


BIASES = {
    "diff_b": ({"diff": numbers("diff", *LINEAR)}, 1.0),
    "b_norm": ({"w_norm": numbers("w", 8)}, 1.0),
    "lora_up.bias": (
        {
            "lora_up.weight": numbers("up", 8, 4),
            "lora_down.weight": numbers("down", 4, 6),
            "alpha": np.asarray(2.0, np.float32),
        },
        0.5,
    ),
}


@pytest.mark.parametrize("part", BIASES)
def test_a_bias_is_changed_with_its_weight(tmp_path: Path, part: str) -> None:
    tensors, scale = BIASES[part]
    found = patches(tmp_path, dict(tensors) | {part: numbers("bias", 8)}, None, 0.5)
    assert found.keys() == {"weight", "bias"}
    base = write_sources(tmp_path / "base.safetensors", {"b": numbers("base", 8)})["b"]
    changed = PatchedWeight(base, (found["bias"],)).read()
    expected = numbers("base", 8) + 0.5 * scale * numbers("bias", 8)
    np.testing.assert_allclose(changed, expected, rtol=1e-6, atol=1e-6)
    assert patches(tmp_path, tensors, None).keys() == {"weight"}


def test_a_layer_may_have_a_change_of_its_bias_alone(tmp_path: Path) -> None:
    assert patches(tmp_path, {"diff_b": numbers("bias", 8)}, LINEAR).keys() == {"bias"}


ONES = dict[str, tuple[int, ...]]
MISFITS: list[tuple[str, tuple[int, ...], ONES, str]] = [
    ("full", LINEAR, {"diff": (8, 7)}, "diff [8, 7]"),
    ("norm", (9,), {"w_norm": (8,)}, "w_norm [8]"),
    ("mid", KERNEL, {"lora_up.weight": (8, 3), "lora_down.weight": (3, 6),
                     "lora_mid.weight": (3, 2, 3, 3)}, "lora_mid.weight [3, 2, 3, 3]"),
    ("loha ranks", LINEAR, {"hada_w1_a": (8, 3), "hada_w1_b": (2, 6), "hada_w2_a": (8, 3),
                            "hada_w2_b": (3, 6)}, "hada_w1_a [8, 3] and hada_w1_b [2, 6]"),
    ("loha factors", LINEAR, {"hada_w1_a": (8, 3), "hada_w1_b": (3, 6), "hada_w2_a": (8, 3),
                              "hada_w2_b": (3, 5)}, "hada_w2_b [3, 5]"),
    ("lokr weight", LINEAR, {"lokr_w1": (2, 2), "lokr_w2": (4, 2)}, "the weight [8, 6]"),
    ("lokr ranks", LINEAR, {"lokr_w1": (2, 3), "lokr_w2_a": (4, 2), "lokr_w2_b": (3, 2)},
     "lokr_w2_a [4, 2] and lokr_w2_b [3, 2]"),
    ("ia3", LINEAR, {"weight": (6,), "on_input": ()}, "the weight [8, 6]"),
    ("oft not square", LINEAR, {"oft_blocks": (2, 4, 3)}, "oft_blocks [2, 4, 3]"),
    ("oft outputs", LINEAR, {"oft_blocks": (3, 4, 4)}, "the weight [8, 6]"),
    ("oft rescale", LINEAR, {"oft_blocks": (2, 4, 4), "rescale": (6, 1)}, "rescale [6, 1]"),
    ("oft of inputs", LINEAR, {"oft_R.weight": (3, 3)}, "oft_R.weight [3, 3]"),
    ("oft packed", LINEAR, {"oft_R.weight": (2, 4)}, "oft_R.weight [2, 4]"),
    ("boft odd", LINEAR, {"oft_blocks": (1, 4, 1, 1)}, "oft_blocks [1, 4, 1, 1]"),
    ("boft unpaired", (12, 6), {"oft_blocks": (2, 3, 4, 4)}, "oft_blocks [2, 3, 4, 4]"),
    ("glora", LINEAR, {"a1.weight": (6, 2), "a2.weight": (3, 6), "b1.weight": (8, 2),
                       "b2.weight": (2, 6)}, "a2.weight [3, 6]"),
    ("glora inputs", LINEAR, {"a1.weight": (5, 2), "a2.weight": (2, 5), "b1.weight": (8, 2),
                              "b2.weight": (2, 6)}, "the weight [8, 6]"),
    ("dora", LINEAR, {"diff": LINEAR, "dora_scale": (7, 1)}, "dora_scale [7, 1]"),
    ("butterflies", LINEAR, {"boft_R": (1, 2, 4, 4), "boft_s": (8, 1)}, "boft_R [1, 2, 4, 4]"),
    ("butterflies' scales", LINEAR, {"boft_R": (1, 2, 3, 3), "boft_s": (6, 1)}, "boft_s [6, 1]"),
    ("uneven butterflies", LINEAR, {"boft_R": (2, 3, 2, 2), "boft_s": (8, 1)}, "[2, 3, 2, 2]"),
    ("tokens", LINEAR, {"lora_embedding_A": (3, 8), "lora_embedding_B": (6, 2)}, "[6, 2]"),
    ("tokens of another table", LINEAR,
     {"lora_embedding_A": (3, 9), "lora_embedding_B": (6, 3)}, "[3, 9]"),
    ("sparse", LINEAR, {"lora_up.weight": (8, 1), "lora_down.weight": (1, 6),
     "bias_indices": (2, 3), "bias_values": (4,), "bias_size": (2,)}, "bias_values [4]"),
    ("set", LINEAR, {"set_weight": (8, 7)}, "set_weight [8, 7]"),
    ("empty", LINEAR, {"lora_up.weight": (8, 0), "lora_down.weight": (0, 6)}, "[8, 0]"),
    ("alpha", LINEAR, {"lora_up.weight": (8, 1), "lora_down.weight": (1, 6), "alpha": (2,)},
     "alpha [2]"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "tensors", "named"),
    [misfit[1:] for misfit in MISFITS],
    ids=[misfit[0] for misfit in MISFITS],
)
def test_tensors_that_do_not_fit_are_named_with_their_shapes(
    tmp_path: Path, shape: tuple[int, ...], tensors: ONES, named: str
) -> None:
    arrays = {part: np.zeros(sides, np.float32) for part, sides in tensors.items()}
    with pytest.raises(EngineError) as caught:
        patches(tmp_path, arrays, shape)
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    for words in (named, LAYER, "lora.safetensors"):
        assert words in caught.value.message


@pytest.mark.parametrize(
    ("part", "missing"),
    [("hada_w1_a", "hada_w1_b"), ("lokr_w1", "lokr_w2_a"), ("a1.weight", "a2.weight"),
     ("on_input", "weight")],
)  # fmt: skip
def test_a_missing_tensor_is_named(tmp_path: Path, part: str, missing: str) -> None:
    with pytest.raises(EngineError, match=missing) as caught:
        patches(tmp_path, {part: np.ones((1, 1), np.float32)}, None)
    assert caught.value.code is ErrorCode.CHECKPOINT_INCOMPLETE


@pytest.mark.parametrize("parts", [("lora_embedding_B",), ("alpha",), ("boft_s",)])
def test_an_unknown_type_of_change_is_named(tmp_path: Path, parts: tuple[str, ...]) -> None:
    arrays = {part: np.ones((2, 3), np.float32) for part in parts}
    module = LoraModule(LAYER, write_arrays(tmp_path / "lora.safetensors", arrays))
    assert not is_known(module)
    with pytest.raises(EngineError, match=parts[-1]) as caught:
        patches_of(module, 1.0)
    assert caught.value.code is ErrorCode.NOT_AVAILABLE


def test_magnitudes_without_a_change_are_no_known_type(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="dora_scale") as caught:
        patches(tmp_path, {"dora_scale": np.ones((8, 1), np.float32)}, LINEAR)
    assert caught.value.code is ErrorCode.NOT_AVAILABLE


def test_a_sparse_rest_is_added_at_its_places(tmp_path: Path) -> None:
    """LyCORIS stores rows and columns in 16 bits."""
    case = next(case for case in CASES if case.name == "lora linear")
    tensors: dict[str, Array] = {
        **case.tensors,
        "bias_indices": np.array([[7, 0, 0], [5, 3, 3]], np.float32),
        "bias_values": np.array([4, 1, 2], np.float32),
        "bias_size": np.array(LINEAR, np.float32),
    }
    dtypes: dict[str, DType] = dict.fromkeys(tensors, DType.F32)
    dtypes |= {"bias_indices": DType.I16, "bias_size": DType.I16, "bias_values": DType.F16}
    plain = patched(tmp_path, case).read()
    module = LoraModule(LAYER, write_arrays(tmp_path / "lora.safetensors", tensors, dtypes))
    base = write_sources(tmp_path / "base.safetensors", {"w": case.base})["w"]
    found = PatchedWeight(base, (patches_of(module, 2.0, shape=LINEAR)["weight"],))
    wanted = case.base + 2 * (plain - case.base) / np.float32(0.7)
    # Alpha is half the rank.
    wanted[7, 5] += 4
    wanted[0, 3] += 3
    np.testing.assert_allclose(found.read(), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.rows(7, 8).read(), wanted[7:], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("place", [-1, 8])
def test_a_sparse_rest_outside_of_the_weight_is_refused(tmp_path: Path, place: int) -> None:
    arrays: dict[str, Array] = {
        "lora_up.weight": np.ones((8, 1)),
        "lora_down.weight": np.ones((1, 6)),
        "bias_indices": np.array([[place], [0]]),
        "bias_values": np.ones(1),
        "bias_size": np.array(LINEAR),
    }
    base = write_sources(tmp_path / "base.safetensors", {"w": numbers("w", *LINEAR)})["w"]
    change = patches(tmp_path, arrays, LINEAR)["weight"]
    with pytest.raises(EngineError) as caught:
        PatchedWeight(base, (change,)).read()
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT
    assert "bias_indices" in caught.value.message


@cases
def test_every_case_is_of_a_known_type(tmp_path: Path, case: Case) -> None:
    assert is_known(LoraModule(LAYER, write_arrays(tmp_path / "lora.safetensors", case.tensors)))


@cases
def test_nan_is_named_with_its_tensor_when_it_is_read(tmp_path: Path, case: Case) -> None:
    for part, array in case.tensors.items():
        if array.size == 1 or part == "b_norm":
            continue
        damaged = array.copy()
        damaged.reshape(-1)[-1] = np.nan
        with pytest.raises(EngineError) as caught:
            patched(tmp_path, Case("", case.shape, dict(case.tensors) | {part: damaged}, ())).read()
        assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT
        assert f"{part} {list(array.shape)} of {LAYER}" in caught.value.message


@pytest.mark.parametrize(
    "name", ["dora outputs", "dora 3x3 outputs", "dora inputs", "dora of peft"]
)
@pytest.mark.parametrize("rule", [DoraRule.INPUTS, DoraRule.TRAINED])
def test_magnitudes_of_outputs_are_told_where_a_tool_measures_inputs(
    tmp_path: Path, name: str, rule: DoraRule
) -> None:
    case = next(case for case in CASES if case.name == name)
    module = LoraModule(LAYER, write_arrays(tmp_path / "lora.safetensors", case.tensors))
    expected = "outputs" in name and rule is DoraRule.INPUTS
    assert is_measured_otherwise(module, LoraRules(dora=rule)) is expected


def test_a_row_of_zeros_stays_one_when_it_is_decomposed(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "dora outputs")
    base, up = case.base, case.tensors["lora_up.weight"].copy()
    base[3], up[3] = 0, 0
    tensors = dict(case.tensors) | {"lora_up.weight": up}
    module = LoraModule(LAYER, write_arrays(tmp_path / "lora.safetensors", tensors))
    rules = LoraRules(dora=DoraRule.INSIDE)
    weight = write_sources(tmp_path / "base.safetensors", {"w": base})["w"]
    found = PatchedWeight(weight, (patches_of(module, 1.0, rules)["weight"],)).read()
    np.testing.assert_array_equal(found[3], 0)
    assert np.isfinite(found).all()
