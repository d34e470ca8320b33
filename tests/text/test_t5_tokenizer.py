"""T5's tokenizer: ids frozen from transformers, places in the text, odd texts."""

import json
from collections.abc import Callable

import pytest

from engine.text.t5_tokenizer import load_t5_tokenizer
from tests.text.freeze_t5_tokens import FROZEN, digest_of
from tests.text.t5_cases import BY_HAND

T5 = load_t5_tokenizer()
BY_FILE = load_t5_tokenizer(by_file=True)


@pytest.mark.parametrize(
    ("kind", "encode"), [("file", BY_FILE.encode), ("transformers", T5.encode)]
)
def test_ids_are_those_of_transformers(kind: str, encode: Callable[[str], list[int]]) -> None:
    frozen = json.loads(FROZEN.read_text())[kind]
    for text, ids in zip(BY_HAND, frozen["by_hand"], strict=True):
        assert encode(text) == ids, text
    assert digest_of(encode) == frozen["drawn"]


def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    assert T5.encode("a\udc80b") == T5.encode("a\ufffdb")


def test_places_are_those_of_the_words() -> None:
    text = "a  photograph of\U0001f3a8 caf\u00e9"
    ids = T5.encode(text)
    indices = [ids.index(T5.encode(word)[0]) for word in ("photograph", "of", "caf\u00e9")]
    assert T5.characters_of(text, [*indices, len(ids)]) == [3, 14, 18, None]


def test_places_count_both_halves_of_a_split_character() -> None:
    halves = "\ud83c\udfa8 cat"
    assert T5.characters_of(halves, [len(T5.encode(halves)) - 1]) == [3]


def test_a_text_far_too_long_is_not_read_to_its_end() -> None:
    text = "cat " * 200_000
    assert 1000 < len(T5.encode_up_to(text, 1000)) < 10_000
    assert T5.encode_up_to("cat " * 9000, 50_000) == T5.encode("cat " * 9000)
