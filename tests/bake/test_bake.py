"""Baked single files: the base's layout, and the weights that a job with the LoRAs computes."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Array, DType
from engine.api.lora import LoraChoice, LoraMode
from engine.api.values import ConventionName
from engine.bake.changes import changes_of
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families import Component, identify
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.patches import ComponentPatches
from engine.lora.folder import LoraLookup
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.loras import JobLoras
from engine.pipeline.resolve import resolve
from engine.text.lora_strengths import RunLength
from engine.weights.int8_rows import Int8Rows
from engine.weights.patched import FullDifference
from engine.weights.sources import as_source
from engine.weights.weight_set import WeightSet
from tests.bake.bases import BASES, baked, choice, random_arrays, stored, write_base
from tests.checkpoints.arrays import write_arrays
from tests.families.int8_files import Way, write_int8
from tests.guard.torch_zip import channels_last, write_torch_zip
from tests.lora.cases import numbers
from tests.pipeline.jobs import a_request
from tests.pipeline.lora_files import FileLora
from tests.thinned import thinned
from tests.weights.files import write_sources

# The largest number of each type.
RANGE = {DType.F8_E4M3: 448, DType.F8_E5M2: 57344}


def of_a_job(
    base: Path, loras: tuple[LoraChoice, ...], convention: ConventionName
) -> dict[Component, WeightSet]:
    """The weights that a job with merged LoRAs binds."""
    checkpoint = identify(base)
    asked = a_request(base, loras=loras, lora_mode=LoraMode.MERGE, convention=convention)
    read_loras = JobLoras(checkpoint, LoraLookup(), read_index)
    patches = (
        read_loras(resolve(asked, JobCheckpoints(checkpoint)), RunLength(3, 3)).of_pass(0).patches
    )
    found: dict[Component, WeightSet] = {}
    for component, source in checkpoint.components.items():
        weights = WeightSet(checkpoint.digest, source.weights)
        own = patches.get(component)
        found[component] = weights.patched(own.content, own.merged) if own else weights
    return found


def assert_as_a_job(
    base: Path,
    target: Path,
    loras: tuple[LoraChoice, ...],
    convention: ConventionName = ConventionName.A1111,
) -> None:
    """Every weight has the bytes that a backend of the file's own type gets from a job."""
    wanted, found = of_a_job(base, loras, convention), identify(target).components
    assert set(found) == set(wanted)
    for component, weights in wanted.items():
        for name, weight in weights.items():
            own = as_source(found[component].weights[name])
            assert own.dtype is weight.dtype
            expected = weight.read_as(weight.dtype)
            assert own.read_as(own.dtype).tobytes() == expected.tobytes(), name


@pytest.mark.parametrize(
    ("family", "dtype"),
    [*((family, DType.F16) for family in BASES), ("sdxl", DType.BF16), ("sdxl", DType.F32)],
)
def test_a_baked_file_keeps_its_layout_and_has_the_weights_of_a_job(
    tmp_path: Path, family: str, dtype: DType
) -> None:
    base, target = tmp_path / "base.safetensors", tmp_path / "new.safetensors"
    write_base(base, family, dtype)
    lora = FileLora(tmp_path / "style.safetensors", base)
    loras = (choice(lora.path, 0.8, -0.5),)
    result = baked(base, loras, target)
    assert result.changed_weights == len(lora.changes)
    assert not result.warnings
    before, after = stored(base), stored(target)
    assert list(after) == list(before)
    old, new = read_index(base).tensors, read_index(target).tensors
    assert [(tensor.dtype, tensor.shape) for tensor in new.values()] == [
        (tensor.dtype, tensor.shape) for tensor in old.values()
    ]
    starts = (
        min(tensor.offset for tensor in old.values()),
        min(tensor.offset for tensor in new.values()),
    )
    assert [tensor.offset - starts[1] for tensor in new.values()] == [
        tensor.offset - starts[0] for tensor in old.values()
    ]
    assert_as_a_job(base, target, loras)
    changed = {key for key in before if before[key] != after[key]}
    assert not any(key.startswith(("model_ema", "first_stage_model", "betas")) for key in changed)


@pytest.mark.parametrize("family", BASES)
def test_the_numbers_of_a_baked_file_are_the_bases_and_the_loras(
    tmp_path: Path, family: str
) -> None:
    base, target = tmp_path / "base.safetensors", tmp_path / "new.safetensors"
    write_base(base, family, DType.F32)
    lora = FileLora(tmp_path / "style.safetensors", base)
    baked(base, [choice(lora.path, 0.8, 0.5)], target)
    before, after = identify(base), identify(target)
    for (component, name), change in lora.changes.items():
        strength = 0.8 if component is Component.DENOISER else 0.5
        expected = read(before, component, name) + strength * lora.scale * change
        found = read(after, component, name)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def read(checkpoint: IdentifiedCheckpoint, component: Component, name: str) -> Array:
    """A weight's numbers in float32."""
    return as_source(checkpoint.components[component].weights[name]).read_as(DType.F32)


def test_strength_0_leaves_every_byte_of_the_tensors(tmp_path: Path) -> None:
    base = write_base(tmp_path / "base.safetensors")
    lora = FileLora(tmp_path / "style.safetensors", base)
    result = baked(base, [choice(lora.path, 0)], tmp_path / "new.safetensors")
    assert result.changed_weights == 0
    assert stored(tmp_path / "new.safetensors") == stored(base)


def test_a_single_file_in_diffusers_names_keeps_them(tmp_path: Path) -> None:
    prefixes = {Component.DENOISER: "unet.", Component.VAE: "vae."}
    arrays: dict[str, Array] = {}
    for component, source in identify(write_base(tmp_path / "x.safetensors")).components.items():
        prefix = prefixes.get(component, "text_encoder.")
        shapes = {f"{prefix}{name}": weight.shape for name, weight in source.weights.items()}
        arrays |= random_arrays(shapes)
    base, target = tmp_path / "base.safetensors", tmp_path / "new.safetensors"
    write_arrays(base, arrays, DType.F16)
    loras = (choice(FileLora(tmp_path / "style.safetensors", base).path),)
    baked(base, loras, target)
    assert list(stored(target)) == list(arrays)
    assert_as_a_job(base, target, loras)


def test_a_place_of_two_weights_is_changed_for_neither(tmp_path: Path) -> None:
    checkpoint = identify(write_base(tmp_path / "base.safetensors"))
    source = checkpoint.components[Component.DENOISER]
    first, second, third = list(source.weights)[:3]
    weights = {**source.weights, second: source.weights[first]}
    shared = msgspec.structs.replace(source, weights=weights)
    sources = {**checkpoint.parts.sources, Component.DENOISER: shared}
    checkpoint = replace(
        checkpoint, parts=msgspec.structs.replace(checkpoint.parts, sources=sources)
    )
    for name, allowed in ((first, False), (second, False), (third, True)):
        ones = np.ones(weights[name].shape, np.float32)
        numbers = write_sources(tmp_path / "ones.safetensors", {"ones": ones})["ones"]
        merged = {name: (FullDifference(numbers, 1.0),)}
        patches = {Component.DENOISER: ComponentPatches("", merged)}
        if allowed:
            assert changes_of(checkpoint, patches)
            continue
        with pytest.raises(EngineError, match="two weights in one place"):
            changes_of(checkpoint, patches)


def test_a_projection_that_is_stored_transposed_is_changed(tmp_path: Path) -> None:
    base, target = write_base(tmp_path / "base.safetensors", "sdxl"), tmp_path / "new.safetensors"
    up, down = numbers("up", 96, 2), numbers("down", 2, 96)
    layer = "lora_te2_text_projection"
    path = tmp_path / "projection.safetensors"
    write_arrays(path, {f"{layer}.lora_up.weight": up, f"{layer}.lora_down.weight": down})
    baked(base, [choice(path, 1.0)], target)
    name = "conditioner.embedders.1.model.text_projection"
    before = np.frombuffer(stored(base)[name], np.float16).reshape(96, 96)
    after = np.frombuffer(stored(target)[name], np.float16).reshape(96, 96)
    expected = (before.astype(np.float32) + (up @ down).T).astype(np.float16)
    np.testing.assert_allclose(after, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("convention", ConventionName)
def test_every_type_of_change_is_baked_as_a_job_applies_it(
    tmp_path: Path, convention: ConventionName
) -> None:
    base, target = tmp_path / "base.safetensors", tmp_path / "new.safetensors"
    write_base(base)
    lora = tmp_path / "several.safetensors"
    write_arrays(lora, several_types())
    loras = (choice(lora, 0.7),)
    result = baked(base, loras, target, convention=convention)
    assert result.changed_weights == 5
    assert_as_a_job(base, target, loras, convention)
    before, after = stored(base), stored(target)
    assert len([key for key in before if before[key] != after[key]]) == 5


def several_types() -> dict[str, Array]:
    """A DoRA, a LoKr, an OFT and a full difference with that of a bias, of layers 64 wide."""
    attention = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn1"
    dora, lokr, oft, full = (f"{attention}_to_{part}" for part in ("q", "k", "v", "out_0"))
    return {
        f"{dora}.lora_up.weight": numbers("up", 64, 3),
        f"{dora}.lora_down.weight": numbers("down", 3, 64),
        f"{dora}.dora_scale": 2 + numbers("scale", 64, 1),
        f"{lokr}.lokr_w1": numbers("first", 8, 8),
        f"{lokr}.lokr_w2": numbers("second", 8, 8),
        f"{oft}.oft_blocks": numbers("blocks", 8, 8, 8),
        f"{oft}.alpha": np.asarray(0.05, np.float32),
        f"{full}.diff": numbers("full", 64, 64),
        f"{full}.diff_b": numbers("bias", 64),
    }


def test_a_pytorch_file_becomes_a_safetensors_file_with_its_keys(tmp_path: Path) -> None:
    arrays: dict[str, Array] = {}
    for number, (name, array) in enumerate(random_arrays(BASES["sd1"]()).items()):
        # An odd number of halves would leave the next tensor at half of its own size.
        arrays[name] = array.astype(np.float16) if number % 3 else array
    base = write_torch_zip(tmp_path / "base.ckpt", arrays)
    lora = FileLora(tmp_path / "style.safetensors", base)
    loras = (choice(lora.path),)
    target = tmp_path / "new.safetensors"
    baked(base, loras, target)
    tensors = read_index(target).tensors
    assert list(tensors) == list(read_index(base).tensors)
    assert all(tensor.offset % tensor.dtype.itemsize == 0 for tensor in tensors.values())
    assert_as_a_job(base, target, loras)
    ema = next(key for key in arrays if key.startswith("model_ema"))
    assert stored(target)[ema] == arrays[ema].tobytes()


def test_a_pytorch_file_with_channels_last_is_refused(tmp_path: Path) -> None:
    arrays = {name: channels_last(array) for name, array in random_arrays(BASES["sd1"]()).items()}
    base = write_torch_zip(tmp_path / "base.ckpt", arrays)
    lora = FileLora(tmp_path / "style.safetensors", base)
    with pytest.raises(EngineError, match="order of its own"):
        baked(base, (choice(lora.path),), tmp_path / "new.safetensors")


def scaled_base(path: Path, stored_as: DType) -> Path:
    """A checkpoint whose attention is fp8 with a scale for each layer, as ComfyUI writes it."""
    arrays = random_arrays(BASES["sd1"]())
    types = dict.fromkeys(arrays, DType.F16)
    for name in [array for array in arrays if ".attn" in array and array.endswith(".weight")]:
        scale = np.abs(arrays[name]).max() / 0.9 / RANGE[stored_as]
        arrays[name] = arrays[name] / scale
        key = f"{name.removesuffix('.weight')}.scale_weight"
        types |= {name: stored_as, key: DType.F32}
        arrays[key] = np.asarray([scale], np.float32)
    marks = "model.diffusion_model.scaled_fp8"
    arrays[marks], types[marks] = np.zeros(2, np.float32), stored_as
    write_arrays(path, arrays, types)
    return path


@pytest.mark.parametrize(
    ("stored_as", "strength"),
    thinned(
        list(product([DType.F8_E4M3, DType.F8_E5M2], [0.1, 20.0])),
        [(DType.F8_E4M3, 0.1), (DType.F8_E5M2, 20.0)],
    ),
)
def test_scaled_fp8_is_rounded_to_its_own_steps(
    tmp_path: Path, stored_as: DType, strength: float
) -> None:
    base, target = scaled_base(tmp_path / "base.safetensors", stored_as), tmp_path / "n.safetensors"
    lora = FileLora(tmp_path / "style.safetensors", base)
    loras = (choice(lora.path, strength),)
    (warning,) = baked(base, loras, target).warnings
    assert "fp8" in warning.message
    step = 2**-3 if stored_as is DType.F8_E4M3 else 2**-2
    wanted = of_a_job(base, loras, ConventionName.A1111)[Component.DENOISER]
    found = identify(target).components[Component.DENOISER].weights
    several = 0
    for name, weight in wanted.items():
        if weight.dtype not in RANGE:
            continue
        several += 1
        expected, numbers = weight.read(), as_source(found[name]).read()
        # Half a step, and the smallest numbers of the type.
        limit = np.abs(expected) * step / 2 + np.abs(expected).max() / 1e4
        assert (np.abs(numbers - expected) <= limit).all(), name
    assert several
    key = "model.diffusion_model.input_blocks.3.1.transformer_blocks.0.attn1.to_q.scale_weight"
    scales = [np.frombuffer(stored(path)[key], np.float32)[0] for path in (base, target)]
    assert (scales[1] > scales[0]) == (strength > 1)


@pytest.mark.parametrize("stored_as", thinned([DType.F8_E4M3, DType.F8_E5M2], [DType.F8_E5M2]))
def test_plain_fp8_is_rounded_once(tmp_path: Path, stored_as: DType) -> None:
    base = write_base(tmp_path / "base.safetensors", dtype=stored_as)
    lora = FileLora(tmp_path / "style.safetensors", base)
    loras = (choice(lora.path),)
    result = baked(base, loras, tmp_path / "new.safetensors")
    assert "fp8" in result.warnings[0].message
    assert_as_a_job(base, tmp_path / "new.safetensors", loras)


def test_int8_takes_loras_in_a_job_and_is_not_baked(tmp_path: Path) -> None:
    """Changed numbers need other scales, and rotated ones other integers in the whole row."""
    base, wide = tmp_path / "int8.safetensors", tmp_path / "wide.safetensors"
    write_arrays(wide, write_int8(base, random_arrays(BASES["sd1"]()), Way.ROWS))
    loras = (choice(FileLora(tmp_path / "style.safetensors", wide).path),)
    found, wanted = (of_a_job(path, loras, ConventionName.A1111) for path in (base, wide))
    changed = 0
    for name, weight in wanted[Component.DENOISER].items():
        own = found[Component.DENOISER][name]
        changed += isinstance(own.base, Int8Rows) and own is not own.base
        np.testing.assert_array_equal(own.read_as(DType.F32), weight.read_as(DType.F32), name)
    assert changed
    with pytest.raises(EngineError, match="int8"):
        baked(base, loras, tmp_path / "new.safetensors")
    assert not (tmp_path / "new.safetensors").exists()
