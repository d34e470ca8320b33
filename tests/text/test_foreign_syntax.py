"""Signs of dynamicprompts' grammar that ours has not got."""

import pytest

from engine.api.conventions import CONVENTIONS
from engine.api.prompts import HintKind, PromptQuestion
from engine.api.values import ConventionName
from engine.text.checking import check_prompt
from engine.text.foreign_syntax import foreign_marks


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("a {2$$red|green|blue} cat", "{2$$"),
        ("{1-3$$, $$a|b}", "{1-3$$"),
        ("{~a|b}", "{~"),
        ("{@a|b}", "{@"),
        ("__colors*__", "__colors*__"),
        ("__~colors__", "__~colors__"),
        ("${x=!{a|b}} then", "${x="),
        ("say ${x}", "${x}"),
    ],
)
def test_a_sign_of_another_grammar_is_pointed_out(text: str, sign: str) -> None:
    place = text.index(sign)
    assert list(foreign_marks(text)) == [(place, sign)]
    question = PromptQuestion(text=text, convention=CONVENTIONS[ConventionName.A1111])
    found = [h for h in check_prompt(question, None).hints if h.kind is HintKind.FOREIGN]
    assert [(hint.position, hint.subject) for hint in found] == [(place, sign)]


@pytest.mark.parametrize(
    "text",
    ["{a|b}", "{3::a|b}", "__colors__", "\\{2$$a|b\\}", "{~sketch}", "5$ and 6$", "what?", "a*b"],
)
def test_our_own_syntax_and_plain_text_are_not_pointed_out(text: str) -> None:
    assert list(foreign_marks(text)) == []


def test_text_that_is_not_drawn_from_has_no_such_signs() -> None:
    convention = CONVENTIONS[ConventionName.A1111]
    question = PromptQuestion(text="{2$$a|b}", convention=convention, expand_wildcards=False)
    assert check_prompt(question, None).hints == ()


# Quadratic work would take a quarter of an hour.
@pytest.mark.parametrize("piece", ["{~", "__a", "{2", "${x", "__~ *", "_"])
def test_any_text_is_searched_in_linear_time(piece: str) -> None:
    list(foreign_marks(piece * 200_000))
