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
from engine.lora.placed import Members, placed
from engine.weights.sources import WeightSource, as_source
from engine.weights.weight_set import WeightSet
from tests.checkpoints.arrays import write_arrays

OUT, INTO, RANK = 12, 5, 3
UP = np.random.default_rng(1).standard_normal((OUT, RANK)).astype(np.float32)
DOWN = np.random.default_rng(2).standard_normal((RANK, INTO)).astype(np.float32)
DORA = np.abs(np.random.default_rng(3).standard_normal((OUT, 1))).astype(np.float32)


def patched(
    folder: Path,
    weight: Array,
    target: Target,
    dora: Array | None = None,
    members: Members = (),
) -> Array:
    """The weight with a LoRA of `UP` and `DOWN` at strength 0.5, placed on the target."""
    arrays = {"x.lora_up.weight": UP, "x.lora_down.weight": DOWN}
    if dora is not None:
        arrays["x.dora_scale"] = dora
    write_arrays(folder / "lora.safetensors", arrays)
    write_arrays(folder / "base.safetensors", {"w": weight})
    (module,) = read_lora(read_index(folder / "lora.safetensors")).modules
    stored = read_index(folder / "base.safetensors").tensors
    patch = placed(patches_of(module, 0.5)["weight"], target, weight.shape, members)
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
    weight, rows = random(36, INTO), (start, start + OUT)
    found = patched(tmp_path, weight, Target("c", "w", weight.shape, rows=rows), DORA)
    part = weight[start : start + OUT].copy()
    changed = patched(tmp_path, part, Target("c", "w", part.shape), DORA)
    np.testing.assert_allclose(found[start : start + OUT], changed, rtol=1e-6, atol=1e-6)
    assert not np.allclose(changed, part, atol=1e-3)
    others = np.r_[0:start, start + OUT : 36]
    np.testing.assert_array_equal(found[others], weight[others])


def thirds(folder: Path, layer: Array) -> list[tuple[Rows, WeightSource]]:
    """A layer's rows in three weights of a file."""
    names = {f"{start}": layer[start : start + 4] for start in (0, 4, 8)}
    write_arrays(folder / "thirds.safetensors", names)
    stored = read_index(folder / "thirds.safetensors").tensors
    return [((start, start + 4), as_source(stored[f"{start}"])) for start in (0, 4, 8)]


@pytest.mark.parametrize("magnitudes", [DORA, np.ones((1, INTO), np.float32)])
def test_a_weight_gets_its_rows_of_a_fused_layers_transform(
    magnitudes: Array, tmp_path: Path
) -> None:
    layer = random(OUT, INTO)
    members = thirds(tmp_path, layer)
    whole = patched(tmp_path, layer, Target("c", "w", layer.shape), magnitudes)
    for rows, _ in members:
        weight = layer[slice(*rows)].copy()
        target = Target("c", "w", weight.shape, part=rows)
        found = patched(tmp_path, weight, target, magnitudes, members)
        np.testing.assert_allclose(found, whole[slice(*rows)], rtol=1e-5, atol=1e-6)


def test_other_weights_of_a_fused_layer_are_described_for_the_digest(tmp_path: Path) -> None:
    members = thirds(tmp_path, random(OUT, INTO))
    arrays = {"x.lora_up.weight": UP, "x.lora_down.weight": DOWN, "x.dora_scale": DORA}
    write_arrays(tmp_path / "lora.safetensors", arrays)
    (module,) = read_lora(read_index(tmp_path / "lora.safetensors")).modules
    patch = patches_of(module, 0.5)["weight"]
    found = placed(patch, Target("c", "w", (4, INTO), part=(4, 8)), (4, INTO), members)
    read = {part.offset for part in found.parts() if part.path.name == "thirds.safetensors"}
    assert len(read) == 2
    places: list[int] = []
    found.describe(lambda part: places.append(part.offset) or [part.offset])
    assert read <= set(places)


@pytest.mark.parametrize("lacking", [0, 1])
def test_a_transform_of_a_fused_layer_with_a_gap_is_refused(lacking: int, tmp_path: Path) -> None:
    """Its rows may depend on each other; of SD 3's last block the queries are not read."""
    members = thirds(tmp_path, random(OUT, INTO))
    del members[lacking]
    target = Target("c", "w", (4, INTO), part=members[0][0])
    with pytest.raises(EngineError, match="together with other layers"):
        patched(tmp_path, random(4, INTO), target, DORA, members)


def test_weight_stored_transposed_gets_the_transposed_change(tmp_path: Path) -> None:
    weight = random(INTO, OUT)
    target = Target("c", "w", (OUT, INTO), transposed=True)
    wanted = weight + 0.5 * (UP @ DOWN).T
    np.testing.assert_allclose(patched(tmp_path, weight, target), wanted, rtol=1e-6, atol=1e-6)


def test_weight_stored_transposed_gets_the_transposed_transform(tmp_path: Path) -> None:
    weight = random(INTO, OUT)
    turned = patched(tmp_path, weight, Target("c", "w", (OUT, INTO), transposed=True), DORA)
    plain = patched(tmp_path, weight.T.copy(), Target("c", "w", (OUT, INTO)), DORA)
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
