"""The attention grammars, beside what the tools they come from answer."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.a1111 import parse_attention
from engine.text.comfy import parse_attention_comfy
from engine.text.prompt import MAX_WEIGHT, Break, PromptPart, WeightedText
from tests.counted_work import assert_linear

Expected = tuple[str, float] | str

# Answers of AUTOMATIC1111's parse_prompt_attention (0674fab); "BREAK" alone is its marker.
A1111: list[tuple[str, list[Expected]]] = [
    ("", [("", 1.0)]),
    ("normal text", [("normal text", 1.0)]),
    ("an (important) word", [("an ", 1.0), ("important", 1.1), (" word", 1.0)]),
    ("(unbalanced", [("unbalanced", 1.1)]),
    ("\\(literal\\]", [("(literal]", 1.0)]),
    ("(unnecessary)(parens)", [("unnecessaryparens", 1.1)]),
    (
        "a (((house:1.3)) [on] a (hill:0.5), sun, (((sky))).",
        [
            ("a ", 1.0),
            ("house", 1.5730000000000004),
            (" ", 1.1),
            ("on", 1.0),
            (" a ", 1.1),
            ("hill", 0.55),
            (", sun, ", 1.1),
            ("sky", 1.4641000000000006),
            (".", 1.1),
        ],
    ),
    ("[[less]] ((more))", [("less", 0.8264462809917354), (" ", 1.0), ("more", 1.2100000000000002)]),
    ("(a [b) c]", [("a ", 1.1), ("b", 1.0), (" c", 0.9090909090909091)]),
    ("([neutral])", [("neutral", 1.0)]),
    ("a\\b \\\\ c", [("ab \\ c", 1.0)]),
    ("10:30, a:b", [("10:30, a:b", 1.0)]),
    ("(x:1.3", [("x:1.3", 1.1)]),
    ("(x: 1.3 ) (y :2)", [("x", 1.3), (" ", 1.0), ("y ", 2.0)]),
    ("x:1.3)", [("x:1.3)", 1.0)]),
    (
        "(weak:-0.5) (none:0) (plus:+2)",
        [("weak", -0.5), (" ", 1.0), ("none", 0.0), (" ", 1.0), ("plus", 2.0)],
    ),
    ("(:1.2)", [("", 1.0)]),
    ("()", [("", 1.0)]),
    ("(())", [("", 1.0)]),
    ("a) b] c", [("a) b] c", 1.0)]),
    ("(a:1.2:1.4)", [("a:1.2", 1.4)]),
    ("a BREAK b", [("a", 1.0), "BREAK", ("b", 1.0)]),
    ("BREAK", [("", 1.0), "BREAK", ("", 1.0)]),
    ("a BREAKS b", [("a BREAKS b", 1.0)]),
    ("(a BREAK b)", [("a", 1.1), ("BREAK", -1.1), ("b", 1.1)]),
    ("([a BREAK b])", [("a", 1.0), "BREAK", ("b", 1.0)]),
    ("a, BREAK\n BREAK b", [("a,", 1.0), "BREAK", ("", 1.0), "BREAK", ("b", 1.0)]),
    ("[from:to:0.5]", [("from:to:0.5", 0.9090909090909091)]),
    ("((a:1.1)[b](c:0.9", [("a", 1.2100000000000002), ("b", 1.0), ("c:0.9", 1.2100000000000002)]),
    ("(猫:1.2), 😀", [("猫", 1.2), (", 😀", 1.0)]),
]

# Answers of ComfyUI's token_weights with its escapes undone.
COMFY: list[tuple[str, list[Expected]]] = [
    ("", [("", 1.0)]),
    ("plain [not] BREAK", [("plain [not] BREAK", 1.0)]),
    ("an (important) word", [("an ", 1.0), ("important", 1.1), (" word", 1.0)]),
    ("((foo:1.1))", [("foo", 1.1)]),
    ("((foo):1.1)", [("foo", 1.2100000000000002)]),
    ("(a (b:1.2) c)", [("a ", 1.1), ("b", 1.2), (" c", 1.1)]),
    ("(a:1.2) (b: 0.5 ) (c:1e1)", [("a", 1.2), (" ", 1.0), ("b", 0.5), (" ", 1.0), ("c", 10.0)]),
    ("(a:b)", [("a:b", 1.1)]),
    ("(:1.2)", [(":1.2", 1.1)]),
    ("()", [("", 1.0)]),
    ("\\(literal\\) (x\\):1.3)", [("(literal) ", 1.0), ("x)", 1.3)]),
    ("open (rest b", [("open ", 1.0), ("(rest b", 1.0)]),
    ("((a)", [("(a", 1.1)]),
    ("((a:1.2)", [("(a", 1.2)]),
    ("x (((a) b)", [("x ", 1.0), ("((a) b", 1.1)]),
    ("extra) (b) (c)", [("extra) (b) (c)", 1.0)]),
    ("(a)) (b) (c)", [("a", 1.1), (") (b) (c)", 1.0)]),
    ("(a:1.2:1.4)", [("a:1.2", 1.4)]),
    ("(t(u:2)v:0.5)", [("t", 0.5), ("u", 2.0), ("v", 0.5)]),
    ("ab!(c", [("ab!", 1.0), ("(c", 1.0)]),
    ("((((a b:3)", [("(((a b", 3.0)]),
]

ALPHABET = st.sampled_from(
    [*"()[]\\:ab ,.-\n1\0\ud800", " BREAK ", ":1.3)", ":-1)", ":1.2.3)", "猫"]
)
PROMPTS = st.lists(ALPHABET, max_size=40).map("".join)
GRAMMARS = [parse_attention, parse_attention_comfy]


def plain(parts: tuple[PromptPart, ...]) -> list[Expected]:
    return [(p.text, p.weight) if isinstance(p, WeightedText) else "BREAK" for p in parts]


@pytest.mark.parametrize(("text", "expected"), A1111)
def test_a1111s_grammar_gives_its_parts_and_weights(text: str, expected: list[Expected]) -> None:
    assert plain(parse_attention(text)) == expected


@pytest.mark.parametrize(("text", "expected"), COMFY)
def test_comfyuis_grammar_gives_its_parts_and_weights(text: str, expected: list[Expected]) -> None:
    assert plain(parse_attention_comfy(text)) == expected


def test_a_malformed_number_is_text() -> None:
    assert plain(parse_attention("(a:1.2.3) b")) == [("a:1.2.3", 1.1), (" b", 1.0)]
    assert plain(parse_attention("(a:.)")) == [("a:.", 1.1)]
    assert plain(parse_attention_comfy("(a:nan)(b:inf)")) == [("a:nan", 1.1), ("b:inf", 1.1)]


@pytest.mark.parametrize("parse", GRAMMARS)
def test_weights_stay_finite(parse: Callable[[str], tuple[PromptPart, ...]]) -> None:
    parts = parse("(a:" + "9" * 300 + "), " + "(" * 5000 + "b" + ")" * 5000)
    assert plain(parts)[-1] == ("b", MAX_WEIGHT)
    assert plain(parts)[0] == ("a", MAX_WEIGHT)


def test_deep_nesting_agrees_with_the_power() -> None:
    (part,) = parse_attention("(" * 100 + "a" + ")" * 100)
    assert isinstance(part, WeightedText)
    assert part.weight == pytest.approx(1.1**100)
    (part,) = parse_attention("([" * 50 + "a" + "])" * 50)
    assert isinstance(part, WeightedText)
    assert part.weight == pytest.approx(1.0)


@pytest.mark.parametrize("parse", GRAMMARS)
@given(text=PROMPTS)
def test_any_text_has_finite_weights(
    parse: Callable[[str], tuple[PromptPart, ...]], text: str
) -> None:
    parts = parse(text)
    assert parts
    for part in parts:
        assert isinstance(part, Break) or abs(part.weight) <= MAX_WEIGHT


@given(text=st.text(st.characters(exclude_characters="()[]\\"), max_size=60))
def test_text_without_brackets_is_kept(text: str) -> None:
    assert plain(parse_attention_comfy(text)) == [(text, 1.0)]
    if "BREAK" not in text:
        assert plain(parse_attention(text)) == [(text, 1.0)]


@given(text=st.text(max_size=60))
def test_escaping_makes_any_text_literal(text: str) -> None:
    escaped = "".join("\\" + c if c in "()[]\\" else c for c in text)
    if "BREAK" not in text:
        assert plain(parse_attention(escaped)) == [(text, 1.0)]


# Texts of a number of pieces, and how many pieces are some million characters.
LONG_TEXTS: dict[str, tuple[Callable[[int], str], int]] = {
    "words": (lambda n: "a word, " * n, 125_000),
    "spaces": (lambda n: " " * n, 1_000_000),
    "deep": (lambda n: "(" * n + "a" + ")" * n, 100_000),
    "weights": (lambda n: "(a" * n + ":1.2)" * n, 100_000),
    "crossed": (lambda n: "[(a" * n + ")]" * (n // 2), 50_000),
    "colons": (lambda n: ":1.1" * n, 250_000),
    "digits": (lambda n: "(:" + "1" * n + ")", 1_000_000),
}


@pytest.mark.parametrize("parse", GRAMMARS)
@pytest.mark.parametrize("name", LONG_TEXTS)
def test_the_work_grows_with_the_length_of_a_prompt(
    parse: Callable[[str], tuple[PromptPart, ...]], name: str
) -> None:
    text, _ = LONG_TEXTS[name]
    assert_linear(lambda pieces: parse(text(pieces)))


@pytest.mark.parametrize("parse", GRAMMARS)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in {"deep", "weights"}))
        for name in LONG_TEXTS
    ],
)
def test_a_million_characters_come_to_an_end(
    parse: Callable[[str], tuple[PromptPart, ...]], name: str
) -> None:
    text, pieces = LONG_TEXTS[name]
    assert parse(text(pieces))
