"""One value of a document is exchanged, and what a person wrote around it stays."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.toml_text import parse, put, value_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)

WRITTEN = """\
# mine
version = 1

# quality = 92
look = "dark" # at night
folders = [
  "a", # first
  "b",
]
unknown = { x = 1 }

[other]
look = "of another"
"""


@given(value=VALUES)
def test_every_value_comes_back_as_it_was(value: Any) -> None:
    assert tomllib.loads(f"x = {value_text(value)}") == {"x": value}


@given(value=VALUES, name=st.sampled_from(["look", "folders", "quality", "new"]))
def test_a_value_is_put_in_place_and_nothing_else_changes(value: Any, name: str) -> None:
    changed = put(WRITTEN, name, value)
    assert parse(changed) == {**parse(WRITTEN), name: value}
    assert changed.startswith("# mine\n")
    assert changed.endswith('[other]\nlook = "of another"\n')


def test_a_comment_with_the_name_makes_room_for_the_value() -> None:
    assert put(WRITTEN, "quality", 80) == WRITTEN.replace("# quality = 92", "quality = 80")


def test_a_value_that_is_taken_out_stays_as_a_comment() -> None:
    changed = put(WRITTEN, "folders", None)
    assert "folders" not in parse(changed)
    assert '# folders = [\n#   "a", # first\n#   "b",\n# ]\n' in changed


@pytest.mark.parametrize(
    "text",
    ["", "x = 1", "a.look = 1\n", "[look]\nx = 1\n", 't = """\nlook = 1\n"""\n', "look.x = 1\r\n"],
)
def test_a_value_arrives_however_the_document_is_written(text: str) -> None:
    assert parse(put(text, "look", "light"))["look"] == "light"


@pytest.mark.parametrize("text", ["x = ", "[" * 100_000, "x = " + "[" * 5000])
def test_a_text_that_is_no_toml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"at |nested"):
        parse(text)
