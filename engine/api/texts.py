"""Texts that hold halves of characters, as Python reads file names that are not UTF-8.

Such a half (a lone surrogate) is a character to Python and none to UTF-8. JSON can say it by an
escape, which is ASCII; MessagePack cannot, so there a sign stands before it that no text has.
"""

import json
import re
from collections.abc import Callable
from typing import Any, cast

import msgspec

# A noncharacter: Unicode gives it to nobody for exchange.
_SIGN = "\U0010fffe"
SIGN_BYTES = _SIGN.encode()
_HALF = re.compile(f"[\ud800-\udfff{_SIGN}]")
_SIGNED = re.compile(f"{_SIGN}(.)", re.DOTALL)
# Where the halves stand behind the sign: a place for each, in a plane for private use.
_SHIFT = 0xF0000 - 0xD800


def encode_json(value: object, enc_hook: Callable[[Any], Any] | None = None) -> bytes:
    """A value as JSON, in UTF-8; in ASCII if a text in it holds half a character.

    `enc_hook` is msgspec's: it turns objects of other types into some that JSON has.
    """
    try:
        return msgspec.json.encode(value, enc_hook=enc_hook)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, enc_hook=enc_hook)
        return json.dumps(plain, ensure_ascii=True).encode()


def with_signs(value: object) -> Any:
    """Plain data in which every text is one that UTF-8 has."""
    return _mapped(value, lambda text: _HALF.sub(_signed, text))


def without_signs(value: object) -> Any:
    """Plain data as it was before `with_signs`."""
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
            return [_mapped(one, change) for one in cast("list[object]", value)]
        case _:
            return value
