"""Qwen's tokenizer: ids frozen from transformers, special tokens, places in the text."""

import json

from engine.text.qwen_tokenizer import load_qwen_tokenizer
from tests.text.freeze_qwen_tokens import CHATS, FROZEN
from tests.text.freeze_t5_tokens import digest_of
from tests.text.t5_cases import BY_HAND

QWEN = load_qwen_tokenizer()


def test_ids_are_those_of_transformers() -> None:
    frozen = json.loads(FROZEN.read_text())
    for text, ids in zip((*BY_HAND, *CHATS), frozen["by_hand"], strict=True):
        assert QWEN.encode(text) == ids, text
    assert digest_of(QWEN.encode) == frozen["drawn"]


def test_special_tokens_have_the_ids_after_the_byte_pairs() -> None:
    assert QWEN.encode("<|endoftext|>") == [QWEN.pad_id]
    assert QWEN.encode("<|im_start|><|im_end|></think>") == [151_644, 151_645, 151_668]


def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    assert QWEN.encode("a\udc80b") == QWEN.encode("a\ufffdb")


def test_places_are_those_of_the_words() -> None:
    text = "a photograph of\U0001f3a8 caf\u00e9"
    ids = QWEN.encode(text)
    found = [ids.index(QWEN.encode(word)[0]) for word in (" photograph", " of")]
    assert QWEN.characters_of(text, [*found, len(ids)]) == [1, 12, None]


def test_a_text_far_too_long_is_not_read_to_its_end() -> None:
    assert 1000 < len(QWEN.encode_up_to("cat " * 200_000, 1000)) < 10_000
