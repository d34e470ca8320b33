"""The names of embeddings in prompts, in the spellings and with the weights of each tool."""

import pytest

from app.form.embedding_texts import mentions, spelled, with_mention, with_weight, without_mention
from app.form.prompt_weights import weight_of
from engine.api.conventions import Convention, convention_of
from engine.api.values import ConventionName

A1111, COMFY, DIFFUSERS, INVOKE = map(convention_of, ConventionName)
CAFE_NFC, CAFE_NFD = "caf\u00e9", "cafe\u0301"
NAMES = ("bad", "bad-hands-5", "EasyNegative", "cat toy")


def named(text: str, convention: Convention = A1111) -> list[tuple[str, float | None]]:
    found = mentions(text, NAMES, convention)
    return [
        (mention.name, weight_of(text, mention.start, mention.end, convention.grammar))
        for mention in found
    ]


def test_names_are_found_with_their_weights() -> None:
    text = "a house, (bad-hands-5:1.3), easynegative, badge, (a cat toy), bad"
    assert named(text) == [("bad-hands-5", 1.3), ("EasyNegative", 1), ("cat toy", 1), ("bad", 1)]


def test_accents_are_found_in_whatever_form_a_file_and_a_text_have_them() -> None:
    for name, text in ((CAFE_NFD, CAFE_NFC), (CAFE_NFC, CAFE_NFD)):
        (mention,) = mentions(f"a ({text}:1.2)", [name], A1111)
        assert (mention.name, mention.end - mention.start) == (name, len(text))


@pytest.mark.parametrize(
    ("convention", "text", "found"),
    [
        (COMFY, "a embedding:bad, (embedding:bad-hands-5.pt:0.7) EasyNegative", ["bad", 0.7]),
        (COMFY, "(<embed:EasyNegative>:1.2) xembedding:bad", ["EasyNegative", 1.2]),
        (INVOKE, "(<EasyNegative>)1.2 bad", ["EasyNegative", 1.2]),
        (DIFFUSERS, "<EasyNegative> bad", ["EasyNegative", None]),
    ],
)
def test_each_tool_has_its_spelling(convention: Convention, text: str, found: list[object]) -> None:
    listed = named(text, convention)
    assert [listed[0][0], listed[-1][1]] == found
    # A name that none of a tool's spellings can have is written as it is.
    assert all(with_mention("", name, convention).count(name) == 1 for name in NAMES)


@pytest.mark.parametrize("convention", [A1111, COMFY, INVOKE])
def test_a_weight_is_written_changed_and_removed(convention: Convention) -> None:
    text = with_mention("a house, ", "EasyNegative", convention)
    for weight in (1.25, 0.6, 1.0):
        (mention,) = mentions(text, NAMES, convention)
        text = with_weight(text, mention, weight, convention)
        assert named(text, convention) == [("EasyNegative", weight)]
    assert text == f"a house, {spelled('EasyNegative', convention)}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("bad", ""),
        ("a house, bad", "a house"),
        ("bad, a house", "a house"),
        ("a, (bad:1.2), b", "a, b"),
        ("a bad b", "a b"),
        ("(bad, b:1.2)", "(b:1.2)"),
        ("a,\nbad, b", "a,\nb"),
    ],
)
def test_a_name_is_removed_with_its_brackets_and_comma(before: str, after: str) -> None:
    (mention,) = mentions(before, NAMES, A1111)
    assert without_mention(before, mention, A1111) == after
