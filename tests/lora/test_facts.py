"""Facts about a LoRA come from its metadata and the cards next to it, and its hashes are known."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from backends.base import DType
from engine.checkpoints.header import MAX_METADATA_CHARS
from engine.lora.facts import MAX_TAGS, LoraFacts, tags_of
from engine.lora.hashes import hashes_of
from tests.lora.files import lora_file, low_rank

KEYS = low_rank("lora_unet_a", 8, 6)


def facts(path: Path, metadata: dict[str, str] | None = None) -> LoraFacts:
    return lora_file(path, KEYS, metadata).facts


def tags(path: Path, frequency: str) -> tuple[str, ...]:
    return tags_of(lora_file(path, KEYS, {"ss_tag_frequency": frequency}).index)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.safetensors"


def test_trainers_metadata_become_facts(path: Path) -> None:
    found = facts(
        path,
        {
            "ss_output_name": "my_style_v2",
            "ss_base_model_version": "sd_1.5",
            "sshs_model_hash": "AB" * 32,
            "modelspec.title": "My style",
            "modelspec.architecture": "stable-diffusion-v1/lora",
            "modelspec.trigger_phrase": "mystyle, ink",
            "modelspec.description": "A style",
        },
    )
    assert (found.title, found.output_name) == ("My style", "my_style_v2")
    assert found.base_model == "stable-diffusion-v1/lora"
    assert found.trigger_words == ("mystyle", "ink")
    assert found.description == "A style"
    assert found.tensors_hashes == {"ab" * 6}


def test_cards_beside_the_file(path: Path) -> None:
    path.with_suffix(".json").write_text(
        json.dumps(
            {
                "activation text": "one, two",
                "preferred weight": 0.8,
                "negative text": "blurry",
                "notes": "n",
                "sd version": "SD1",
            }
        )
    )
    path.with_suffix(".civitai.info").write_text(
        json.dumps(
            {
                "trainedWords": ["two", "three"],
                "baseModel": "SD 1.5",
                "model": {"name": "Style"},
                "name": "v1",
                "description": "<p>good</p>",
                "files": [{"hashes": {"SHA256": "CD" * 32, "AutoV3": "EF" * 6}}],
            }
        )
    )
    path.with_suffix(".swarm.json").write_text(
        json.dumps({"modelspec.trigger_phrase": "zero", "modelspec.usage_hint": "at 0.7", "x": 1})
    )
    path.with_suffix(".txt").write_text("A text.")
    found = facts(path)
    assert found.trigger_words == ("zero", "two", "three", "one")
    assert (found.weight, found.negative, found.notes) == (0.8, "blurry", "at 0.7")
    assert (found.title, found.base_model) == ("Style v1", "SD 1.5")
    assert found.description == "good"
    assert (found.hashes, found.tensors_hashes) == ({"cd" * 32}, {"ef" * 6})


def test_card_of_stability_matrix(path: Path) -> None:
    card = {
        "ModelName": "Style",
        "VersionName": "v2",
        "BaseModel": "SDXL 1.0",
        "TrainedWords": ["ink"],
        "Hashes": {"SHA256": "CD" * 32, "AutoV3": "EF" * 6, "CRC32": "0"},
        "ModelDescription": "<b>good</b>",
    }
    path.with_suffix(".cm-info.json").write_text(json.dumps(card))
    found = facts(path)
    assert (found.title, found.base_model, found.description) == ("Style v2", "SDXL 1.0", "good")
    assert found.trigger_words == ("ink",)
    assert (found.hashes, found.tensors_hashes) == ({"cd" * 32}, {"ef" * 6})


@pytest.mark.parametrize(
    ("tips", "weight"), [('{"strength": 0.7}', 0.7), ("{}", None), ("odd", None), (None, None)]
)
def test_card_of_lora_manager(path: Path, tips: str | None, weight: float | None) -> None:
    card = {
        "model_name": "Style",
        "base_model": "Pony",
        "sha256": "cd" * 32,
        "notes": "n",
        "usage_tips": tips,
        "civitai": {"trainedWords": ["ink"], "id": 1},
    }
    path.with_suffix(".metadata.json").write_text(json.dumps(card))
    found = facts(path)
    assert (found.title, found.base_model, found.notes) == ("Style", "Pony", "n")
    assert (found.trigger_words, found.hashes) == (("ink",), {"cd" * 32})
    assert found.weight == weight


def test_text_beside_the_file_is_the_last_description(path: Path) -> None:
    path.with_suffix(".txt").write_text("A  text.\n")
    assert facts(path).description == "A text."


@pytest.mark.parametrize("weight", [0, "x", None])
def test_weight_of_zero_is_none(path: Path, weight: object) -> None:
    path.with_suffix(".json").write_text(json.dumps({"preferred weight": weight}))
    assert facts(path).weight is None


def test_tags_of_the_training_are_counted(path: Path) -> None:
    frequency = {"1_a": {"girl": 3, " hat ": 2}, "2_b": {"girl": 1, "tree": 5}, "3": "odd"}
    assert tags(path, json.dumps(frequency)) == ("tree", "girl", "hat")


def test_words_of_captions_are_counted(path: Path) -> None:
    captions = {"a photo of a red tree": 2, "a drawing of a tree, at night": 1}
    found = tags(path, json.dumps({"1_a": captions}))
    assert found[0] == "tree"
    assert "photo" in found
    assert "of" not in found


def test_tags_beyond_what_the_header_keeps_are_counted(path: Path) -> None:
    many = {f"tag{number:05}": 1 for number in range(5000)} | {"last": 9}
    text = json.dumps({"1_a": many})
    assert len(text) > MAX_METADATA_CHARS
    found = tags(path, text)
    assert found[0] == "last"
    assert len(found) == MAX_TAGS


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"a": {"b": "c"}}', '{"a": {"b": -1}}', "7"])
def test_damaged_tags_are_none(path: Path, text: str) -> None:
    assert tags(path, text) == ()


def test_hashes_are_those_of_tools(path: Path) -> None:
    lora_file(path, low_rank("lora_unet_a", 700, 700, 800), dtype=DType.F32)
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    found = hashes_of(path)
    tensors = sha256(raw[8 + length :]).hexdigest()
    assert found.whole == sha256(raw).hexdigest()
    assert found.tensors == tensors
    assert found.legacy == sha256(raw[0x100000:0x110000]).hexdigest()[:8]


def test_pytorch_files_are_hashed_whole() -> None:
    path = Path(__file__).parent / "frozen" / "lora.pt"
    found = hashes_of(path)
    assert (found.whole, found.tensors) == (sha256(path.read_bytes()).hexdigest(), None)
