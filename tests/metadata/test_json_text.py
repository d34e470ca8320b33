"""JSON of unknown origin: what is read, and what costs too much."""

import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.metadata.json_text import as_list, as_object, parse_json, parse_object
from engine.untrusted_json import MAX_STRUCTURE

ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
)


@settings(max_examples=40)
@given(value=ANY)
def test_values_come_back(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_object(json.dumps({"a": value})) == {"a": value}


@given(text=st.lists(st.sampled_from([*'[]{},:"\\ntu1-.e'])).map("".join))
def test_any_text_gives_a_value_or_none(text: str) -> None:
    assert as_object(parse_json(text)) == parse_object(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 1_000_000,
        '{"a":' * 500_000,
        "1" * 5000,
        "[" + "[]," * (MAX_STRUCTURE // 2) + "0]",
        '"\\"' * 400_000,
        '"' + "\\" * 1_200_001,
        "{" + '"a":0,' * (MAX_STRUCTURE // 2) + '"a":0}',
    ],
    ids=["empty", "open", "deep", "deep object", "digits", "lists", "quotes", "escapes", "pairs"],
)
def test_malformed_or_excessive_json_is_none(text: str) -> None:
    tracemalloc.start()
    value = parse_json(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert value is None
    assert peak < 64 << 20


def test_long_strings_do_not_count_as_structure() -> None:
    words = '[{,}] \\" ' * (MAX_STRUCTURE // 2)
    assert parse_json(json.dumps([words])) == [words]


def test_other_types_are_empty() -> None:
    assert as_object([]) == {}
    assert as_list({}) == []
    assert parse_object(None) == parse_object("[]") == {}
