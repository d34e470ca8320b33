"""Texts about a checkpoint are hints: read within limits, and never above shapes."""

import json
import os
import sys
from pathlib import Path

import pytest

from engine.api.request import ComponentFiles
from engine.api.values import PredictionType
from engine.checkpoints.safetensors import read_index
from engine.checkpoints.sidecars import MAX_TEXT, MAX_WORDS, Card, cards_of
from engine.families import identify, supply
from engine.families.registry import FAMILIES
from engine.pipeline.inspection import inspect
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.test_identify import SMALL

SHA256 = "82CB85D0B0A1A2F1C6D2F2B6B7B7B4C9FDD2A5B6E1C8F9A0B1C2D3E4F5A6B7C8"
# As Civitai's API answers and its helpers save it, cut down to what is read.
CIVITAI = {
    "id": 1,
    "name": "v2.0",
    "baseModel": "SD 2.1 768",
    "trainedWords": ["nvinkpunk", "  ", "spaced   out"],
    "model": {"name": "Inkpunk", "type": "Checkpoint", "nsfw": False},
    "files": [{"hashes": {"AutoV2": "82CB85D0B0", "SHA256": SHA256}, "primary": True}],
    "images": [{"url": "https://example.invalid/1.png", "meta": None}],
}
# As A1111's `ui_extra_networks_user_metadata.py` saves it.
A1111 = {
    "description": "d",
    "sd version": "SD2",
    "activation text": "one, two",
    "preferred weight": 0.8,
    "negative text": "",
    "notes": "clip skip 2",
}


@pytest.fixture
def sd2(tmp_path: Path) -> Path:
    return write_sparse(tmp_path / "x.safetensors", listings.sd2())


def family_of(card: Card) -> str | None:
    family = FAMILIES.of_base_model(card.base_model)
    return family.name if family else None


def cards(path: Path) -> list[Card]:
    return list(cards_of(read_index(path)))


def beside(path: Path, ending: str, content: object) -> None:
    path.with_suffix(ending).write_text(json.dumps(content))


def test_a_civitai_card_states_family_words_and_hash(sd2: Path) -> None:
    beside(sd2, ".civitai.info", CIVITAI)
    (card,) = cards(sd2)
    assert card.words == "x.civitai.info: SD 2.1 768"
    assert family_of(card) == "sd2"
    assert card.title == "Inkpunk v2.0"
    assert card.trained_words == ("nvinkpunk", "spaced out")
    assert card.hashes == {SHA256.lower()}
    checkpoint = identify(sd2)
    assert checkpoint.prediction is PredictionType.V
    assert checkpoint.default_size == 768
    assert str(checkpoint.evidence[-1]) == "SD 2.x, v-prediction because x.civitai.info: SD 2.1 768"
    # Somebody typed it: the denoiser is asked all the same.
    assert checkpoint.parts.denoiser.unstated is not None


def test_an_a1111_card_states_family_words_and_notes(sd2: Path) -> None:
    beside(sd2, ".json", A1111)
    (card,) = cards(sd2)
    assert family_of(card) == "sd2"
    assert card.trained_words == ("one", "two")
    assert card.notes == "clip skip 2"
    beside(sd2, ".json", {**A1111, "sd version": "Unknown"})
    assert cards(sd2)[0].base_model == ""


@pytest.mark.parametrize(
    ("metadata", "says", "side"),
    [
        ({"modelspec.architecture": "stable-diffusion-v2-768-v"}, "metadata: modelspec", None),
        ({"ss_base_model_version": "sd_v2_768_v"}, "metadata: kohya", None),
        (
            {
                "modelspec.architecture": "stable-diffusion-v2-768-v",
                "modelspec.resolution": "896x896",
            },
            "metadata: modelspec",
            896,
        ),
    ],
)
def test_metadata_state_prediction_and_size(
    tmp_path: Path, metadata: dict[str, str], says: str, side: int | None
) -> None:
    path = write_sparse(tmp_path / "x.safetensors", listings.sd2(), metadata=metadata)
    checkpoint = identify(path)
    assert checkpoint.prediction is PredictionType.V
    assert says in str(checkpoint.evidence[-1])
    assert checkpoint.default_size == (side or 768)


@pytest.mark.parametrize(
    ("words", "family"),
    [
        ("SD 1.5", "sd1"),
        ("SD 1.5 LCM", "sd1"),
        ("SD 2.0", "sd2"),
        ("SDXL 1.0", "sdxl"),
        ("SDXL Turbo", "sdxl"),
        ("Pony", "sdxl"),
        ("Illustrious", "sdxl"),
        ("NoobAI", "sdxl"),
        ("Playground v2", "sdxl"),
        ("stable-diffusion-v1/lora", "sd1"),
        ("stable-diffusion-xl-v1-base", "sdxl"),
        ("stable-diffusion-xl-v1-refiner", "sdxl_refiner"),
        ("sdxl_base_v1-0", "sdxl"),
        ("sd_v1", "sd1"),
        ("SD 3.5 Medium", "sd3"),
        ("stable-diffusion-v3-medium", None),
        ("Pony V7", None),
        ("Flux.1 D", "flux1"),
        ("Other", None),
        ("", None),
    ],
)
def test_titles_of_models_are_read_from_sidecars(words: str, family: str | None) -> None:
    assert family_of(Card("x", words)) == family


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("1024x1024", 1024),
        ("(768, 768)", 768),
        ("512", 512),
        ("1216x832", 1024),
        ("0x0", None),
        ("9999x9999", None),
        ("1024x1024x1024", None),
        ("٥١٢", None),
    ],
)
def test_a_resolution_in_metadata_is_read_or_ignored(
    tmp_path: Path, text: str, side: int | None
) -> None:
    path = write_sparse(tmp_path / "x.safetensors", SMALL, metadata={"ss_resolution": text})
    found = cards(path)
    assert (found[0].side if found else None) == side


def test_a_card_that_the_shapes_contradict_is_told_and_not_believed(sd2: Path) -> None:
    beside(sd2, ".civitai.info", {"baseModel": "SD 1.5"})
    checkpoint = identify(sd2)
    assert checkpoint.family == "sd2"
    assert "x.civitai.info: SD 1.5, but its shapes are SD 2.x's" in map(str, checkpoint.evidence)


def test_a_statement_of_the_file_comes_before_its_base_model(tmp_path: Path) -> None:
    metadata = {"modelspec.prediction_type": "epsilon"}
    path = write_sparse(tmp_path / "x.safetensors", listings.sd2(), metadata=metadata)
    beside(path, ".civitai.info", CIVITAI)
    assert identify(path).prediction is PredictionType.EPSILON


def test_a_card_about_another_file_is_told_once_the_hash_is_known(sd2: Path) -> None:
    beside(sd2, ".civitai.info", CIVITAI)
    checkpoint = identify(sd2)
    another = "x.civitai.info is about another file: it names another SHA-256"
    assert another not in map(str, inspect(checkpoint).evidence)
    assert another not in map(str, inspect(checkpoint, SHA256.lower()).evidence)
    assert another in map(str, inspect(checkpoint, "0" * 64).evidence)


def test_cards_are_those_of_the_denoisers_file(sd2: Path, tmp_path: Path) -> None:
    beside(sd2, ".civitai.info", CIVITAI)
    plain = identify(write_sparse(tmp_path / "plain.safetensors", listings.sd2()))
    supplied = supply(plain, ComponentFiles(denoiser=str(sd2)))
    assert inspect(supplied).card.title == "Inkpunk v2.0"
    vae = supply(plain, ComponentFiles(vae=str(sd2)))
    assert inspect(vae).card.title == ""


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"baseModel": 5, "sd version": 5}',
        b'{"trainedWords": "not a list", "notes": {}}',
        b'{"model": [], "files": [[]], "notes": []}',
        b'{"a": ' * 100_000,
        b"\xff\xfe",
        b'{"baseModel": "SD 2.1 768", "sd version": "SD2"' + b" " * (1 << 20) + b"}",
    ],
)
@pytest.mark.parametrize("ending", [".civitai.info", ".json"])
def test_a_file_that_is_no_card_is_ignored(sd2: Path, ending: str, content: bytes) -> None:
    sd2.with_suffix(ending).write_bytes(content)
    assert cards(sd2) == []
    assert identify(sd2).prediction is PredictionType.EPSILON


def test_texts_are_short_and_printable(sd2: Path) -> None:
    long = "a\x1b[31m\u202e b" * 1000
    beside(
        sd2, ".civitai.info", {"baseModel": long, "trainedWords": [long[:300]] * 1000, "name": long}
    )
    (card,) = cards(sd2)
    assert len(card.trained_words) == MAX_WORDS
    for text in (card.base_model, card.title, *card.trained_words):
        assert len(text) <= MAX_TEXT
        assert text.isprintable()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
def test_a_sidecar_that_is_no_file_is_not_opened(sd2: Path) -> None:
    os.mkfifo(sd2.with_suffix(".civitai.info"))
    sd2.with_suffix(".json").mkdir()
    assert cards(sd2) == []
