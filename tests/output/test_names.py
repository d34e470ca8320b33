"""The folder of `--out`, and file names that every system accepts."""

import unicodedata
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api import ErrorCode
from engine.api.picture_names import PictureFacts, counter_of, stem_of, unknown_placeholders
from engine.api.saving import DEFAULT_NAME
from engine.errors import EngineError
from engine.output.names import (
    Destination,
    destination,
    sibling_names,
)

RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}


HINDI = "\u0939\u093f\u0928\u094d\u0926\u0940"


def named(counter: int, seed: int, prompt: str) -> str:
    facts = PictureFacts(seed=seed, prompt=prompt)
    return f"{stem_of(DEFAULT_NAME, facts, counter)}.png"


@pytest.mark.parametrize("out", ["pictures", "pictures/", "new.png/", "v1.5", "a/b c", ".", ""])
def test_paths_of_folders_are_recognised(out: str) -> None:
    assert destination(out) == Destination(Path(out))


@pytest.mark.parametrize(
    ("out", "folder", "name"),
    [
        ("cat.png", ".", "cat.png"),
        ("cat.webp", ".", "cat.webp"),
        ("c.JPG", ".", "c.JPG"),
        ("a/b/Cat.PNG", "a/b", "Cat.PNG"),
        ("./x.y.png", ".", "x.y.png"),
    ],
)
def test_paths_of_files_are_recognised(out: str, folder: str, name: str) -> None:
    assert destination(out) == Destination(Path(folder), name)
    assert destination(out, count=2) == Destination(Path(folder), name, numbered=True)


def test_an_existing_folder_may_be_called_anything(tmp_path: Path) -> None:
    folder = tmp_path / "odd.png"
    folder.mkdir()
    assert destination(str(folder), count=3) == Destination(folder)


@pytest.mark.parametrize("out", ["cat.avif", "a/cat.TIFF", "cat.bmp"])
def test_other_formats_are_refused_with_the_right_name(out: str) -> None:
    with pytest.raises(EngineError) as caught:
        destination(out)
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert "cat.png" in caught.value.hint


@pytest.mark.parametrize(
    ("counter", "prompt", "name"),
    [
        (1, "A red house, at night!", "00001-7-a-red-house-at-night.png"),
        (12345678, "", "12345678-7.png"),
        (2, "../../etc/passwd", "00002-7-etc-passwd.png"),
        (3, "猫と犬, \uff26\uff35\uff2c\uff2c", "00003-7-猫と犬-full.png"),
        (4, "\0\u202e<b>|*?", "00004-7-b.png"),
        # Not all scripts have spaces.
        (5, "\u732b" * 21 + " y", "00005-7-" + "\u732b" * 20 + ".png"),
        (6, "word " * 1000, "00006-7-" + "-".join(["word"] * 12) + ".png"),
        (7, "con. nul ", "00007-7-con-nul.png"),
        # Vowels are marks in some scripts; the one that colours a heart is none of a word.
        (8, f"{HINDI} \u2764\ufe0f a\ufe0f", f"00008-7-{HINDI}-a.png"),
    ],
)
def test_a_picture_in_a_folder_has_counter_seed_and_words(
    counter: int, prompt: str, name: str
) -> None:
    assert named(counter, 7, prompt) == name
    assert counter_of(DEFAULT_NAME, name) == counter


@given(
    counter=st.integers(1, 10**9), seed=st.integers(0, 2**64 - 1), prompt=st.text(st.characters())
)
def test_names_are_valid_on_every_system(counter: int, seed: int, prompt: str) -> None:
    name = named(counter, seed, prompt)
    assert len(name.encode()) < 120
    assert not set(name) & set('<>:"/\\|?*\0')
    assert name.isprintable()
    assert name.partition(".")[0].casefold() not in RESERVED
    assert name.endswith(".png")
    assert name[0].isdigit()
    assert counter_of(DEFAULT_NAME, name) == counter


@pytest.mark.parametrize(
    "name", ["cat.png", "1234-x.png", "00001 x.png", "\u0660" * 5 + "-1.png", "-00001-"]
)
def test_other_names_have_no_counter(name: str) -> None:
    assert counter_of(DEFAULT_NAME, name) == 0


def test_a_taken_name_gets_a_number() -> None:
    assert list(islice(sibling_names("a.b.png", numbered=False), 3)) == [
        "a.b.png",
        "a.b-1.png",
        "a.b-2.png",
    ]
    assert next(sibling_names("a.png", numbered=True)) == "a-1.png"


FACTS = PictureFacts(
    seed=7,
    prompt="A red house",
    checkpoint=r"C:\models\Dream Shaper_8.safetensors",
    sampler="dpmpp_2m",
    steps=20,
    guidance=7.5,
    width=512,
    height=768,
    made=datetime(2026, 3, 9, 5, 7, 1, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("pattern", "stem"),
    [
        ("{date}_{time}-{model}", "2026-03-09_05-07-01-Dream-Shaper_8"),
        (
            "{prompt} {width}x{height}, {sampler} {steps} at {guidance}",
            "a-red-house 512x768, dpmpp_2m 20 at 7.5",
        ),
        ("{nonsense}-{seed}", "7"),
        ("a/b\\c:{counter}", "a-b-c-00042"),
        ("..{seed}. ", "7"),
        ("con", "_con"),
        ("{}", "7"),
    ],
)
def test_a_pattern_is_filled_with_the_facts_of_a_picture(pattern: str, stem: str) -> None:
    assert stem_of(pattern, FACTS, 42) == stem


@pytest.mark.parametrize(
    "pattern", ["{counter}", "{date} {counter}", "{prompt}-{counter}-{seed}", "my {counter}.{seed}"]
)
def test_the_counter_is_found_wherever_a_pattern_has_it(pattern: str) -> None:
    name = f"{stem_of(pattern, FACTS, 42)}.webp"
    assert counter_of(pattern, name) == 42


@pytest.mark.parametrize(
    "pattern", ["{date}/{counter}", 'a: "{model}" {counter}|{seed}', "b\t/{counter}?"]
)
def test_the_counter_is_found_where_a_pattern_has_signs_that_names_cannot_have(
    pattern: str,
) -> None:
    name = f"{stem_of(pattern, FACTS, 42)}.png"
    assert counter_of(pattern, name) == 42


def test_the_counter_is_found_where_a_system_takes_letters_apart() -> None:
    name = unicodedata.normalize("NFD", f"{stem_of('für {counter}', FACTS, 42)}.png")
    assert counter_of("für {counter}", name) == 42


@pytest.mark.parametrize(
    "pattern", ["{prompt}-{counter}", "{model} {prompt}_{counter}-{seed}", "{sed}-{counter}"]
)
def test_the_counter_is_found_where_nothing_is_known_before_it(pattern: str) -> None:
    name = f"{stem_of(pattern, PictureFacts(seed=3141592653), 42)}.png"
    assert counter_of(pattern, name) == 42


def test_a_seed_before_the_counter_is_not_taken_for_it() -> None:
    facts = PictureFacts(seed=3141592653)
    name = f"{stem_of('{prompt}-{seed}-{counter}', facts, 42)}.png"
    assert counter_of("{prompt}-{seed}-{counter}", name) == 42


@pytest.mark.parametrize(
    "pattern",
    ["{date}{counter}", "{seed}{counter}-{prompt}", "{prompt}{counter}", "{counter}{seed}"],
)
def test_the_counter_is_found_beside_the_digits_of_another_fact(pattern: str) -> None:
    facts = msgspec.structs.replace(FACTS, seed=3141592653, prompt="score 9")
    name = f"{stem_of(pattern, facts, 42)}.png"
    assert counter_of(pattern, name) == 42


@given(pattern=st.text(st.characters(), min_size=1, max_size=200), prompt=st.text())
def test_every_pattern_gives_names_that_every_system_takes(pattern: str, prompt: str) -> None:
    stem = stem_of(pattern, PictureFacts(seed=7, prompt=prompt), 1)
    assert 0 < len(stem.encode()) <= 150
    assert not set(stem) & set('<>:"/\\|?*\0')
    assert stem.isprintable()
    assert not stem.startswith(".")
    assert stem.rstrip(" .") == stem
    assert stem.partition(".")[0].casefold() not in RESERVED


def test_words_in_braces_without_a_meaning_are_named() -> None:
    assert unknown_placeholders("{seed}-{sed}-{}-{counter}") == ("sed", "")
