"""Patches of layers that one side holds fused or transposed change the rows that they mean."""

from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.lora.file import read_lora
from engine.lora.layers import Rows, Target
from engine.lora.patches import patches_of
from engine.lora.placed import placed
from engine.weights.sources import as_source
from engine.weights.weight_set import WeightSet
from tests.checkpoints.arrays import write_arrays

OUT, INTO, RANK = 12, 5, 3
UP = np.random.default_rng(1).standard_normal((OUT, RANK)).astype(np.float32)
DOWN = np.random.default_rng(2).standard_normal((RANK, INTO)).astype(np.float32)
DORA = np.abs(np.random.default_rng(3).standard_normal((OUT, 1))).astype(np.float32)


def patched(folder: Path, weight: Array, target: Target, **more: Array) -> Array:
    """The weight with a LoRA of `UP` and `DOWN` at strength 0.5, placed on the target."""
    arrays = {"x.lora_up.weight": UP, "x.lora_down.weight": DOWN, **more}
    write_arrays(folder / "lora.safetensors", arrays)
    write_arrays(folder / "base.safetensors", {"w": weight})
    (module,) = read_lora(read_index(folder / "lora.safetensors")).modules
    stored = read_index(folder / "base.safetensors").tensors
    patch = placed(patches_of(module, 0.5)["weight"], target, weight.shape)
    return WeightSet("", stored).patched("", {"w": [patch]})["w"].read_as(DType.F32)


def random(*shape: int) -> Array:
    return np.random.default_rng(4).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("part", [(0, 4), (4, 8), (8, 12)])
def test_weight_gets_its_rows_of_a_fused_layer(part: Rows, tmp_path: Path) -> None:
    weight = random(4, INTO)
    found = patched(tmp_path, weight, Target("c", "w", weight.shape, part=part))
    wanted = weight + 0.5 * (UP @ DOWN)[part[0] : part[1]]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("start", [0, 12, 24])
def test_rows_of_a_fused_weight_get_their_layer(start: int, tmp_path: Path) -> None:
    weight = random(36, INTO)
    target = Target("c", "w", weight.shape, rows=(start, start + OUT))
    wanted = weight.copy()
    wanted[start : start + OUT] += 0.5 * (UP @ DOWN)
    np.testing.assert_allclose(patched(tmp_path, weight, target), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("start", [0, 24])
def test_rows_of_a_fused_weight_get_the_transform_of_their_layer(
    start: int, tmp_path: Path
) -> None:
    weight, rows, dora = random(36, INTO), (start, start + OUT), {"x.dora_scale": DORA}
    found = patched(tmp_path, weight, Target("c", "w", weight.shape, rows=rows), **dora)
    part = weight[start : start + OUT].copy()
    changed = patched(tmp_path, part, Target("c", "w", part.shape), **dora)
    np.testing.assert_allclose(found[start : start + OUT], changed, rtol=1e-6, atol=1e-6)
    assert not np.allclose(changed, part, atol=1e-3)
    others = np.r_[0:start, start + OUT : 36]
    np.testing.assert_array_equal(found[others], weight[others])


def test_rows_of_a_fused_layers_transform_are_refused(tmp_path: Path) -> None:
    """A decomposed layer's rows may depend on each other."""
    weight = random(4, INTO)
    target = Target("c", "w", weight.shape, part=(0, 4))
    with pytest.raises(EngineError, match="together with other layers"):
        patched(tmp_path, weight, target, **{"x.dora_scale": DORA})


def test_weight_stored_transposed_gets_the_transposed_change(tmp_path: Path) -> None:
    weight = random(INTO, OUT)
    target = Target("c", "w", (OUT, INTO), transposed=True)
    wanted = weight + 0.5 * (UP @ DOWN).T
    np.testing.assert_allclose(patched(tmp_path, weight, target), wanted, rtol=1e-6, atol=1e-6)


def test_weight_stored_transposed_gets_the_transposed_transform(tmp_path: Path) -> None:
    weight, dora = random(INTO, OUT), {"x.dora_scale": DORA}
    turned = patched(tmp_path, weight, Target("c", "w", (OUT, INTO), transposed=True), **dora)
    plain = patched(tmp_path, weight.T.copy(), Target("c", "w", (OUT, INTO)), **dora)
    np.testing.assert_allclose(turned, plain.T, rtol=1e-6, atol=1e-6)
    assert not np.allclose(turned, weight, atol=1e-3)


def test_part_of_a_patched_weight_is_that_part(tmp_path: Path) -> None:
    weight = random(INTO, OUT)
    target = Target("c", "w", (OUT, INTO), transposed=True)
    arrays = {"x.lora_up.weight": UP, "x.lora_down.weight": DOWN}
    write_arrays(tmp_path / "lora.safetensors", arrays)
    (module,) = read_lora(read_index(tmp_path / "lora.safetensors")).modules
    patch = placed(patches_of(module, 0.5)["weight"], target, weight.shape)
    write_arrays(tmp_path / "base.safetensors", {"w": weight})
    stored = read_index(tmp_path / "base.safetensors").tensors
    rows = WeightSet("", stored).patched("", {"w": [patch]})["w"].rows(1, 3)
    wanted = (as_source(stored["w"]).read() + 0.5 * (UP @ DOWN).T)[1:3]
    np.testing.assert_allclose(rows.read_as(DType.F32), wanted, rtol=1e-6, atol=1e-6)
