"""Finding a checkpoint costs what looking at it costs, however much lies in the models folder."""

import os
from collections import Counter
from pathlib import Path

import pytest

from app.cli import run
from app.cli.terminal import StatusLine
from app.library.checkpoints import find_checkpoint, list_checkpoints
from app.paths import find_paths, starter_checkpoint
from engine.checkpoints import header
from tests.checkpoints.files import write_sparse
from tests.families import listings, other_listings
from tests.families.test_identify import SMALL

MANY = 300


@pytest.fixture
def models() -> Path:
    """The models folder, with many files in it."""
    folder = find_paths().models
    (folder / "sub").mkdir(parents=True)
    for number in range(MANY):
        (folder / f"{number}.safetensors").touch()
    return folder


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The number of times that each folder is listed."""
    found = Counter[str]()
    real = os.scandir

    def scandir(path: str | Path = ".") -> object:
        found[str(path)] += 1
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    return found


@pytest.mark.parametrize("name", ["b.SAFETENSORS", "c.sft", "d.ckpt", "a", "sub/e", "starter"])
def test_every_listed_name_is_found_without_listing(
    tmp_path: Path, listed: Counter[str], name: str
) -> None:
    for file in ("a.safetensors", "b.SAFETENSORS", "c.sft", "d.ckpt", "sub/e.safetensors"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    starter = starter_checkpoint()
    path = next(
        checkpoint.path
        for checkpoint in list_checkpoints(tmp_path, starter)
        if checkpoint.name == name
    )
    listed.clear()
    assert find_checkpoint(name, tmp_path, starter) == path
    assert not listed


def test_inspecting_a_path_looks_at_no_other_file(
    tmp_path: Path, models: Path, listed: Counter[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_sparse(tmp_path / "mine.safetensors", SMALL)
    assert run(["inspect", str(path)]) == 0
    assert "sd1 (base)" in capsys.readouterr().out
    assert not {name for name in listed if name.startswith(str(models))}


def test_models_remembers_what_it_looked_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = find_paths().models
    folder.mkdir(parents=True)
    write_sparse(folder / "whole.safetensors", SMALL)
    write_sparse(folder / "unet.safetensors", listings.ldm_unet())
    write_sparse(folder / "lora.safetensors", other_listings.kohya_lora())
    monkeypatch.setattr("engine.checkpoints.known_files.SETTLED_NS", -1 << 62)
    assert run(["models"]) == 0
    first = capsys.readouterr().out
    assert "lora.safetensors is a LoRA, not a model." in first
    assert "missing: text_encoder, vae" in first
    read: list[str] = []
    parse = header.parse_header

    def parsed(raw: bytes, path: Path) -> header.Header:
        read.append(path.name)
        return parse(raw, path)

    monkeypatch.setattr("engine.checkpoints.safetensors.parse_header", parsed)
    assert run(["models"]) == 0
    assert capsys.readouterr().out == first
    # The starter is a folder, whose files are looked at each time.
    assert not {name for name in read if (folder / name).exists()}


def test_models_shows_that_it_is_at_work(
    models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[str] = []

    def draw(_: StatusLine, text: str) -> None:
        shown.append(text)

    def clear(line: StatusLine) -> None:
        draw(line, "")

    monkeypatch.setattr(StatusLine, "draw", draw)
    monkeypatch.setattr(StatusLine, "clear", clear)
    assert run(["models"]) == 0
    assert len([text for text in shown if text.startswith("Looking at your files")]) > MANY
    assert shown[-1] == ""
    assert str(models) in capsys.readouterr().out


def test_loras_and_embeddings_in_the_models_folder_are_no_models(tmp_path: Path) -> None:
    for name in ("mix", "Lora/ink", "embeddings/bad hands", "SDXL/mix"):
        path = tmp_path / f"{name}.safetensors"
        path.parent.mkdir(exist_ok=True)
        path.touch()
    found = list_checkpoints(tmp_path, starter_checkpoint())
    assert [checkpoint.name for checkpoint in found] == ["starter", "SDXL/mix", "mix"]


def test_a_bare_name_may_be_that_of_the_only_file_in_any_folder(tmp_path: Path) -> None:
    """People of other programs know a model by its name alone."""
    tool = tmp_path / "ComfyUI"
    for name in ("one/Mix_v1.5.ckpt", "one/twice.safetensors", "two/twice.safetensors"):
        path = tool / "models" / "checkpoints" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def found(wanted: str) -> Path:
        return find_checkpoint(wanted, tmp_path / "mine", starter_checkpoint(), [tool])

    mix = tool / "models" / "checkpoints" / "one" / "Mix_v1.5.ckpt"
    assert [found(name) for name in ("mix_v1.5", "Mix_v1.5.safetensors")] == [mix, mix]
    for missing in ("twice", "two/mix_v1.5", "./mix_v1.5", "mix"):
        assert found(missing) == Path(missing).absolute()


def test_parts_in_other_programs_folders_are_no_models(tmp_path: Path) -> None:
    """SD.Next's and Easy Diffusion's folders of encoders, and the upscaler that A1111 unpacks."""
    tool = tmp_path / "sdnext"
    names = ("Stable-diffusion/mix", "Text-encoder/t5xxl", "TAESD/taesdxl", "LDSR/model")
    for name in names:
        path = tool / "models" / f"{name}.safetensors"
        path.parent.mkdir(parents=True)
        path.touch()
    found = list_checkpoints(tmp_path / "mine", starter_checkpoint(), [tool])
    assert [checkpoint.name for checkpoint in found] == ["starter", "Stable-diffusion/mix"]
