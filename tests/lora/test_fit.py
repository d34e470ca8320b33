"""A file's modules fit a checkpoint's layers only in their sizes, fused layers included."""

from pathlib import Path

import pytest

from engine.errors import EngineError
from engine.lora.layers import LayerTable, Target, fit
from engine.lora.patches import patches_of
from tests.lora.files import lora_file, low_rank

INTO, EACH, RANK = 5, 4, 2
# One layer of a file for three weights, and three layers of a file for one weight.
FUSED = tuple(
    Target("te", name, (EACH, INTO), part=(EACH * place, EACH * (place + 1)))
    for place, name in enumerate("qkv")
)
THIRD = (Target("te", "in_proj", (3 * EACH, INTO), rows=(EACH, 2 * EACH)),)
PART = (Target("te", "k", (EACH, INTO)),)
TABLE = LayerTable({"": ("te",)}, {"te": {"fused": FUSED, "third": THIRD, "part": PART}})


@pytest.mark.parametrize(
    ("layer", "out", "into", "fits"),
    [
        ("fused", 3 * EACH, INTO, 3),
        ("fused", 3 * EACH + 1, INTO, 0),
        ("fused", EACH, INTO, 0),
        ("fused", 3 * EACH, INTO + 1, 0),
        ("third", EACH, INTO, 1),
        ("third", 3 * EACH, INTO, 0),
    ],
)
def test_layers_of_another_size_than_a_fused_one_are_unused(
    layer: str, out: int, into: int, fits: int, tmp_path: Path
) -> None:
    file = lora_file(tmp_path / "x.safetensors", low_rank(layer, out, into, RANK))
    fitted = fit(file, TABLE)
    assert len(fitted.modules) == fits
    assert set(fitted.unused) == (set() if fits else set(file.tensors))


@pytest.mark.parametrize("layer", ["fused", "third"])
def test_biases_of_another_size_than_a_fused_layer_are_unused(layer: str, tmp_path: Path) -> None:
    file = lora_file(tmp_path / "x.safetensors", {f"{layer}.diff_b": (3 * EACH + 1,)})
    assert not fit(file, TABLE).modules


@pytest.mark.parametrize(("layer", "out"), [("fused", 3 * EACH), ("third", EACH)])
def test_changes_of_a_fused_layer_are_checked_by_its_own_shape(
    layer: str, out: int, tmp_path: Path
) -> None:
    """Blocks of a rotation show the layer's size only when the change is made."""
    file = lora_file(tmp_path / "x.safetensors", {f"{layer}.oft_blocks": (2, out, out)})
    fitted = fit(file, TABLE).modules[0]
    assert fitted.shape == (out, INTO)
    with pytest.raises(EngineError, match=rf"do not fit the weight \[{out}, {INTO}\]"):
        patches_of(fitted.module, 1.0, shape=fitted.shape)


@pytest.mark.parametrize("order", [("part", "fused"), ("fused", "part")])
def test_a_fused_layer_counts_before_its_parts(order: tuple[str, ...], tmp_path: Path) -> None:
    """SimpleTuner writes parts that change nothing beside it."""
    outputs = {"fused": 3 * EACH, "part": EACH}
    keys = {
        key: shape
        for layer in order
        for key, shape in low_rank(layer, outputs[layer], INTO, RANK).items()
    }
    fitted = fit(lora_file(tmp_path / "x.safetensors", keys), TABLE)
    assert [module.target.layer for module in fitted.modules] == ["q", "k", "v"]
    assert set(fitted.unused) == set(low_rank("part", 0, 0))
