"""CLIP's token ids, and tokenizers read from a folder."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api import ErrorCode
from engine.errors import EngineError
from engine.text.tokenizers import ClipTokenizer, load_clip_tokenizer, load_tokenizer


# Ids of openai/clip-vit-large-patch14's tokenizer.
@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", []),
        ("a photo of a cat", [320, 1125, 539, 320, 2368]),
        (
            "a photo of an astronaut riding a horse on mars",
            [320, 1125, 539, 550, 18376, 6765, 320, 4558, 525, 7496],
        ),
        ("A  PHOTO\n\tof a Cat", [320, 1125, 539, 320, 2368]),
        (",", [267]),
        ("<|endoftext|>", [49407]),
        ("1234", [272, 273, 274, 275]),
        ("it's", [585, 568]),
    ],
)
def test_texts_have_the_known_ids(text: str, ids: list[int]) -> None:
    assert load_clip_tokenizer().encode(text) == ids


def test_properties_of_the_packaged_vocabulary() -> None:
    clip = load_clip_tokenizer()
    assert (clip.start_id, clip.end_id, clip.pad_id) == (49406, 49407, 49407)
    assert clip.comma_id == 267


def test_a_padding_token_is_special_anywhere_in_the_text() -> None:
    clip = load_clip_tokenizer()
    zero = clip.filling_with_zero()
    assert (zero.pad_id, zero.end_id) == (0, clip.end_id)
    assert (clip.encode("cat!!"), zero.encode("cat!!")) == ([2368, 748], [2368, 0, 0])
    assert zero.filling_with_zero() is zero
    # Each takes a tenth of a second to make.
    assert clip.filling_with_zero() is zero
    assert zero.filling_with_end().encode("cat!!") == [2368, 748]
    assert clip.filling_with_end() is clip


@pytest.mark.parametrize(
    ("spelling", "other"),
    [("caf\u0065\u0301", "caf\u00e9"), ("\ud83d\ude00", "😀"), ("\ud800", "\ufffd")],
    ids=["decomposed", "surrogate pair", "lone surrogate"],
)
def test_equivalent_spellings_have_equal_ids(spelling: str, other: str) -> None:
    assert load_clip_tokenizer().encode(spelling) == load_clip_tokenizer().encode(other)


@settings(deadline=None)  # the first example loads the vocabulary
@given(text=st.text(st.characters(), max_size=50))
def test_any_text_has_ids_in_the_vocabulary(text: str) -> None:
    clip = load_clip_tokenizer()
    assert all(0 <= token <= clip.end_id for token in clip.encode(text))


@pytest.mark.parametrize("text", ["\0", "\u202eabc\u202c", "\u200d", "👩‍👩‍👧‍👦", "\x7f"])
def test_unusual_characters_have_tokens(text: str) -> None:
    assert load_clip_tokenizer().encode(text)


def test_a_million_characters_are_encoded_within_bounds() -> None:
    assert len(load_clip_tokenizer().encode("word, " * 160_000)) == 320_000
    assert load_clip_tokenizer().encode("a" * 1_000_000)


LETTERS = {letter: index for index, letter in enumerate("abcde,")}
SMALL: dict[str, int] = {
    **LETTERS,
    **{letter + "</w>": index + 6 for letter, index in LETTERS.items()},
    "ab": 12,
    "abc</w>": 13,
    "<|startoftext|>": 14,
    "<|endoftext|>": 15,
}
MERGES = "#version: 0.2\na b\nab c</w>\n"


def write_folder(folder: Path, vocabulary: dict[str, int] = SMALL, merges: str = MERGES) -> Path:
    (folder / "vocab.json").write_bytes(msgspec.json.encode(vocabulary))
    (folder / "merges.txt").write_text(merges, "utf-8")
    return folder


def check_small(tokenizer: ClipTokenizer) -> None:
    assert tokenizer.encode("ABC ab, c") == [13, 0, 7, 11, 8]
    assert (tokenizer.start_id, tokenizer.end_id) == (14, 15)
    assert tokenizer.comma_id == 11


def test_a_folder_with_vocabulary_and_merges_is_loaded(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(write_folder(tmp_path))
    check_small(tokenizer)
    assert tokenizer.pad_id == 15


@pytest.mark.parametrize("merges", [["a b", "ab c</w>"], [["a", "b"], ["ab", "c</w>"]]])
def test_a_folder_of_transformers_5_is_loaded(tmp_path: Path, merges: list[object]) -> None:
    model = {"type": "BPE", "vocab": SMALL, "merges": merges}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": model}))
    check_small(load_tokenizer(tmp_path))


def test_special_tokens_map_wins_over_the_configuration(tmp_path: Path) -> None:
    write_folder(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"pad_token": "b", "eos_token": "e</w>"}')
    assert load_tokenizer(tmp_path).pad_id == SMALL["b"]
    (tmp_path / "special_tokens_map.json").write_text('{"pad_token": {"content": "a"}}')
    tokenizer = load_tokenizer(tmp_path)
    assert tokenizer.pad_id == SMALL["a"]
    assert tokenizer.end_id == SMALL["e</w>"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("vocab.json", b"{"),
        ("vocab.json", b"[]"),
        ("vocab.json", b"{}"),
        ("vocab.json", b'{"<|startoftext|>": 0, "<|endoftext|>": 0}'),
        ("vocab.json", b'{"<|startoftext|>": -1, "<|endoftext|>": 0}'),
        ("vocab.json", b'{"<|startoftext|>": 1e30, "<|endoftext|>": 0}'),
        ("vocab.json", b'{"<|startoftext|>": 4294967296, "<|endoftext|>": 0}'),
        ("merges.txt", b"a z\n"),
        ("merges.txt", b"a b c\n"),
        ("merges.txt", b"\xff\xfe"),
        ("special_tokens_map.json", b'{"pad_token": "missing"}'),
        ("special_tokens_map.json", b'{"pad_token": 7}'),
        ("tokenizer_config.json", b"\0"),
    ],
)
def test_damaged_folders_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    write_folder(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EngineError) as caught:
        load_tokenizer(tmp_path)
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT
    assert str(tmp_path) in caught.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write_folder(tmp_path)
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(EngineError, match=r"merges\.txt") as caught:
        load_tokenizer(tmp_path)
    assert caught.value.code is ErrorCode.CHECKPOINT_INCOMPLETE
