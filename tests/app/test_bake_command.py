"""`safelight bake`."""

import json
from pathlib import Path

import pytest

from app.cli import bake as command
from app.cli import run
from app.paths import find_paths
from tests.bake.bases import BASES, random_arrays, stored, write_base
from tests.checkpoints.arrays import write_arrays
from tests.families.listings import UNET
from tests.pipeline.lora_files import FileLora


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_base(tmp_path / "base.safetensors")


@pytest.fixture
def lora(base: Path) -> Path:
    folder = find_paths().models / "loras"
    return FileLora(folder / "ink.safetensors", base, rank=1).path


def test_a_model_and_a_lora_by_name_are_baked(
    base: Path, lora: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = base.with_name("new.safetensors")
    arguments = ["bake", "--model", str(base), "--lora", f"{lora.stem}:0.8:0.5"]
    assert run([*arguments, "--out", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}\n"
    assert stored(target) != stored(base)
    assert run([*arguments, "--out", str(target)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert run([*arguments, "--out", str(target), "--force", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["path"], told["family"], told["warnings"]) == (str(target), "sd1", [])
    assert told["changed_weights"] > 10


def test_keys_that_do_not_apply_are_told(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = FileLora(tmp_path / "whole.safetensors", base, rank=1)
    unet, arrays = tmp_path / "unet.safetensors", random_arrays(BASES["sd1"]())
    write_arrays(unet, {key: array for key, array in arrays.items() if key.startswith(UNET)})
    arguments = ["bake", "--model", str(unet), "--lora", str(whole.path)]
    assert run([*arguments, "--out", str(tmp_path / "new.safetensors")]) == 0
    assert "keys of whole.safetensors were not applied" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (["--out", "new.safetensors"], 2, "give at least one LoRA"),
        (["--lora", "gone", "--out", "new.safetensors"], 1, "gone was not found"),
        (["--lora", "ink:2:3:4:x", "--out", "new.safetensors"], 1, "was not found"),
        (["--lora", "ink", "--out", "missing/new.safetensors"], 1, "there is no such folder"),
        (["--lora", "ink", "--out", "new.ckpt"], 1, "as .safetensors files"),
    ],
)
@pytest.mark.usefixtures("lora")
def test_wrong_use_is_told(
    base: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    status: int,
    words: str,
) -> None:
    monkeypatch.chdir(base.parent)
    before = sorted(base.parent.rglob("*"))
    try:
        found = run(["bake", "--model", str(base), *options])
    except SystemExit as stop:
        found = stop.code
    assert found == status
    assert words in capsys.readouterr().err
    assert [path for path in sorted(base.parent.rglob("*.safetensors")) if path not in before] == []


def test_ctrl_c_is_no_traceback(
    base: Path,
    lora: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "bake", interrupted)
    arguments = ["--lora", str(lora), "--out", str(base.with_name("new.safetensors"))]
    assert run(["bake", "--model", str(base), *arguments]) == 1
    assert "Cancelled." in capsys.readouterr().err
