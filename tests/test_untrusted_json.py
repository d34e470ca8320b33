"""JSON of others: a text is decoded or is one error, at any depth, and no file is waited for."""

import contextlib
import json
import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.regular_file import read_bounded
from engine.untrusted_json import (
    MAX_DEPTH,
    JsonError,
    decode_any,
    decode_json,
    read_json,
)


class _Part(msgspec.Struct):
    known: list[object] | None = None


_DECODER = msgspec.json.Decoder(_Part)
_DEEP = 100_000


@pytest.mark.parametrize("name", ["known", "unknown"])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_a_text_nested_100000_levels_deep_is_a_json_error(
    name: str, opening: str, closing: str
) -> None:
    text = f'{{"{name}": {opening * _DEEP}0{closing * _DEEP}}}'
    with pytest.raises(JsonError, match="nested too deeply"):
        decode_json(text.encode(), _DECODER)
    with pytest.raises(JsonError, match="nested too deeply"):
        decode_any(text)
    with pytest.raises(JsonError, match="nested too deeply"):
        decode_json(text[: _DEEP // 2].encode(), _DECODER)


def test_depth_is_counted_only_outside_strings() -> None:
    prompt = "((([[[{{{" * _DEEP + '\\"'
    text = json.dumps({"known": [prompt]})
    assert decode_json(text.encode(), _DECODER).known == [prompt]
    assert decode_any(text) == {"known": [prompt]}


def test_a_text_of_the_largest_depth_is_read() -> None:
    inner = MAX_DEPTH - 1
    text = "[" * inner + "[], " * 3 + "[]" + "]" * inner
    assert json.dumps(decode_any(text)) == text
    with pytest.raises(JsonError):
        decode_any(f"[{text}]")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe",
        b'{"known": ["\xc9"]}',
        b"NaN",
        b'{"known": 5}',
        b"1" * 100_000,
        b"1e999999",
    ],
)
def test_a_malformed_text_is_a_json_error(text: bytes) -> None:
    with pytest.raises(JsonError):
        decode_json(text, _DECODER)


@pytest.mark.parametrize("number", ["1" * 301, "-" + "9" * 4300, "1" * 100_000])
def test_integers_that_no_float_holds_are_refused(number: str) -> None:
    with pytest.raises(JsonError):
        decode_any(f"[{number}]")
    assert float(str(decode_any("1" * 300))) < float("inf")


def _depth(text: str) -> int:
    """By a plain reading, a character at a time."""
    deepest = depth = 0
    inside = escaped = False
    for character in text:
        if inside:
            escaped, inside = character == "\\" and not escaped, character != '"' or escaped
        elif character == '"':
            inside = True
        else:
            depth += (character in "[{") - (character in "]}")
            deepest = max(deepest, depth)
    return deepest


_VALUES = st.recursive(
    st.text('[]{}"\\a'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('[{"\\a'), inner),
)


@given(value=_VALUES)
def test_the_bound_is_on_the_depth_itself(value: object) -> None:
    text = json.dumps([value] * (MAX_DEPTH + 1))
    more = MAX_DEPTH - _depth(text)
    assert decode_any("[" * more + text + "]" * more)
    with pytest.raises(JsonError, match="nested too deeply"):
        decode_any("[" * (more + 1) + text + "]" * (more + 1))


@given(text=st.binary() | st.text('[]{},:"\\ntu1-.e').map(str.encode))
def test_any_bytes_are_read_or_a_json_error(text: bytes) -> None:
    for decode in (
        lambda: decode_json(text, _DECODER),
        lambda: decode_any(text.decode("utf-8", "surrogateescape")),
    ):
        with contextlib.suppress(JsonError):
            decode()


def test_a_file_that_is_too_long_or_missing_is_an_oserror(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"{}")
    assert read_json(path, _DECODER, 2) == _Part()
    with pytest.raises(OSError, match="large"):
        read_bounded(path, 1)
    with pytest.raises(OSError):  # noqa: PT011 (which one is the system's to say)
        read_bounded(tmp_path, 100)
    with pytest.raises(FileNotFoundError):
        read_bounded(tmp_path / "b.json", 100)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        read_bounded(path, 100)


def test_bytes_that_are_no_utf8_are_damage_in_a_field_nobody_knows_too() -> None:
    class Known(msgspec.Struct):
        name: str = ""

    decoder = msgspec.json.Decoder(Known)
    assert decode_json(b'{"other":"x","name":"a"}', decoder) == Known("a")
    for damaged in (b'{"\xc5\xd1":"x","name":"a"}', b'{"other":"\xff","name":"a"}'):
        with pytest.raises(JsonError):
            decode_json(damaged, decoder)
