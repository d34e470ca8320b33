"""The files below a folder: through links, without going in circles, and with few questions."""

import os
from collections import Counter
from pathlib import Path

import pytest

from engine.embeddings.folder import folders_of_tools
from engine.folders import (
    ADAPTER_FOLDERS,
    CHECKPOINT_SUFFIXES,
    folders_of_models,
    weights_below,
)
from engine.lora.folder import lora_folders

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")


def below(folder: Path) -> list[str]:
    return [
        path.relative_to(folder).as_posix() for path in weights_below(folder, CHECKPOINT_SUFFIXES)
    ]


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_weights_are_found_by_every_suffix(tmp_path: Path) -> None:
    for name in ("a.safetensors", "b.SAFETENSORS", "c.sft", "d.ckpt", "e.txt", "sub/f.Ckpt"):
        put(tmp_path / name)
    assert below(tmp_path) == ["a.safetensors", "b.SAFETENSORS", "c.sft", "d.ckpt", "sub/f.Ckpt"]


def test_attributes_that_a_mac_keeps_beside_files_are_no_weights(tmp_path: Path) -> None:
    """An exFAT drive has a file of a few KB after each model that Finder put there."""
    for name in ("a.safetensors", "._a.safetensors", "sub/b.ckpt", "sub/._b.ckpt", "._sub"):
        put(tmp_path / name)
    assert below(tmp_path) == ["a.safetensors", "sub/b.ckpt"]


@needs_links
def test_linked_folders_are_entered(tmp_path: Path) -> None:
    """`models/a1111 -> ~/stable-diffusion-webui/models/Stable-diffusion`."""
    put(tmp_path / "elsewhere" / "deep" / "a.safetensors")
    models = tmp_path / "models"
    models.mkdir()
    (models / "a1111").symlink_to(tmp_path / "elsewhere")
    assert below(models) == ["a1111/deep/a.safetensors"]


@needs_links
def test_circular_links_are_entered_once(tmp_path: Path) -> None:
    models = tmp_path / "models"
    put(models / "sub" / "a.safetensors")
    (models / "sub" / "up").symlink_to(models)
    (models / "self").symlink_to(models / "self")
    (models / "nowhere.ckpt").symlink_to(tmp_path / "gone")
    (models / "twin").symlink_to(models / "sub")
    assert below(models) == ["sub/a.safetensors"]


def test_folders_of_other_programs_adapters_can_be_left_out(tmp_path: Path) -> None:
    for name in ("a", "Lora/b", "sd/loras/c", "embeddings/d", "lora-mix/e"):
        put(tmp_path / f"{name}.safetensors")
    found = weights_below(tmp_path, CHECKPOINT_SUFFIXES, but=ADAPTER_FOLDERS)
    names = [path.relative_to(tmp_path).as_posix() for path in found]
    assert names == ["a.safetensors", "lora-mix/e.safetensors"]
    # The folder itself is meant, whatever it is called.
    assert (
        len(list(weights_below(tmp_path / "Lora", CHECKPOINT_SUFFIXES, but=ADAPTER_FOLDERS))) == 1
    )


def test_hidden_folders_are_left_out_but_for_the_one_that_is_meant(tmp_path: Path) -> None:
    """InvokeAI keeps copies in `models/.convert_cache`; the window's list has none of these."""
    cache = tmp_path / ".models"
    put(cache / ".convert_cache" / "0123" / "model_index.json")
    put(cache / ".cache" / "a.safetensors")
    put(cache / "sd-1" / "b.safetensors")
    assert below(cache) == ["sd-1/b.safetensors"]


def test_files_inside_a_diffusers_folder_are_left_out(tmp_path: Path) -> None:
    put(tmp_path / "sd" / "model_index.json")
    put(tmp_path / "sd" / "unet" / "diffusion_pytorch_model.safetensors")
    put(tmp_path / "sd" / "v1-5-pruned.safetensors")
    assert below(tmp_path) == ["sd", "sd/v1-5-pruned.safetensors"]


def test_a_tools_models_are_meant_and_not_its_programs(tmp_path: Path) -> None:
    """SwarmUI writes its folder with a capital, and InvokeAI has LoRAs in folders of its own."""
    swarm, invoke = tmp_path / "SwarmUI", tmp_path / "invokeai"
    put(swarm / "Models" / "Lora" / "a.safetensors")
    put(swarm / "Models" / "Embeddings" / "b.safetensors")
    put(swarm / "dlbackend" / "ComfyUI" / "c.safetensors")
    put(invoke / "models" / "sd-1" / "lora" / "d.safetensors")
    put(invoke / "embeddings" / "e.safetensors")
    put(invoke / "outputs" / "f.safetensors")
    models = swarm / "Models", invoke / "models"
    assert folders_of_models(None, [swarm, invoke]) == (*models, invoke / "embeddings")
    assert lora_folders(None, [swarm, invoke]) == (models[0] / "Lora", models[1])
    assert folders_of_tools([swarm, invoke]) == (models[0] / "Embeddings", invoke / "embeddings")


def test_a_missing_folder_or_a_file_is_empty(tmp_path: Path) -> None:
    assert below(tmp_path / "none") == []
    assert below(put(tmp_path / "file.ckpt")) == []


def test_the_disk_is_asked_once_for_each_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(500):
        put(tmp_path / f"{number}.safetensors")
        put(tmp_path / "sub" / f"{number}.safetensors")
    asked = Counter[str]()
    for name in ("stat", "lstat", "scandir", "open"):
        real = getattr(os, name)

        def counted(
            *args: object, name: str = name, real: object = real, **options: object
        ) -> object:
            asked[name] += 1
            return real(*args, **options)  # type: ignore[operator]

        monkeypatch.setattr(os, name, counted)
    found = list(weights_below(tmp_path, CHECKPOINT_SUFFIXES))
    monkeypatch.undo()
    assert len(found) == 1000
    assert asked == {"stat": 2, "scandir": 2}
