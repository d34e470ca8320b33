"""The weight of what is selected, or of the word at the cursor, step by step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.form.prompt_weights import FINE_STEP, STEP, change_weight
from engine.api.prompt_rules import PromptGrammar

A1111, COMPEL = PromptGrammar.A1111, PromptGrammar.COMPEL


def pressed(text: str, *steps: float, grammar: PromptGrammar = A1111) -> str:
    """Press keys on a text whose selection is between bars, or whose cursor is at one."""
    first, last = text.index("|"), text.rindex("|")
    plain = text.replace("|", "")
    selection = first, last - (last > first)
    for step in steps:
        edit = change_weight(plain, *selection, step, grammar)
        if edit is None:
            return "nothing"
        plain = plain[: edit.start] + edit.text + plain[edit.end :]
        selection = edit.selection
    return plain


@pytest.mark.parametrize(
    ("text", "steps", "wanted"),
    [
        ("a re|d house", [STEP], "a (red:1.1) house"),
        ("a red| house", [STEP, STEP], "a (red:1.2) house"),
        ("a red| house", [-STEP], "a (red:0.9) house"),
        ("a red| house", [STEP, -STEP], "a red house"),
        ("a re|d house", [FINE_STEP], "a (red:1.05) house"),
        ("a |red house| here", [STEP, STEP], "a (red house:1.2) here"),
        ("a| red house| here", [STEP], "a (red house:1.1) here"),
        # A word in weighted brackets changes their weight; a selected one gets its own.
        ("(red ho|use:1.2), sea", [STEP], "(red house:1.3), sea"),
        ("(red |house|:1.2), sea", [STEP], "(red (house:1.1):1.2), sea"),
        ("(red (ho|use:1.1):1.2)", [STEP], "(red (house:1.2):1.2)"),
        ("|(red house:1.2)|", [-STEP, -STEP], "red house"),
        # A bracket alone is a weight of 1.1.
        ("(re|d)", [STEP], "(red:1.2)"),
        # Where brackets were typed the cursor is behind them.
        ("a (red:1.2)| house", [STEP, -FINE_STEP], "a (red:1.25) house"),
        ("(a)(re|d)", [STEP], "(a)(red:1.2)"),
        ("((red)|:1.2)", [STEP], "((red):1.3)"),
        (r"a \(smi|le\)", [STEP], r"a (\(smile\):1.1)"),
        ("<lora:sea|side:0.8> sea", [FINE_STEP], "<lora:seaside:0.85> sea"),
        ("<lora:sea|side> sea", [-STEP], "<lora:seaside:0.9> sea"),
        ("<lora:seaside:0.8>| sea", [STEP], "<lora:seaside:0.9> sea"),
        ("<lora:seaside>|sea", [STEP], "<lora:seaside>(sea:1.1)"),
        ("<lyco:sea|side:0.8> sea", [STEP], "<lyco:seaside:0.9> sea"),
        ("<lora:seaside:0.8:0.|5> sea", [STEP], "<lora:seaside:0.9:0.5> sea"),
        # A strength that depends on the steps is none to add to.
        ("<loractl:sea|side:0@0,1@0.5> sea", [STEP], "nothing"),
        ("<lora:seaside:0.5@0,1@|0.5> sea", [STEP], "nothing"),
        ("<embed:seaside>|", [STEP], "nothing"),
        ("(red|:0.1)", [-STEP, -STEP], "(red:0)"),
        ("|((red house|", [STEP], "nothing"),
        ("a, | ,", [STEP], "nothing"),
        ("|", [STEP], "nothing"),
    ],
)
def test_a1111_writes_a_number_in_brackets(text: str, steps: list[float], wanted: str) -> None:
    assert pressed(text, *steps) == wanted


@pytest.mark.parametrize(
    ("text", "steps", "wanted"),
    [
        ("a re|d house", [STEP], "a (red)1.1 house"),
        ("a re|d house", [STEP, STEP, STEP], "a (red)1.3 house"),
        ("a re|d house", [STEP, -STEP], "a red house"),
        ("a |red house|", [-STEP], "a (red house)0.9"),
        ("(red ho|use)1.2", [STEP], "(red house)1.3"),
        ("(red ho|use)++", [STEP], "(red house)1.31"),
        ("a re|d+ house", [STEP], "a (red)1.2 house"),
        ("a |well-made| house", [STEP], "a (well-made)1.1 house"),
    ],
)
def test_invoke_writes_the_number_after_the_brackets(
    text: str, steps: list[float], wanted: str
) -> None:
    assert pressed(text, *steps, grammar=COMPEL) == wanted


def test_diffusers_has_no_weights() -> None:
    assert pressed("a re|d house", STEP, grammar=PromptGrammar.LITERAL) == "nothing"


@given(st.text("ab(): ,[]\\1.<>+-", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_any_text_is_taken(text: str, start: int, end: int) -> None:
    first, last = sorted((min(start, len(text)), min(end, len(text))))
    for grammar in PromptGrammar:
        edit = change_weight(text, first, last, STEP, grammar)
        if edit is not None:
            assert 0 <= edit.start <= edit.end <= len(text)
