"""The metadata of baked files, and what they are taken for."""

import hashlib
import json
from pathlib import Path

import pytest

from engine.api.request import CheckpointOverride
from engine.api.values import PredictionType
from engine.bake.record import BAKES, bakes_of
from engine.checkpoints.files import read_index
from engine.checkpoints.safetensors import read_metadata
from engine.families import Component, identify
from tests.bake.bases import BASES, baked, choice, write_base
from tests.pipeline.lora_files import FileLora

# Components with few layers, which take little time.
FEW = (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2)


@pytest.fixture
def lora(tmp_path: Path) -> Path:
    base = write_base(tmp_path / "shapes.safetensors")
    return FileLora(tmp_path / "my, style.safetensors", base, components=FEW).path


def header_bytes(path: Path) -> int:
    return 8 + int.from_bytes(path.read_bytes()[:8], "little")


def test_metadata_tell_what_went_in(tmp_path: Path, lora: Path) -> None:
    base, target = write_base(tmp_path / "base.safetensors"), tmp_path / "new.safetensors"
    baked(base, [choice(lora, 0.75, 0.5)], target)
    found = read_metadata(target)
    (bake,) = bakes_of(found)
    assert (bake.base, bake.base_sha256) == (base.name, sha256(base.read_bytes()))
    assert bake.program.startswith("safelight ")
    assert bake.convention == "a1111"
    (entry,) = bake.loras
    content = lora.read_bytes()
    assert (entry.name, entry.sha256) == ("my, style", sha256(content))
    assert entry.tensors_hash == sha256(content[header_bytes(lora) :])
    assert (entry.strength, entry.text_strength) == (0.75, 0.5)
    assert entry.applied_keys == entry.total_keys == len(read_index(lora).tensors)
    assert str(tmp_path) not in json.dumps(found)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_modelspec_has_a_title_the_sources_and_the_hash_of_the_tensors(
    tmp_path: Path, lora: Path
) -> None:
    base, target = write_base(tmp_path / "base.safetensors"), tmp_path / "new.safetensors"
    baked(base, [choice(lora, 0.75)], target)
    found = read_metadata(target)
    assert found["modelspec.sai_model_spec"] == "1.0.0"
    assert found["modelspec.architecture"] == "stable-diffusion-v1"
    assert found["modelspec.title"] == "my, style 0.75 on base"
    assert found["modelspec.merged_from"] == "base, my  style"
    assert found["modelspec.prediction_type"] == "epsilon"
    tensors = target.read_bytes()[header_bytes(target) :]
    assert found["modelspec.hash_sha256"] == f"0x{sha256(tensors)}"


def test_the_bases_own_metadata_are_kept_whole_but_for_hashes(tmp_path: Path, lora: Path) -> None:
    before = {
        "modelspec.author": "Ines",
        "modelspec.title": "Dunes",
        "modelspec.hash_sha256": "0xab",
        "sshs_model_hash": "cd" * 32,
        "notes": "\u00e9" * 50_000,
        BAKES: "[nonsense",
    }
    base = write_base(tmp_path / "base.safetensors", metadata=before)
    baked(base, [choice(lora, 0.5)], tmp_path / "new.safetensors")
    found = read_metadata(tmp_path / "new.safetensors")
    assert (found["modelspec.author"], found["notes"]) == ("Ines", before["notes"])
    assert found["modelspec.title"] == "my, style 0.5 on Dunes"
    assert found["modelspec.hash_sha256"] != "0xab"
    assert "sshs_model_hash" not in found
    assert len(bakes_of(found)) == 1


def test_a_baked_file_can_be_baked_again(tmp_path: Path, lora: Path) -> None:
    base = write_base(tmp_path / "base.safetensors")
    once, twice = tmp_path / "once.safetensors", tmp_path / "twice.safetensors"
    baked(base, [choice(lora, 0.5)], once)
    baked(once, [choice(lora, -0.25)], twice)
    bakes = bakes_of(read_metadata(twice))
    assert [bake.base for bake in bakes] == ["base.safetensors", "once.safetensors"]
    assert [bake.loras[0].strength for bake in bakes] == [0.5, -0.25]
    assert bakes[1].base_sha256 == sha256(once.read_bytes())


@pytest.mark.parametrize(
    ("family", "name"),
    [
        *((family, "base") for family in BASES),
        ("sd2", "sd_turbo"),
        ("sdxl", "a_lightning_4step"),
        ("sdxl", "sdxl_1step_x0"),
    ],
)
def test_a_baked_file_is_taken_for_what_its_base_is(tmp_path: Path, family: str, name: str) -> None:
    base = write_base(tmp_path / f"{name}.safetensors", family)
    (tmp_path / "none").mkdir()
    assert_same_kind(base, tmp_path / "none" / "mine.safetensors")


def test_the_facts_beside_a_base_are_in_the_baked_file(tmp_path: Path) -> None:
    base = write_base(tmp_path / "base.safetensors")
    base.with_suffix(".yaml").write_text("model:\n  params:\n    parameterization: v\n")
    assert identify(base).prediction is PredictionType.V
    (tmp_path / "none").mkdir()
    assert_same_kind(base, tmp_path / "none" / "mine.safetensors")


def assert_same_kind(base: Path, target: Path) -> None:
    lora = FileLora(target.with_name("a style.safetensors"), base, components=FEW)
    baked(base, [choice(lora.path)], target)
    before, after = identify(base), identify(target)
    assert (after.family, after.variant, after.prediction, after.default_size) == (
        before.family,
        before.variant,
        before.prediction,
        before.default_size,
    )
    assert after.hints == before.hints
    assert after.ignored_keys == before.ignored_keys
    if before.prediction is not PredictionType.SAMPLE:
        unstated = [checkpoint.parts.denoiser.unstated is None for checkpoint in (before, after)]
        assert unstated[0] == unstated[1]


@pytest.mark.parametrize(
    ("family", "prediction", "name"),
    [
        ("sd1", None, "stable-diffusion-v1"),
        ("sd2", "v", "stable-diffusion-v2-768-v"),
        ("sd2", "epsilon", "stable-diffusion-v2-512"),
        ("sd2", None, None),
        ("sdxl", None, "stable-diffusion-xl-v1-base"),
    ],
)
def test_the_architecture_is_named_where_it_is_certain(
    tmp_path: Path, lora: Path, family: str, prediction: str | None, name: str | None
) -> None:
    before = {"modelspec.prediction_type": prediction} if prediction else None
    base = write_base(tmp_path / "base.safetensors", family, metadata=before)
    lora = FileLora(tmp_path / "own.safetensors", base, components=FEW).path
    baked(base, [choice(lora)], tmp_path / "new.safetensors")
    found = read_metadata(tmp_path / "new.safetensors")
    assert found.get("modelspec.architecture") == name
    assert ("modelspec.sai_model_spec" in found) == (name is not None)


def test_the_users_own_statement_is_in_the_baked_file(tmp_path: Path, lora: Path) -> None:
    base, target = write_base(tmp_path / "base.safetensors"), tmp_path / "new.safetensors"
    stated = CheckpointOverride(prediction=PredictionType.V)
    baked(base, [choice(lora)], target, override=stated)
    assert identify(target).prediction is PredictionType.V
