"""`safelight inspect` of LoRAs."""

import hashlib
import json
from pathlib import Path

import pytest

from app.cli import run
from app.library.lora_memory import LoraMemory
from app.paths import find_paths
from tests.checkpoints.files import write_sparse

LAYER = "lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn2_to_k"
TENSORS = {
    f"{LAYER}.lora_down.weight": (4, 768),
    f"{LAYER}.lora_up.weight": (320, 4),
    f"{LAYER}.alpha": (),
}


def put_lora(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_sparse(path, TENSORS, metadata={"ss_output_name": "my ink"})


def test_a_lora_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put_lora(tmp_path / "ink.safetensors")
    assert run(["inspect", str(path)]) == 0
    said = capsys.readouterr().out
    assert str(path) in said
    assert "is             a LoRA for SD 1.x" in said
    assert "title          my ink" in said
    assert "rank           at most 4" in said


@pytest.mark.parametrize("name", ["ink", "styles/ink", "my ink"])
def test_a_lora_is_found_by_its_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = put_lora(find_paths().models / "loras" / "styles" / "ink.safetensors")
    assert run(["inspect", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lora"]["path"] == str(path)


def test_a_lora_is_found_in_a_folder_that_was_named_in_the_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put_lora(tmp_path / "elsewhere" / "ink.safetensors")
    LoraMemory(find_paths().state).add_folder(path.parent)
    assert run(["inspect", "ink", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lora"]["path"] == str(path)


def test_hashes_are_those_of_a1111_and_civitai(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put_lora(tmp_path / "ink.safetensors")
    assert run(["inspect", str(path), "--hash", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    content = path.read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    assert found["sha256"] == hashlib.sha256(content).hexdigest()
    assert found["tensors_hash"] == hashlib.sha256(content[header:]).hexdigest()


def test_a_file_that_is_neither_checkpoint_nor_lora_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"<html>")
    assert run(["inspect", str(path)]) == 1
    assert "a web page" in capsys.readouterr().err
    assert run(["inspect", "no such name"]) == 1
