"""Baked diffusers folders, and the pictures that they make."""

import json
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType
from backends.cpu import CpuBackend
from engine.api.lora import LoraChoice, LoraMode
from engine.bake.folder import files_beside
from engine.bake.record import bakes_of
from engine.checkpoints.files import read_index
from engine.checkpoints.safetensors import read_metadata
from engine.families import identify
from engine.lora.folder import LoraLookup
from engine.pipeline.loras import JobLoras
from tests.bake.bases import baked, choice, stored
from tests.checkpoints.arrays import write_arrays
from tests.pipeline.jobs import a_request, psnr, run
from tests.pipeline.lora_files import FileLora
from tests.tiny_checkpoint import write_checkpoint

UNET = Path("unet") / "diffusion_pytorch_model.safetensors"
TEXT = Path("text_encoder") / "model.safetensors"
VAE = Path("vae") / "diffusion_pytorch_model.safetensors"


def picture(folder: Path, *loras: LoraChoice) -> Array:
    read_loras = JobLoras(identify(folder), LoraLookup(), read_index)
    request = a_request(folder, loras=loras, lora_mode=LoraMode.MERGE)
    return run(request, CpuBackend(), read_loras=read_loras).pixels[0]


def test_a_baked_checkpoint_makes_the_picture_that_the_lora_makes(tmp_path: Path) -> None:
    base = write_checkpoint(tmp_path / "base")
    lora = choice(FileLora(tmp_path / "style.safetensors", base).path, 0.8, 0.4)
    other = choice(FileLora(tmp_path / "other.safetensors", base, seed=2).path, -0.3)
    baked(base, [lora, other], tmp_path / "new")
    expected = picture(base, lora, other)
    np.testing.assert_array_equal(picture(tmp_path / "new"), expected)
    assert psnr(expected, picture(base)) < 30


def test_the_picture_of_a_float16_file_differs_by_one_rounding(tmp_path: Path) -> None:
    base = write_checkpoint(tmp_path / "base", dtype=DType.F16)
    lora = choice(FileLora(tmp_path / "style.safetensors", base).path)
    baked(base, [lora], tmp_path / "new")
    expected = picture(base, lora)
    assert psnr(picture(tmp_path / "new"), expected) > 45
    assert psnr(expected, picture(base)) < 30


def test_a_folder_is_copied_with_new_weights_of_what_changes(tmp_path: Path) -> None:
    base, target = write_checkpoint(tmp_path / "base"), tmp_path / "new"
    lora = FileLora(tmp_path / "style.safetensors", base)
    baked(base, [choice(lora.path)], target)
    before = {path.relative_to(base): path for path in base.rglob("*") if path.is_file()}
    after = {path.relative_to(target): path for path in target.rglob("*") if path.is_file()}
    assert set(after) == set(before)
    others = {name for name in before if after[name].read_bytes() != before[name].read_bytes()}
    assert others == {UNET, TEXT}
    for name in (UNET, TEXT):
        assert list(stored(target / name)) == list(stored(base / name))
        (bake,) = bakes_of(read_metadata(target / name))
        assert bake.base == f"base/{name.as_posix()}"


def test_strength_0_leaves_every_byte_of_a_folders_tensors(tmp_path: Path) -> None:
    base, target = write_checkpoint(tmp_path / "base"), tmp_path / "new"
    lora = FileLora(tmp_path / "style.safetensors", base)
    baked(base, [choice(lora.path, 0)], target)
    for name in (UNET, TEXT, VAE):
        assert stored(target / name) == stored(base / name)


def test_shards_stay_shards(tmp_path: Path) -> None:
    base = write_checkpoint(tmp_path / "base")
    lora = choice(FileLora(tmp_path / "style.safetensors", base).path)
    expected = picture(base, lora)
    split(base / UNET)
    baked(base, [lora], tmp_path / "new")
    assert {path.name for path in (tmp_path / "new" / "unet").iterdir()} == {
        path.name for path in (base / "unet").iterdir()
    }
    np.testing.assert_array_equal(picture(tmp_path / "new"), expected)


def split(path: Path) -> None:
    """Replace a file of weights by two shards and their list."""
    index = read_index(path).tensors
    content = path.read_bytes()
    places: dict[str, str] = {}
    for number in (1, 2):
        name = f"{path.stem}-{number:05d}-of-00002.safetensors"
        arrays = {
            key: np.frombuffer(content, np.float32, tensor.elements, tensor.offset).reshape(
                tensor.shape
            )
            for place, (key, tensor) in enumerate(index.items())
            if place % 2 == number - 1
        }
        write_arrays(path.with_name(name), arrays)
        places |= dict.fromkeys(arrays, name)
    text = json.dumps({"metadata": {}, "weight_map": places})
    path.with_name(f"{path.name}.index.json").write_text(text)
    path.unlink()


@pytest.mark.parametrize(
    ("name", "copied"),
    [
        ("README.md", True),
        ("unet/config.json", True),
        ("tokenizer/vocab.json", True),
        ("safety_checker/model.safetensors", True),
        ("safety_checker/pytorch_model.bin", True),
        ("whole.safetensors", False),
        ("v1-5.ckpt", False),
        ("unet/diffusion_pytorch_model.safetensors", False),
        ("unet/diffusion_pytorch_model.fp16.safetensors", False),
        ("unet/diffusion_pytorch_model.bin", False),
        ("unet/model.onnx", False),
        ("unet/diffusion_pytorch_model.safetensors.index.json", False),
        (".cache/huggingface/x.json", False),
    ],
)
def test_other_weights_beside_those_that_are_read_are_not_copied(
    tmp_path: Path, name: str, copied: bool
) -> None:
    weights = tmp_path / "unet" / "diffusion_pytorch_model.safetensors"
    for path in (weights, tmp_path / name):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert list(files_beside(tmp_path, {weights})) == ([tmp_path / name] if copied else [])
