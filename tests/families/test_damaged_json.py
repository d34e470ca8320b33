"""Any JSON of a checkpoint's folder, and beside a file, is read or refused, and no more."""

import json
from contextlib import suppress
from pathlib import Path

import pytest

from engine.checkpoints.diffusers_folder import find_tokenizer
from engine.errors import EngineError
from engine.families import identify
from engine.text.tokenizers import load_tokenizer
from tests import damages
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.tiny_checkpoint import write_checkpoint

_TOKENS = ("special_tokens_map.json", "tokenizer_config.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with every JSON that is read, and a file with cards beside it."""
    path = write_checkpoint(tmp_path_factory.mktemp("damaged") / "tiny")
    for name in _TOKENS:
        (path / "tokenizer" / name).write_text(json.dumps({"pad_token": "<|endoftext|>"}))
    (path / "safelight.json").write_text(json.dumps({"steps": 5, "sampler": "euler"}))
    (path / "model_index.json").write_text(json.dumps({"_class_name": "StableDiffusionPipeline"}))
    write_sparse(path / "single.safetensors", listings.original())
    (path / "single.civitai.info").write_text(json.dumps({"baseModel": "SD 1.5", "name": "a"}))
    (path / "single.json").write_text(json.dumps({"sd version": "SD1", "notes": "a"}))
    return path


def _texts(folder: Path) -> list[Path]:
    found = [*folder.rglob("*.json"), *folder.rglob("*.info")]
    assert {"vocab.json", "config.json", "safelight.json", *_TOKENS} <= {
        path.name for path in found
    }
    return found


def _restore(path: Path, content: bytes) -> None:
    if path.is_dir():
        for inside in path.iterdir():
            inside.unlink()
        path.rmdir()
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def _read(folder: Path, changed: Path) -> None:
    """Whatever reads this file."""
    if changed.stem.startswith("single"):
        identify(folder / "single.safetensors")
        return
    identify(folder)
    tokenizer = find_tokenizer(folder / "tokenizer")
    if tokenizer is not None:
        load_tokenizer(tokenizer)


@pytest.mark.parametrize("damage", damages.parameters())
def test_a_damaged_json_is_read_or_refused(folder: Path, damage: damages.Damage) -> None:
    for path in _texts(folder):
        content = path.read_bytes()
        damage(path)
        try:
            with suppress(EngineError):
                _read(folder, path)
        finally:
            _restore(path, content)
    assert identify(folder).hints.steps == 5


@pytest.mark.parametrize("name", ["safelight.json", *(f"tokenizer/{name}" for name in _TOKENS)])
def test_json_nested_100000_deep_is_reported_as_damaged(folder: Path, name: str) -> None:
    path = folder / name
    content = path.read_bytes()
    damages.deep_in_an_unknown_field(path)
    try:
        with pytest.raises(EngineError) as caught:
            _read(folder, path)
    finally:
        _restore(path, content)
    said = "too large" if name == "safelight.json" else "nested too deeply"
    assert said in caught.value.detail
