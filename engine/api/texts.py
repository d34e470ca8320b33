"""Encoding of texts with lone surrogates, by which Python represents file names outside UTF-8.

A lone surrogate is a character in Python but has no UTF-8 encoding. JSON can express it by an
ASCII escape. MessagePack cannot: there a sign character, which no other text contains, precedes a
substitute from a private use plane.
"""

import json
import re
from collections.abc import Callable
from typing import Any, cast

import msgspec

# A noncharacter, which Unicode reserves for internal use.
_SIGN = "\U0010fffe"
SIGN_BYTES = _SIGN.encode()
_HALF = re.compile(f"[\ud800-\udfff{_SIGN}]")
_SIGNED = re.compile(f"{_SIGN}(.)", re.DOTALL)
# The distance from a surrogate to its substitute after the sign, in a private use plane.
_SHIFT = 0xF0000 - 0xD800


def encode_json(value: object, enc_hook: Callable[[Any], Any] | None = None) -> bytes:
    """Return a value as JSON: in UTF-8, or in ASCII if a text in it holds a lone surrogate.

    `enc_hook` is msgspec's: it converts objects of unsupported types to supported ones.
    """
    try:
        return msgspec.json.encode(value, enc_hook=enc_hook)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, enc_hook=enc_hook)
        return json.dumps(plain, ensure_ascii=True).encode()


def with_signs(value: object) -> Any:
    """Return plain data with every lone surrogate replaced by the sign and its substitute."""
    return _mapped(value, lambda text: _HALF.sub(_signed, text))


def without_signs(value: object) -> Any:
    """Return plain data with the replacements of `with_signs` undone."""
    return _mapped(value, lambda text: _SIGNED.sub(_plain, text))


def _signed(half: "re.Match[str]") -> str:
    return _SIGN + (half[0] if half[0] == _SIGN else chr(ord(half[0]) + _SHIFT))


def _plain(signed: "re.Match[str]") -> str:
    code = ord(signed[1]) - _SHIFT
    return chr(code) if 0xD800 <= code <= 0xDFFF else signed[1]


def _mapped(value: object, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case dict():
            entries = cast("dict[object, object]", value)
            return {_mapped(k, change): _mapped(v, change) for k, v in entries.items()}
        case list() | tuple():
            return [_mapped(item, change) for item in cast("list[object]", value)]
        case _:
            return value
