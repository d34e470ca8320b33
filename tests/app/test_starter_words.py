"""Words that the starter does not know are found, and only while the starter is chosen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.form.generation import STARTER_LONGEST_SIDE, STARTER_SUGGESTIONS
from app.form.sizes import SizeFit, size_fit
from app.form.starter_words import UnknownWord, unknown_words
from engine.api.embeddings import EmbeddingInfo
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command


def found(prompt: str) -> list[str]:
    unknown = unknown_words(prompt)
    for word in unknown:
        assert prompt[word.position : word.position + len(word.word)] == word.word
    return [word.word for word in unknown]


@pytest.mark.parametrize(
    ("prompt", "unknown"),
    [
        ("", []),
        ("a red house by the sea at night", []),
        ("A Red HOUSE, snow-white, 4k, hot-air balloon", []),
        ("a portrait of a woman, photo", ["portrait", "woman", "photo"]),
        ("(cyberpunk:1.3) city <lora:seaside_v2:0.8> __animals__", ["cyberpunk", "city"]),
        ("embedding:bad-hands a Größe 城", ["Größe", "城"]),
        ("a house in __hair_colour__, __my lists/animals__ city", ["city"]),
        # A name that is being written, at the end.
        ("a zebra in __we", ["zebra"]),
        ("a zebra in __hair_co", ["zebra"]),
        ("a zebra <lora:ink wa", ["zebra"]),
        # No names: what is open does not swallow what follows.
        ("a house __ zebra, 3 < 4 lions", ["zebra", "lions"]),
    ],
)
def test_words_outside_of_the_captions_are_found_where_they_stand(
    prompt: str, unknown: list[str]
) -> None:
    assert found(prompt) == unknown


def test_a_text_without_end_has_an_end() -> None:
    assert len(found("zebra " * 5000)) == 50


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    yield staged
    staged.end()


def test_words_are_told_of_after_a_pause_and_go_at_once(staged: Staged) -> None:
    form, unknown = staged.session.generation, staged.session.prompts.unknown
    form.prompt = "a woman"
    assert unknown.words == ()
    staged.wait(lambda: [word.word for word in unknown.words] == ["woman"])
    form.prompt = "a boat"
    assert unknown.words == ()


def test_words_are_looked_up_once_for_many_keys(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []

    def look_up(prompt: str) -> tuple[UnknownWord, ...]:
        looked_up.append(prompt)
        return ()

    monkeypatch.setattr("app.form.unknown_words.unknown_words", look_up)
    for length in range(1, 8):
        staged.session.generation.prompt = "a woman"[:length]
    assert looked_up == []
    staged.wait(lambda: looked_up == ["a woman"])


def test_other_models_are_not_said_to_know_or_not(staged: Staged) -> None:
    form, unknown = staged.session.generation, staged.session.prompts.unknown
    form.prompt = "a woman"
    staged.wait(lambda: bool(unknown.words))
    form.checkpoint = Path("/models/other.safetensors")
    assert unknown.words == ()
    form.checkpoint = staged.session.checkpoints.starter
    assert [word.word for word in unknown.words] == ["woman"]


def test_names_of_embeddings_are_no_unknown_words(qtbot: QtBot, tmp_path: Path) -> None:
    listed = (EmbeddingInfo(name="moonlight"), EmbeddingInfo(name="my style"))
    staged = Staged(tmp_path, qtbot, fake_command(Plan(loras=(), embeddings=listed)), QUICK).start()
    form, unknown = staged.session.generation, staged.session.prompts.unknown
    form.prompt = "a woman, (Moonlight:1.2), my style, moonlight"
    # They are unknown until the embeddings are listed.
    staged.wait(lambda: [word.word for word in unknown.words] == ["woman"])
    staged.end()


def test_sides_that_the_starter_cannot_draw_are_warned_of() -> None:
    side, longest = STARTER_SUGGESTIONS.side, STARTER_SUGGESTIONS.longest_side
    assert longest == STARTER_LONGEST_SIDE
    assert size_fit(320, 320, side, longest) is SizeFit.GOOD
    assert size_fit(384, 256, side, longest) is SizeFit.BEYOND
    assert size_fit(1024, 1024, side, longest) is SizeFit.BEYOND
