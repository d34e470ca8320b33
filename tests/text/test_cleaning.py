"""The cleaning of characters that tools do before they tokenize, compared with their token ids.

Frozen by freeze_tokens.py: the oracle environment's transformers has no such tokenizer any more.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.conventions import CONVENTIONS
from engine.api.prompt_rules import TextCleaning
from engine.api.values import ConventionName
from engine.text.cleaning import cleaner
from engine.text.tokenizers import load_clip_tokenizer
from tests.text.token_cases import TEXTS

FROZEN: dict[str, list[list[int]]] = json.loads(
    (Path(__file__).parent / "frozen" / "tokens.json").read_text()
)
CLEANERS = {
    "ftfy": cleaner(TextCleaning.FTFY),
    "basic": cleaner(TextCleaning.BASIC),
    "open_clip": cleaner(TextCleaning.FTFY, open_clip=True),
}
# OpenCLIP's own tokenizer calls its special tokens otherwise; CLIP's are text to it.
DIFFERENT = {("open_clip", text) for text in TEXTS if "<|endoftext|>" in text}
CASES = [
    (name, text, ids)
    for name in CLEANERS
    for text, ids in zip(TEXTS, FROZEN[name], strict=True)
    if (name, text) not in DIFFERENT
]


@pytest.mark.parametrize(("name", "text", "ids"), CASES)
def test_tokens_equal_those_of_the_tools_tokenizer(name: str, text: str, ids: list[int]) -> None:
    assert load_clip_tokenizer().cleaning(CLEANERS[name]).encode(text) == ids


def test_curly_quotes_and_wide_commas_are_plain_ones_in_a1111() -> None:
    convention = CONVENTIONS[ConventionName.A1111]
    tokenizer = load_clip_tokenizer().cleaning(cleaner(convention.text_cleaning))
    assert tokenizer.encode("it\u2019s a cat\uff0c") == tokenizer.encode("it's a cat,")


def test_chinese_characters_are_words_each_in_comfyui() -> None:
    convention = CONVENTIONS[ConventionName.COMFY]
    tokenizer = load_clip_tokenizer().cleaning(cleaner(convention.text_cleaning))
    assert tokenizer.encode("\u732b\u72d7") == tokenizer.encode("\u732b \u72d7")
    assert load_clip_tokenizer().encode("\u732b\u72d7") != tokenizer.encode("\u732b\u72d7")


@given(st.text(alphabet=st.sampled_from("aZ 1,&;\u2019\u732b\u00e9\u200d\ud800\n"), max_size=40))
def test_any_text_can_be_cleaned(text: str) -> None:
    for clean in CLEANERS.values():
        load_clip_tokenizer().cleaning(clean).encode(text)


def test_the_place_of_a_token_is_found_where_cleaning_moves_characters() -> None:
    tokenizer = load_clip_tokenizer().cleaning(CLEANERS["ftfy"])
    text = "\u201ca\u201d &amp; big cat"
    ids = tokenizer.encode(text)
    last, beyond = tokenizer.characters_of(text, (len(ids) - 1, len(ids)))
    assert last in range(len("\u201ca\u201d &amp; big"), len(text))
    assert beyond is None


def test_a_tokenizer_with_the_same_cleaning_is_reused() -> None:
    tokenizer = load_clip_tokenizer().cleaning(CLEANERS["ftfy"])
    assert tokenizer.cleaning(CLEANERS["ftfy"]) is tokenizer
    assert tokenizer.filling_with_zero().pad_id == 0
