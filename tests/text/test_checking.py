"""The findings on a prompt while it is written, and the character of each."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.paths import starter_checkpoint
from engine.api.conventions import CONVENTIONS
from engine.api.features import TextLength
from engine.api.prompts import HintKind, PromptCheck, PromptQuestion
from engine.api.values import ConventionName
from engine.embeddings.embedding import Embedding
from engine.embeddings.library import WithBundled
from engine.text.checking import check_prompt
from engine.text.tokenizers import load_tokenizer

A1111, COMFY, DIFFUSERS, INVOKE = (CONVENTIONS[name] for name in ConventionName)


def check(text: str, **fields: object) -> PromptCheck:
    """With A1111's habits where no others are given, and no lists of words."""
    question = PromptQuestion(text=text, convention=A1111)
    return check_prompt(msgspec.structs.replace(question, **fields), None)


def test_tokens_are_counted_as_the_tool_does() -> None:
    assert (check("a (red:1.2) house").used, check("a (red:1.2) house").capacity) == (3, 75)
    assert check("a (red:1.2) house", convention=DIFFUSERS).used > 3
    assert check("cat " * 76).capacity == 150
    assert check("a AND b", negative=True).used == 3


def test_a_text_that_is_cut_off_is_reported_with_its_place() -> None:
    text = "cat " * 75 + "two dogs"
    found = check(text, convention=DIFFUSERS)
    assert (found.is_cut, found.cut_words) == (True, 2)
    assert found.cut_at is not None
    assert text[found.cut_at :].strip() == "two dogs"
    assert not check(text).is_cut
    # Of a text that is not all there nobody knows how many words follow.
    assert check(text, convention=DIFFUSERS, complete=False).cut_words is None


def test_the_cut_of_an_expanded_text_has_no_place() -> None:
    text = "{a|b} " + "cat " * 90
    found = check(text, convention=DIFFUSERS)
    assert (found.drawn, found.is_cut, found.cut_at) == (True, True, None)
    literal = check(text, convention=DIFFUSERS, expand_wildcards=False)
    assert not literal.drawn
    assert literal.cut_at is not None


def test_a_hint_points_at_its_characters() -> None:
    text = "a (red <hypernet:foo:0.5> house"
    hints = check(text).hints
    assert [hint.kind for hint in hints] == [HintKind.UNPAIRED, HintKind.NETWORK]
    pointed = [text[hint.position :][: hint.length] for hint in hints]
    assert pointed == ["(", "<hypernet:foo:0.5>"]
    assert [hint.subject for hint in hints] == ["(", "<hypernet:foo>"]


def test_plain_brackets_and_tags_give_no_hints() -> None:
    text = "a (red <hypernet:foo:0.5> house"
    assert check(text, convention=DIFFUSERS).hints == ()
    assert [hint.kind for hint in check("a <hypernet:foo:1>", negative=True).hints] == []
    # But a LoRA's is meant as one.
    tag = "<lora:foo:0.5>"
    for changes in ({"convention": DIFFUSERS}, {"convention": COMFY}, {"negative": True}):
        (hint,) = check(f"a {tag}", **changes).hints
        assert (hint.kind, hint.subject, hint.position) == (HintKind.NETWORK, "<lora:foo>", 2)
        assert hint.length == len(tag)
    # The partner may be in the rest.
    assert HintKind.UNPAIRED not in {hint.kind for hint in check(text, complete=False).hints}


def test_an_error_that_a_job_would_raise_is_a_hint(tmp_path: Path) -> None:
    (hint,) = check("a __nothing__ house").hints
    assert (hint.kind, hint.position) == (HintKind.WILDCARD, 2)
    assert check("a __nothing__ house", expand_wildcards=False).hints == ()
    (tmp_path / "nothing.txt").write_text("small")
    question = PromptQuestion(text="a __nothing__ house", convention=A1111)
    found = check_prompt(question, tmp_path)
    assert (found.hints, found.used, found.drawn) == ((), 3, True)


def test_a_checkpoints_own_words_count(tmp_path: Path) -> None:
    own = starter_checkpoint() / "tokenizer"
    text = "photorealistic masterpiece"
    found = check(text, tokenizer=str(own)).used
    assert found == len(load_tokenizer(own).encode(text)) != check(text).used
    # A damaged one is told of when the checkpoint is used.
    assert check(text, tokenizer=str(tmp_path)).used == check(text).used


def test_a_lora_is_no_mistake_but_one_without_a_number_is() -> None:
    text = "<lora:foo:0.5> <lyco:foo:0@0,1@1:lbw=INS> <lora:foo:[0:1:0.5]>"
    assert check(text).hints == ()
    (hint,) = check("a <lora:foo:strong>").hints
    assert (hint.kind, hint.subject, hint.position) == (HintKind.NETWORK, "<lora:foo>", 2)


@pytest.mark.parametrize("convention", [A1111, COMFY, DIFFUSERS, INVOKE])
@given(st.text(max_size=60) | st.text("([{<>}])|:_,\"' lora+a1", max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_is_taken(convention: object, text: str) -> None:
    found = check(text, convention=convention)
    assert found.text == text
    for hint in found.hints:
        assert 0 <= hint.position <= len(text)
    if found.cut_at is not None:
        assert 0 <= found.cut_at <= len(text)


def test_the_number_of_hints_is_limited() -> None:
    assert len(check("<hypernet:a:1> ( " * 200).hints) == 20


def test_vectors_of_embeddings_count_and_their_troubles_are_hints() -> None:
    tensor = np.zeros((5, 768), np.float32)
    known = WithBundled({"zz": Embedding("zz", {"": tensor})})
    lengths = (TextLength(label="text", tokens=75, key="clip_l", width=768),)
    question = PromptQuestion(text="a zz house", convention=A1111, lengths=lengths)
    found = check_prompt(question, None, embeddings=known)
    assert (found.used, found.hints) == (7, ())
    # Without a checkpoint nobody knows what embeddings are for.
    unknown = msgspec.structs.replace(question, lengths=())
    assert check_prompt(unknown, None, embeddings=known).used == 3
    comfy = msgspec.structs.replace(question, text="a embedding:none house", convention=COMFY)
    (hint,) = check_prompt(comfy, None, embeddings=known).hints
    assert (hint.kind, hint.position, hint.length) == (HintKind.EMBEDDING, 12, 4)
    assert '"none" was not found' in str(hint.subject)
    # Letters before it that are two in lower case take one place.
    text = "Stra\u00dfe \u0130 embedding:None house"
    comfy = msgspec.structs.replace(question, text=text, convention=COMFY)
    (hint,) = check_prompt(comfy, None, embeddings=known).hints
    assert text[hint.position : hint.position + hint.length] == "None"


def test_a_list_that_does_not_exist_is_named_where_it_stands() -> None:
    (hint,) = check("a __animal__ house").hints
    assert (hint.kind, hint.subject) == (HintKind.WILDCARD, "animal")
    assert (hint.position, hint.length) == (2, len("__animal__"))


def test_a_slip_in_the_name_of_an_embedding_is_told_with_the_name() -> None:
    tensor = np.zeros((2, 768), np.float32)
    names = ("EasyNegative", "detail", "bad-hands-5", "cat toy")
    known = WithBundled({name: Embedding(name, {"": tensor}) for name in names})

    def slips(text: str, convention: object = A1111) -> list[tuple[str, str]]:
        question = msgspec.structs.replace(
            PromptQuestion(text=text, convention=A1111), convention=convention
        )
        hints = check_prompt(question, None, embeddings=known).hints
        return [(text[h.position : h.position + h.length], str(h.subject)) for h in hints]

    assert slips("a house, (easynegtive:1.2), dog") == [("easynegtive", "EasyNegative")]
    assert slips("bad-hadns-5.") == [("bad-hadns-5", "bad-hands-5")]
    assert slips("a dog; ..bad-hadns-5!") == [("bad-hadns-5", "bad-hands-5")]
    # What is a name, an ordinary word, or near to none.
    assert slips("EASYNEGATIVE, details of a house, cat toy, portrait, brushstrokes") == []
    assert slips("easynegtive", COMFY) == []


def test_text_encoders_are_counted_apart_where_an_embedding_is_for_one_of_them() -> None:
    both = {"clip_l": np.zeros((4, 768), np.float32), "clip_g": np.zeros((4, 1280), np.float32)}
    first = {"": np.zeros((5, 768), np.float32)}
    known = WithBundled({"both": Embedding("both", both), "first": Embedding("first", first)})
    lengths = tuple(
        TextLength(label=key, tokens=75, key=key, width=width)
        for key, width in (("clip_l", 768), ("clip_g", 1280))
    )

    def counts(text: str) -> list[tuple[str, int, int]]:
        question = PromptQuestion(text=text, convention=COMFY, lengths=lengths)
        found = check_prompt(question, None, embeddings=known)
        return [(encoder.key, encoder.used, encoder.capacity) for encoder in found.encoders]

    assert counts("a embedding:both house") == []
    assert counts("a embedding:first house") == [("clip_l", 7, 75), ("clip_g", 2, 75)]
    assert counts("(a embedding:first:1.2) house (") == [
        ("clip_l", 8, 75),
        ("clip_g", 3, 75),
    ]
